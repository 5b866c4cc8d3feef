// SPDX-License-Identifier: Apache-2.0
#include "ui/session/selection.h"

#include <QLocale>
#include <limits>

namespace hw::ui {

namespace {

// Digits only, so that "+3", " 3" and "-0" are no addresses.
template <class T>
std::optional<T> parse_number(QStringView text) {
  if (text.isEmpty() || text.size() > 20) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (const QChar c : text) {
    if (c < u'0' || c > u'9') {
      return std::nullopt;
    }
    const auto digit = static_cast<std::uint64_t>(c.unicode() - u'0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) {
      return std::nullopt;
    }
    value = value * 10 + digit;
  }
  if (value > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {
    return std::nullopt;
  }
  return static_cast<T>(value);
}

bool is_topic_name(QStringView text) {
  if (text.isEmpty() || text.size() > 249 || text == u"." || text == u"..") {
    return false;
  }
  for (const QChar c : text) {
    const bool ok = (c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z') || (c >= u'0' && c <= u'9') ||
                    c == u'.' || c == u'_' || c == u'-';
    if (!ok) {
      return false;
    }
  }
  return true;
}

}  // namespace

Selection Selection::ofCluster() {
  Selection s;
  s.kind = Kind::cluster;
  return s;
}

Selection Selection::ofNode(std::int32_t node) {
  Selection s;
  s.kind = Kind::node;
  s.node = node;
  return s;
}

Selection Selection::ofTopic(const QString& topic) {
  Selection s;
  s.kind = Kind::topic;
  s.topic = topic;
  return s;
}

Selection Selection::ofPartition(const QString& topic, std::int32_t partition) {
  Selection s;
  s.kind = Kind::partition;
  s.topic = topic;
  s.partition = partition;
  return s;
}

Selection Selection::ofRange(const QString& topic, std::int32_t partition, std::int64_t first, std::int64_t last) {
  Selection s = ofPartition(topic, partition);
  s.kind = Kind::offset_range;
  s.offset = first;
  s.last_offset = last;
  return s;
}

Selection Selection::ofRecord(const QString& topic, std::int32_t partition, std::int64_t offset) {
  Selection s = ofPartition(topic, partition);
  s.kind = Kind::record;
  s.offset = offset;
  return s;
}

Selection Selection::ofGroup(const QString& group) {
  Selection s;
  s.kind = Kind::group;
  s.group = group;
  return s;
}

Selection Selection::ofMember(const QString& group, const QString& member) {
  Selection s = ofGroup(group);
  s.kind = Kind::member;
  s.member = member;
  return s;
}

Selection Selection::ofConnection(std::uint64_t connection) {
  Selection s;
  s.kind = Kind::connection;
  s.connection = connection;
  return s;
}

QString Selection::address() const {
  switch (kind) {
    case Kind::none:
      return {};
    case Kind::cluster:
      return QStringLiteral("cluster:");
    case Kind::node:
      return QStringLiteral("node:%1").arg(node);
    case Kind::topic:
      return topic;
    case Kind::partition:
      return topic + QLatin1Char('/') + QString::number(partition);
    case Kind::offset_range:
      return topic + QLatin1Char('/') + QString::number(partition) + QLatin1Char('@') + QString::number(offset) +
             QLatin1String("..") + QString::number(last_offset);
    case Kind::record:
      return topic + QLatin1Char('/') + QString::number(partition) + QLatin1Char('@') + QString::number(offset);
    case Kind::group:
      return QLatin1String("group:") + group;
    case Kind::member:
      return QLatin1String("group:") + group + QLatin1String("/m:") + member;
    case Kind::connection:
      return QLatin1String("wire:conn") + QString::number(connection);
  }
  return {};
}

std::optional<Selection> Selection::parse(const QString& text) {
  const QString t = text.trimmed();
  const QStringView v(t);
  if (v == u"cluster:") {
    return ofCluster();
  }
  if (v.startsWith(u"node:")) {
    const auto id = parse_number<std::int32_t>(v.mid(5));
    return id ? std::optional(ofNode(*id)) : std::nullopt;
  }
  if (v.startsWith(u"wire:conn")) {
    const auto id = parse_number<std::uint64_t>(v.mid(9));
    return id ? std::optional(ofConnection(*id)) : std::nullopt;
  }
  if (v.startsWith(u"group:")) {
    // A group may have any name, so the last "/m:" is the separator: member ids never contain it.
    const QStringView rest = v.mid(6);
    const qsizetype at = rest.lastIndexOf(u"/m:");
    if (at >= 0) {
      const QStringView member = rest.mid(at + 3);
      return at == 0 || member.isEmpty() ? std::nullopt
                                         : std::optional(ofMember(rest.left(at).toString(), member.toString()));
    }
    return rest.isEmpty() ? std::nullopt : std::optional(ofGroup(rest.toString()));
  }
  const qsizetype slash = v.indexOf(u'/');
  const QStringView name = slash < 0 ? v : v.left(slash);
  if (!is_topic_name(name)) {
    return std::nullopt;
  }
  if (slash < 0) {
    return ofTopic(name.toString());
  }
  const QStringView rest = v.mid(slash + 1);
  const qsizetype at = rest.indexOf(u'@');
  const auto partition = parse_number<std::int32_t>(at < 0 ? rest : rest.left(at));
  if (!partition) {
    return std::nullopt;
  }
  if (at < 0) {
    return ofPartition(name.toString(), *partition);
  }
  const QStringView offsets = rest.mid(at + 1);
  const qsizetype dots = offsets.indexOf(u"..");
  const auto first = parse_number<std::int64_t>(dots < 0 ? offsets : offsets.left(dots));
  if (!first) {
    return std::nullopt;
  }
  if (dots < 0) {
    return ofRecord(name.toString(), *partition, *first);
  }
  const auto last = parse_number<std::int64_t>(offsets.mid(dots + 2));
  if (!last || *last < *first) {
    return std::nullopt;
  }
  return ofRange(name.toString(), *partition, *first, *last);
}

}  // namespace hw::ui
