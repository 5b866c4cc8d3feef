// SPDX-License-Identifier: Apache-2.0
// Selection: the one object that the whole window talks about, and its address.
//
// Addresses are plain text that a person can copy, type into the omnibox and read in a log:
//   cluster:                    the cluster
//   node:1                      a broker or controller
//   demo.orders                 a topic
//   demo.orders/2               a partition
//   demo.orders/2@1042          a record
//   demo.orders/2@1036..1038    offsets, both ends included
//   group:billing               a consumer group
//   group:billing/m:ID          one of its members
//   wire:conn17                 a connection
// Topic names cannot contain ':', '/' or '@', so every address reads back in one way only.
#pragma once

#include <QMetaType>
#include <QString>
#include <cstdint>
#include <optional>

namespace hw::ui {

struct Selection {
  enum class Kind : std::uint8_t {
    none,
    cluster,
    node,
    topic,
    partition,
    offset_range,
    record,
    group,
    member,
    connection,
  };
  Kind kind = Kind::none;
  std::int32_t node = -1;
  QString topic;
  std::int32_t partition = -1;
  std::int64_t offset = -1;       // of a record, or the first of a range
  std::int64_t last_offset = -1;  // of a range, included
  QString group;
  QString member;
  std::uint64_t connection = 0;

  static Selection ofCluster();
  static Selection ofNode(std::int32_t node);
  static Selection ofTopic(const QString& topic);
  static Selection ofPartition(const QString& topic, std::int32_t partition);
  static Selection ofRange(const QString& topic, std::int32_t partition, std::int64_t first, std::int64_t last);
  static Selection ofRecord(const QString& topic, std::int32_t partition, std::int64_t offset);
  static Selection ofGroup(const QString& group);
  static Selection ofMember(const QString& group, const QString& member);
  static Selection ofConnection(std::uint64_t connection);

  [[nodiscard]] bool none() const { return kind == Kind::none; }
  // True for a partition and for everything inside one.
  [[nodiscard]] bool inPartition() const {
    return kind == Kind::partition || kind == Kind::offset_range || kind == Kind::record;
  }
  [[nodiscard]] QString address() const;  // empty for none
  // nullopt where the text is no address. Whether the object exists is another question.
  [[nodiscard]] static std::optional<Selection> parse(const QString& text);

  friend bool operator==(const Selection&, const Selection&) = default;
};

}  // namespace hw::ui

Q_DECLARE_METATYPE(hw::ui::Selection)
