// SPDX-License-Identifier: Apache-2.0
#include "ui/views/list_filter.h"

#include <QCoreApplication>
#include <cmath>

#include "ui/filter/make_field.h"

namespace hw::ui {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("ListFilter", text); }
#define T(text) tr(QT_TRANSLATE_NOOP("ListFilter", text))

enum class TopicField : int { name, partitions, rf, records, size, in, out, policy, group, lag, findings, internal };
enum class GroupField : int { name, state, kind, members, lag, lag_offsets, status, topic, client, generation };

using filter::Datum;
using filter::Type;

Datum text_of(std::string_view text, bool more = false) {
  Datum datum = Datum::ofText(text);
  datum.more = more;
  return datum;
}

class TopicSource final : public filter::Source {
 public:
  explicit TopicSource(const TopicFacts& facts) : f_(facts) {}
  [[nodiscard]] Datum get(const filter::FieldRef& ref, std::size_t occurrence) const override {
    switch (static_cast<TopicField>(ref.field)) {
      case TopicField::name:
        return Datum::ofText(f_.topic->name);
      case TopicField::partitions:
        return Datum::ofNumber(static_cast<std::int64_t>(f_.topic->partitions.size()));
      case TopicField::rf:
        return Datum::ofNumber(static_cast<std::int64_t>(f_.factor));
      case TopicField::records:
        return Datum::ofNumber(f_.records);
      case TopicField::size:
        return Datum::ofNumber(f_.bytes);
      case TopicField::in:
        return Datum::ofNumber(std::llround(f_.in));
      case TopicField::out:
        return Datum::ofNumber(std::llround(f_.out));
      case TopicField::policy: {
        const auto own = f_.topic->configs.find("cleanup.policy");
        return Datum::ofText(own == f_.topic->configs.end() ? std::string_view("delete") : std::string_view(own->second));
      }
      case TopicField::group:
        return occurrence < f_.groups.size() ? text_of(f_.groups[occurrence].id, occurrence + 1 < f_.groups.size()) : Datum{};
      case TopicField::lag:
        return f_.worst_lag < 0 ? Datum{} : Datum::ofNumber(f_.worst_lag);
      case TopicField::findings:
        return Datum::ofNumber(f_.findings.size());
      case TopicField::internal:
        return Datum::ofBool(f_.topic->internal);
    }
    return {};
  }

 private:
  const TopicFacts& f_;
};

class GroupSource final : public filter::Source {
 public:
  explicit GroupSource(const GroupFacts& facts) : f_(facts) {}
  [[nodiscard]] Datum get(const filter::FieldRef& ref, std::size_t occurrence) const override {
    const observe::GroupView& g = *f_.group;
    switch (static_cast<GroupField>(ref.field)) {
      case GroupField::name:
        return Datum::ofText(g.id);
      case GroupField::state:
        return Datum::ofText(g.state);
      case GroupField::kind:
        kept_ = group_kind(g).toStdString();
        return Datum::ofText(kept_);
      case GroupField::members:
        return Datum::ofNumber(static_cast<std::int64_t>(g.members.size()));
      case GroupField::lag:
        return f_.lag_known ? Datum::ofNumber(f_.lag_records) : Datum{};
      case GroupField::lag_offsets:
        return f_.lag_known ? Datum::ofNumber(f_.lag_offsets) : Datum{};
      case GroupField::status:
        if (!f_.lag_known) {
          return {};
        }
        kept_ = group_status(f_).word.toStdString();
        return Datum::ofText(kept_);
      case GroupField::topic: {
        // Positions are sorted by topic: each topic once.
        std::size_t seen = 0;
        for (std::size_t i = 0; i < f_.parts.size(); ++i) {
          if (i > 0 && f_.parts[i].topic == f_.parts[i - 1].topic) {
            continue;
          }
          if (seen++ == occurrence) {
            return text_of(f_.parts[i].topic, f_.parts.back().topic != f_.parts[i].topic);
          }
        }
        return {};
      }
      case GroupField::client:
        return occurrence < g.members.size() ? text_of(g.members[occurrence].client_id, occurrence + 1 < g.members.size()) : Datum{};
      case GroupField::generation:
        return Datum::ofNumber(g.generation);
    }
    return {};
  }

