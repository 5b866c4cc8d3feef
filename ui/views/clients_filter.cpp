// SPDX-License-Identifier: Apache-2.0
#include "ui/views/clients_filter.h"

#include <QCoreApplication>
#include <cmath>

#include "engine/observe/protocol_names.h"
#include "ui/filter/make_field.h"
#include "ui/models/client_facts.h"

namespace hw::ui {

namespace {

struct ClientsFilter {
  Q_DECLARE_TR_FUNCTIONS(ClientsFilter)
};

enum class ClientField : int {
  id, software, version, host, from, node, connection, connections, group, requests, in, out, errors, error, api, since, built_in
};

using filter::Datum;
using filter::Type;

class ClientSource final : public filter::Source {
 public:
  explicit ClientSource(const ConnectionFacts& facts) : f_(facts) {}
  [[nodiscard]] Datum get(const filter::FieldRef& ref, std::size_t occurrence) const override {
    const observe::ConnectionView& c = *f_.connection;
    const event::ConnectionCounters* counters = c.counters.get();
    switch (static_cast<ClientField>(ref.field)) {
      case ClientField::id:
        return text(c.client_id);
      case ClientField::software:
        return text(c.software_name);
      case ClientField::version:
        return text(c.software_version);
      case ClientField::host:
        kept_ = peer_host(c.peer).toStdString();
        return text(kept_);
      case ClientField::from:
        return text(c.peer);
      case ClientField::node:
        return Datum::ofNumber(c.node.value());
      case ClientField::connection:
        return Datum::ofNumber(static_cast<std::int64_t>(c.id.value()));
      case ClientField::connections:
        return Datum::ofNumber(f_.siblings);
      case ClientField::group: {
        if (occurrence >= f_.groups.size()) {
          return {};
        }
        Datum found = Datum::ofText(f_.groups[occurrence]);
        found.more = occurrence + 1 < f_.groups.size();
        return found;
      }
      case ClientField::requests:
        return Datum::ofNumber(std::llround(f_.requests));
      case ClientField::in:
        return Datum::ofNumber(std::llround(f_.bytes_in));
      case ClientField::out:
        return Datum::ofNumber(std::llround(f_.bytes_out));
      case ClientField::errors:
        return counters == nullptr ? Datum{} : Datum::ofNumber(failures(*counters));
      case ClientField::error:
        return counters == nullptr ? Datum{} : nth(counters->errors, occurrence, [](const auto& error) {
          const std::int64_t code = error.count.get() > 0 ? error.code.get() : 0;
          return code == 0 ? std::string_view()
                           : observe::error_name(static_cast<std::int16_t>(code == event::ConnectionCounters::kUnknownError ? -1 : code));
        });
      case ClientField::api:
        return counters == nullptr ? Datum{} : nth(counters->apis, occurrence, [](const auto& api) {
          return api.key.get() < 0 ? std::string_view() : observe::api_name(static_cast<std::int16_t>(api.key.get()));
        });
      case ClientField::since:
        return Datum::ofNumber(c.opened_at.ms);
      case ClientField::built_in:
        return Datum::ofBool(f_.built_in);
    }
    return {};
  }

 private:
  // Empty: not said.
  static Datum text(std::string_view words) { return words.empty() ? Datum{} : Datum::ofText(words); }
  // The n-th of those that have a name.
  template <class Slots, class Name>
  static Datum nth(const Slots& all, std::size_t n, Name name) {
    Datum found;
    for (const auto& each : all) {
      const std::string_view words = name(each);
      if (words.empty()) {
        continue;
      }
      if (found.kind != Datum::Kind::missing) {
        found.more = true;
        break;
      }
      if (n-- == 0) {
        found = Datum::ofText(words);
      }
    }
    return found;
  }
  const ConnectionFacts& f_;
  mutable std::string kept_;
};

}  // namespace

const filter::VocabularyPtr& client_vocabulary() {
  static const filter::VocabularyPtr vocabulary = [] {
    using Words = ClientsFilter;
    auto made = std::make_shared<filter::Vocabulary>(
        std::vector<filter::Field>{
            filter::make_field(ClientField::id, "id", Type::text, Words::tr("client.id")),
            filter::make_field(ClientField::software, "software", Type::text, Words::tr("the client library")),
            filter::make_field(ClientField::version, "version", Type::text, Words::tr("of the client library")),
            filter::make_field(ClientField::host, "host", Type::text, Words::tr("the address it comes from")),
            filter::make_field(ClientField::from, "from", Type::text, Words::tr("the address with its port")),
            filter::make_field(ClientField::node, "node", Type::number, Words::tr("the node it is connected to")),
            filter::make_field(ClientField::connection, "connection", Type::number, Words::tr("the connection's number")),
            filter::make_field(ClientField::connections, "connections", Type::number, Words::tr("how many have this id, software and host")),
            filter::make_field(ClientField::group, "group", Type::text, Words::tr("a consumer group it is a member of")),
            filter::make_field(ClientField::requests, "requests", Type::number, Words::tr("requests per second")),
            filter::make_field(ClientField::in, "received", Type::size, Words::tr("bytes per second that it sends to the node")),
            filter::make_field(ClientField::out, "sent", Type::size, Words::tr("bytes per second that it gets from the node")),
            filter::make_field(ClientField::errors, "errors", Type::number, Words::tr("how many answers were errors")),
            filter::make_field(ClientField::error, "error", Type::text, Words::tr("UNKNOWN_TOPIC_OR_PARTITION …")),
            filter::make_field(ClientField::api, "api", Type::text, Words::tr("Produce, Fetch …")),
            filter::make_field(ClientField::since, "since", Type::time, Words::tr("when it connected: since >= -5 min")),
            filter::make_field(ClientField::built_in, "built_in", Type::boolean, Words::tr("a client of this window")),
        },
        std::vector<std::string>{"id", "software", "version", "from", "api", "error", "group"});
    made->setPlainWords(true);
    return made;
  }();
  return vocabulary;
}

bool matches(const filter::Program& program, const ConnectionFacts& facts) { return program.matches(ClientSource(facts)); }

}  // namespace hw::ui
