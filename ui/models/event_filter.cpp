// SPDX-License-Identifier: Apache-2.0
#include "ui/models/event_filter.h"

#include <QCoreApplication>
#include <string>

#include "ui/filter/make_field.h"

namespace hw::ui {

namespace {

struct EventFilter {
  Q_DECLARE_TR_FUNCTIONS(EventFilter)
};

enum class EventField : int { kind, severity, topic, partition, group, node, client, about, text, time };

using filter::Datum;
using filter::Type;

class EventSource final : public filter::Source {
 public:
  EventSource(const EventText& event, std::int32_t node, std::int64_t at_ms) : e_(event), node_(node), at_ms_(at_ms) {}
  [[nodiscard]] Datum get(const filter::FieldRef& ref, std::size_t /*occurrence*/) const override {
    switch (static_cast<EventField>(ref.field)) {
      case EventField::kind:
        return text(e_.kind);
      case EventField::severity:
        return text(severity_word(e_.severity));
      case EventField::topic:
        return text(e_.topic);
      case EventField::partition:
        return e_.partition < 0 ? Datum{} : Datum::ofNumber(e_.partition);
      case EventField::group:
        return text(e_.group);
      case EventField::node:
        return node_ < 0 ? Datum{} : Datum::ofNumber(node_);
      case EventField::client:
        return text(e_.client);
      case EventField::about:
        return text(e_.about.address());
      case EventField::text:
        return text(e_.sentence);
      case EventField::time:
        return Datum::ofNumber(at_ms_);
    }
    return {};
  }

 private:
  // Empty: this kind of event has none.
  [[nodiscard]] Datum text(const QString& words) const {
    if (words.isEmpty()) {
      return {};
    }
    kept_ = words.toStdString();
    return Datum::ofText(kept_);
  }
  const EventText& e_;
  std::int32_t node_;
  std::int64_t at_ms_;
  mutable std::string kept_;
};

}  // namespace

const filter::VocabularyPtr& event_vocabulary() {
  static const filter::VocabularyPtr vocabulary = [] {
    QStringList severities;
    for (const Severity each : kSeverities) {
      severities << severity_word(each);
    }
    auto made = std::make_shared<filter::Vocabulary>(
        std::vector<filter::Field>{
            filter::make_field(EventField::kind, "kind", Type::text, EventFilter::tr("topic.created, group.state …")),
            filter::make_field(EventField::severity, "severity", Type::text, EventFilter::tr("how much it matters"), severities),
            filter::make_field(EventField::topic, "topic", Type::text, EventFilter::tr("the topic it is about")),
            filter::make_field(EventField::partition, "partition", Type::number, EventFilter::tr("the partition it is about")),
            filter::make_field(EventField::group, "group", Type::text, EventFilter::tr("the consumer group it is about")),
            filter::make_field(EventField::node, "node", Type::number, EventFilter::tr("the node that told it")),
            filter::make_field(EventField::client, "client", Type::text, EventFilter::tr("the id of the client it is about")),
            filter::make_field(EventField::about, "about", Type::text, EventFilter::tr("the address of its object: orders/2, group:billing")),
            filter::make_field(EventField::text, "text", Type::text, EventFilter::tr("what is said")),
            filter::make_field(EventField::time, "time", Type::time, EventFilter::tr("when: time >= -5 min")),
        },
        std::vector<std::string>{"text", "kind", "about", "client"});
    made->setPlainWords(true);
    return made;
  }();
  return vocabulary;
}

bool matches(const filter::Program& program, const EventText& event, std::int32_t node, std::int64_t at_ms) {
  return program.matches(EventSource(event, node, at_ms));
}

}  // namespace hw::ui
