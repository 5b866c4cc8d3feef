// SPDX-License-Identifier: Apache-2.0
// SessionAdmin: what an operator asks a cluster and changes in it beyond looking: configurations, logs, offsets of groups,
// and built-in consumers. A session that can do this is one; of() finds it.
//
// Answers come later, on the UI thread, as with Session. Thread rule: UI thread only.
#pragma once

#include <QObject>
#include <QStringList>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ui/session/admin.h"

namespace hw::ui {

class SessionAdmin {
 public:
  virtual ~SessionAdmin() = default;
  // Of a Session; never null: where it cannot be administered (a recording), everything is refused in words.
  [[nodiscard]] static SessionAdmin& of(QObject* session);

  // --- configurations, logs and groups
  virtual void describeConfigs(const ConfigResource& resource, std::function<void(ConfigAnswer)> done) = 0;
  // All or nothing. `validate_only`: the broker says what it would say, and changes nothing.
  virtual void alterConfigs(const ConfigResource& resource, const std::vector<ConfigChange>& changes, bool validate_only,
                            std::function<void(QString error)> done) = 0;
  // What lies in the logs of a topic's partitions, segment by segment.
  virtual void segments(const std::string& topic, std::function<void(SegmentsAnswer)> done) = 0;
  // Counts the records of a topic, batch by batch, in the background; stops after `bytes_max` of log.
  virtual void countRecords(const std::string& topic, std::int64_t bytes_max, std::function<void(RecordCount)> done) = 0;
  // Records below the offset become unreadable, for good; offset -1: all that there are.
  virtual void deleteRecords(const std::vector<PartitionOffset>& before, std::function<void(OffsetsAnswer)> done) = 0;
  // `timestamp_ms`: kOffsetEarliest, kOffsetLatest, or the first record at or after that time.
  virtual void findOffsets(const std::vector<PartitionName>& partitions, std::int64_t timestamp_ms,
                           std::function<void(OffsetsAnswer)> done) = 0;
  // Refused while the group has members.
  virtual void commitGroupOffsets(const std::string& group, const std::vector<PartitionOffset>& offsets,
                                  std::function<void(OffsetsAnswer)> done) = 0;
  // Refused where a member still reads the topic.
  virtual void deleteGroupOffsets(const std::string& group, const std::vector<PartitionName>& partitions,
                                  std::function<void(OffsetsAnswer)> done) = 0;
  virtual void deleteGroup(const std::string& group, std::function<void(QString error)> done) = 0;

  // --- the quorum of the metadata log
  // Lets an observer vote, or takes a voter out (KIP-853). `done` comes when a majority has committed it. By default: not
  // possible here.
  virtual void changeVoter(std::int32_t node, bool voter, std::function<void(QString error)> done);

  // --- what works at this moment
  // Tries it as a client would, over a connection, and takes away what it made (a record that was produced stays). Answers within
  // some seconds. By default: not possible here.
  virtual void tryOut(Trial trial, std::function<void(TrialAnswer)> done);

  // --- built-in consumers: members of ordinary groups, over a real connection
  [[nodiscard]] virtual QStringList consumerAssignors(ConsumerCommand::Protocol protocol) const = 0;
  virtual void addConsumer(const ConsumerCommand& command, std::function<void(QString error)> done) = 0;
  // The newest one of the group leaves it. False: the group has no built-in consumer (and none of the demo's).
  virtual bool removeConsumer(const std::string& group) = 0;
  // One leaves and comes back, so that the group rebalances. False as above.
  virtual bool rejoinConsumer(const std::string& group) = 0;
  [[nodiscard]] virtual std::vector<BuiltInConsumer> consumers() const = 0;
};

}  // namespace hw::ui