 private:
  const GroupFacts& f_;
  mutable std::string kept_;
};

}  // namespace

const filter::VocabularyPtr& topic_vocabulary() {
  static const filter::VocabularyPtr vocabulary = std::make_shared<const filter::Vocabulary>(
      std::vector<filter::Field>{
          filter::make_field(TopicField::name, "name", Type::text, T("the topic's name")),
          filter::make_field(TopicField::partitions, "partitions", Type::number, T("how many it has")),
          filter::make_field(TopicField::rf, "rf", Type::number, T("replicas of each partition")),
          filter::make_field(TopicField::records, "records", Type::number, T("records that are there")),
          filter::make_field(TopicField::size, "size", Type::size, T("bytes of its logs: 10 MiB")),
          filter::make_field(TopicField::in, "in", Type::number, T("records written per second")),
          filter::make_field(TopicField::out, "out", Type::number, T("records read per second")),
          filter::make_field(TopicField::policy, "policy", Type::text, T("cleanup.policy"),
                {QStringLiteral("delete"), QStringLiteral("compact"), QStringLiteral("compact,delete")}),
          filter::make_field(TopicField::group, "group", Type::text, T("a group that reads it (of the three with most lag)")),
          filter::make_field(TopicField::lag, "lag", Type::number, T("records that its slowest group has not read")),
          filter::make_field(TopicField::findings, "findings", Type::number, T("how many things need attention")),
          filter::make_field(TopicField::internal, "internal", Type::boolean, T("Kafka's own topics")),
      },
      std::vector<std::string>{"name"});
  return vocabulary;
}

const filter::VocabularyPtr& group_vocabulary() {
  static const filter::VocabularyPtr vocabulary = std::make_shared<const filter::Vocabulary>(
      std::vector<filter::Field>{
          filter::make_field(GroupField::name, "name", Type::text, T("the group's id")),
          filter::make_field(GroupField::state, "state", Type::text, T("Stable, Empty, …"),
                {QStringLiteral("Stable"), QStringLiteral("Empty"), QStringLiteral("PreparingRebalance"),
                 QStringLiteral("CompletingRebalance"), QStringLiteral("Assigning"), QStringLiteral("Reconciling"),
                 QStringLiteral("Dead")}),
          filter::make_field(GroupField::kind, "kind", Type::text, T("classic, consumer, or the client's own protocol")),
          filter::make_field(GroupField::members, "members", Type::number, T("how many are there")),
          filter::make_field(GroupField::lag, "lag", Type::number, T("records it has not read")),
          filter::make_field(GroupField::lag_offsets, "lag_offsets", Type::number, T("the same in offsets")),
          filter::make_field(GroupField::status, "status", Type::text, T("what its lag says"),
                {status_word(LagStatus::ok), status_word(LagStatus::slow), status_word(LagStatus::stalled),
                 status_word(LagStatus::stopped), status_word(LagStatus::rewound), status_word(LagStatus::measuring)}),
          filter::make_field(GroupField::topic, "topic", Type::text, T("a topic it has a position in")),
          filter::make_field(GroupField::client, "client", Type::text, T("the client id of a member")),
          filter::make_field(GroupField::generation, "generation", Type::number, T("rises with every rebalance; of a consumer group its epoch")),
      },
      std::vector<std::string>{"name"});
  return vocabulary;
}
#undef T

bool matches(const filter::Program& program, const TopicFacts& facts) { return program.matches(TopicSource(facts)); }

bool matches(const filter::Program& program, const GroupFacts& facts) { return program.matches(GroupSource(facts)); }

}  // namespace hw::ui
