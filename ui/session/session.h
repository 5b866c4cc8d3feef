// SPDX-License-Identifier: Apache-2.0
// Session: the only thing the window knows about the cluster it shows, whether live, simulated or recorded.
//
// State arrives by push: frameReady() at most every 16 ms and only after a change. Everything asked for answers later,
// on the UI thread; nothing here blocks.
// Thread rule: UI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/observe/cluster_view.h"
#include "ui/session/listener_check.h"

namespace hw::ui {

// One record, as a consumer would get it. A missing key or value is null, which is not the same as empty.
struct RecordRow {
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::int64_t timestamp_ms = -1;
  bool log_append_time = false;
  std::optional<Bytes> key;
  std::optional<Bytes> value;
  std::vector<std::pair<std::string, std::optional<Bytes>>> headers;
  bool control = false;
  // Of its batch:
  std::int64_t batch_base_offset = 0;
  std::int32_t batch_records = 0;
  std::int32_t batch_size_bytes = 0;
  std::int32_t leader_epoch = -1;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  std::int32_t base_sequence = -1;
  std::uint32_t crc = 0;
  std::string compression;  // none, gzip, snappy, lz4, zstd
  bool transactional = false;
  // Bytes of the whole value; `value` is only its head where this is more than value->size(). -1: null.
  std::int64_t value_size = -1;
  [[nodiscard]] bool valueCut() const { return value && value_size > static_cast<std::int64_t>(value->size()); }
};

// What a row keeps in memory, about.
[[nodiscard]] inline std::int64_t row_bytes(const RecordRow& row) {
  std::size_t bytes = sizeof(RecordRow) + (row.key ? row.key->size() : 0) + (row.value ? row.value->size() : 0);
  for (const auto& [name, value] : row.headers) {
    bytes += 64 + name.size() + (value ? value->size() : 0);
  }
  return static_cast<std::int64_t>(bytes);
}

// What of a log is read: what a read_committed consumer gets, what a read_uncommitted one gets, or with control batches.
enum class Isolation : std::uint8_t { committed, all, raw };

// The log of the metadata, which every node has; no client can read it, this window can.
inline constexpr const char* kMetadataLog = "__cluster_metadata";

struct ReadQuery {
  std::string topic;
  std::int32_t partition = 0;
  std::int64_t from_offset = 0;       // the first record returned has at least this offset
  std::int64_t to_offset = INT64_MAX; // exclusive
  std::int32_t max_records = 200;
  std::int32_t max_bytes = 1 << 20;
  Isolation isolation = Isolation::raw;
  std::int64_t value_head = 0;        // > 0: longer values are cut to a copy of so many bytes
};
struct ReadAnswer {
  QString error;  // empty: fine. Translated already.
  std::vector<RecordRow> rows;
  std::int64_t next_offset = 0;       // where to go on
  std::int64_t log_start_offset = 0;
  std::int64_t high_watermark = 0;
};

struct ProduceCommand {
  std::string topic;
  std::optional<std::int32_t> partition;  // nullopt: by key, or spread when the key is null
  std::optional<Bytes> key;
  std::optional<Bytes> value;
  std::vector<std::pair<std::string, std::optional<Bytes>>> headers;
};
struct ProduceAnswer {
  QString error;
  std::int32_t partition = -1;
  std::int64_t offset = -1;
};

struct CreateTopicCommand {
  std::string name;
  std::int32_t partitions = 3;
  std::int16_t replication_factor = 1;
  std::vector<std::pair<std::string, std::string>> configs;
};

struct StorageInfo {
  bool in_memory = true;
  QString directory;
};

// Why a cluster does not serve, for people, translated.
struct SessionTrouble {
  QString what;    // "The cluster did not start"
  QString why;
  QString advice;  // what to do about it
  bool can_retry = false;
};

class BatchReader;

class Session : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  ~Session() override = default;

  // The newest view; never null (an empty cluster at first).
  [[nodiscard]] virtual observe::ViewPtr view() const = 0;
  [[nodiscard]] virtual QString clusterName() const = 0;         // "demo", or the folder's name
  [[nodiscard]] virtual QString bootstrap() const = 0;           // "localhost:9092"
  // The same with every broker, commas between them: who starts with it finds the cluster while some are down.
  [[nodiscard]] virtual QString bootstrapList() const { return bootstrap(); }
  [[nodiscard]] virtual StorageInfo storage() const = 0;
  // Records that clients other than our built-in ones have produced.
  [[nodiscard]] virtual std::int64_t foreignRecords() const = 0;

  // Set while the cluster cannot be worked with; troubleChanged() tells.
  [[nodiscard]] virtual std::optional<SessionTrouble> trouble() const { return std::nullopt; }
  // Tries again what failed, where can_retry says that it may help.
  virtual void retry() {}

  virtual void read(const ReadQuery& query, std::function<void(ReadAnswer)> done) = 0;
  // Batches as they are stored, for scans, the volume over time and the bytes pane (batch_reader.h); null: not available.
  [[nodiscard]] virtual std::shared_ptr<BatchReader> batches() { return nullptr; }
  virtual void produce(const ProduceCommand& command, std::function<void(ProduceAnswer)> done) = 0;
  virtual void createTopic(const CreateTopicCommand& command, std::function<void(QString error)> done) = 0;
  virtual void deleteTopic(const std::string& name, std::function<void(QString error)> done) = 0;
  virtual void addPartitions(const std::string& name, std::int32_t total, std::function<void(QString error)> done) = 0;

  // Ends one client's connection; the client is free to come back. By default: not possible here.
  virtual void closeConnection(std::uint64_t connection, std::function<void(QString error)> done);
  // Where the cluster listens and what clients are told; empty where that is not known (a recording).
  [[nodiscard]] virtual std::vector<ListenerInfo> listeners() const { return {}; }
  [[nodiscard]] virtual std::vector<MachineAddress> machineAddresses() const { return {}; }
  // Resolves, connects, and asks for the brokers, as a client on this machine would; some seconds at most.
  virtual void checkListener(const QString& host, std::uint16_t port, std::function<void(ListenerCheck)> done);
  // True for a client that this window made itself (demo traffic, produce panel).
  [[nodiscard]] virtual bool builtIn(const observe::ConnectionView& connection) const;

  // Demo traffic: a built-in producer (records per second) and a group of two built-in consumers.
  virtual void setDemoTraffic(bool on) = 0;
  [[nodiscard]] virtual bool demoTraffic() const = 0;
  // A paced load for `--load`: records per second over all partitions of demo.orders; 0 stops it.
  virtual void setLoad(int records_per_second) = 0;
  // Copies a cluster that lives in memory to `directory` and goes on there ("Keep this cluster").
  virtual void keep(const QString& directory, std::function<void(QString error)> done) = 0;

 signals:
  // A new view, or counters moved. `view()` is current when this arrives.
  void frameReady();
  void failed(const QString& what);
  void troubleChanged();
};

}  // namespace hw::ui
