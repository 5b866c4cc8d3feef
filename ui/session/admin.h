// SPDX-License-Identifier: Apache-2.0
// What the window asks about configurations, logs and groups, and what it changes there: plain values for Session.
//
// Errors are translated or the broker's own words, and empty where all is well; a row that was refused has its own.
// Offsets are Kafka's: of the next record to read. Names and numbers follow Kafka's Admin client.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hw::ui {

struct PartitionName {
  std::string topic;
  std::int32_t partition = 0;
  friend auto operator<=>(const PartitionName&, const PartitionName&) = default;
};

// --- configurations
struct ConfigResource {
  enum class Kind : std::uint8_t { topic, broker, group } kind = Kind::topic;
  std::string name;  // a broker's is its id; empty: the default of all brokers
  friend bool operator==(const ConfigResource&, const ConfigResource&) = default;
};
// Where a value comes from; Kafka's numbers.
enum class ConfigSource : std::int8_t {
  unknown = 0,
  topic = 1,
  broker = 2,
  all_brokers = 3,
  start_file = 4,
  defaults = 5,
  logger = 6,
  client_metrics = 7,
  group = 8,
};
// Kafka's numbers.
enum class ConfigType : std::int8_t {
  unknown = 0,
  boolean = 1,
  text = 2,
  int32 = 3,
  int16 = 4,
  int64 = 5,
  decimal = 6,
  list = 7,
  class_name = 8,
  password = 9,
};
struct ConfigRow {
  struct Synonym {
    std::string name;
    std::optional<std::string> value;
    ConfigSource source = ConfigSource::unknown;
  };
  std::string name;
  std::optional<std::string> value;  // nullopt: null, or sensitive
  ConfigSource source = ConfigSource::unknown;
  ConfigType type = ConfigType::unknown;
  bool read_only = false;
  bool sensitive = false;
  std::vector<Synonym> synonyms;  // the strongest first; the first is what counts
};
struct ConfigAnswer {
  QString error;
  std::vector<ConfigRow> rows;
};
struct ConfigChange {
  std::string name;
  std::optional<std::string> value;  // nullopt: take the own value away, so that the next source counts
  friend bool operator==(const ConfigChange&, const ConfigChange&) = default;
};

// --- offsets
struct PartitionOffset {
  PartitionName partition;
  std::int64_t offset = -1;
};
struct PartitionResult {
  PartitionName partition;
  std::int64_t offset = -1;     // what was found, or is now; -1: none
  std::int64_t timestamp_ms = -1;
  QString error;
};
struct OffsetsAnswer {
  QString error;
  std::vector<PartitionResult> rows;
};
inline constexpr std::int64_t kOffsetLatest = -1;    // as a timestamp: the next offset to be written
inline constexpr std::int64_t kOffsetEarliest = -2;  // the first offset that is there

// --- what lies in the logs of a topic
struct SegmentRow {
  std::int64_t base_offset = 0;
  std::int64_t size_bytes = 0;
  std::int64_t largest_timestamp_ms = -1;  // -1: no record has one
};
struct PartitionSegments {
  std::int32_t partition = 0;
  std::int64_t log_start_offset = 0;
  std::int64_t high_watermark = 0;
  std::int64_t log_end_offset = 0;
  std::vector<SegmentRow> segments;  // ascending; the last is the active one
};
struct SegmentsAnswer {
  QString error;
  std::vector<PartitionSegments> partitions;
};
// Counted from the batches themselves: what a reader gets, not what the offsets would suggest.
struct RecordCount {
  QString error;
  std::int64_t records = 0;
  std::int64_t control = 0;   // transaction markers; nobody reads them
  std::int64_t batches = 0;
  std::int64_t offsets = 0;   // log end minus log start, summed
  bool whole = true;          // false: more than `bytes_max` lies there, and counting stopped
};

// --- trials
enum class Trial : std::uint8_t { produce, consume, commit, create_topic, elect_leaders };
struct TrialAnswer {
  QString error;
  QString did;           // "wrote orders/2@1042"
  std::int64_t ms = 0;   // how long it took
};

// --- built-in consumers
struct ConsumerCommand {
  enum class Commit : std::uint8_t { automatic, after_work, before_work, never };
  std::string group;
  std::vector<std::string> topics;
  std::string client_id;            // empty: made up
  enum class Protocol : std::uint8_t { classic, consumer };  // consumer: the coordinator assigns (KIP-848)
  Protocol protocol = Protocol::classic;
  std::string assignor = "range";  // a name of consumerAssignors(protocol)
  Commit commit = Commit::automatic;
  std::int32_t commit_interval_ms = 1'000;  // automatic
  std::int32_t work_ms = 0;         // time spent on each record; 0: as fast as it can
  std::int64_t crash_after = 0;     // stops without a word after so many records; 0: never
  bool from_earliest = true;        // where a group without an offset begins
};
struct BuiltInConsumer {
  std::uint64_t id = 0;
  ConsumerCommand options;
  std::int64_t records = 0;         // handled so far
  bool crashed = false;
  QString problem;                  // the last error, in words; empty: none
};

}  // namespace hw::ui
