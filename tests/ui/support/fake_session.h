// SPDX-License-Identifier: Apache-2.0
// FakeSession: a Session without an engine. It builds ClusterViews by hand and moves their counters when told to.
//
// Deterministic: nothing happens until tick(), produce() or another command; startClock() calls tick() from a timer for
// looking at the window. Answers of read(), produce() … arrive from the event loop, as those of a real session do.
#pragma once

#include <QTimer>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "ui/session/batch_reader.h"
#include "ui/session/session.h"
#include "ui/session/session_admin.h"

namespace hw::ui {

class FakeSession : public Session, public SessionAdmin {
  Q_OBJECT

 public:
  struct Options {
    int nodes = 1;
    bool demo = true;          // topics, producer and group of the demo
    bool external = false;     // a foreign client that writes to demo.orders
    int more_topics = 0;       // fills the cluster up: topics of 10 partitions each
    int more_groups = 0;       // groups of two members that read one of them each
    std::int64_t start_ms = 1'764'417'810'000;  // wall time of the first tick
  };
  explicit FakeSession(const Options& options, QObject* parent = nullptr);
  FakeSession() : FakeSession(Options{}) {}
  ~FakeSession() override;

  // Lets `ms` of cluster time pass: records arrive, groups commit, a view is published, frameReady() is sent.
  void tick(int ms);
  void startClock(int interval_ms = 33);
  void stopClock() { clock_.stop(); }
  // A frame without any difference (what a careless engine might send).
  void sendEmptyFrame();
  void stopNode(std::int32_t node, const std::string& why = {});  // `why` not empty: it ends by itself
  void setForeignRecords(std::int64_t records) { foreign_records_ = records; }
  // The next createTopic, deleteTopic, produce or read answers with this error.
  void failNext(const QString& error) { next_error_ = error; }

  // Reads are answered when this ends, as those of a paused leader.
  void holdReads(bool hold);
  void setTrouble(const std::optional<SessionTrouble>& trouble) {
    trouble_ = trouble;
    Q_EMIT troubleChanged();
  }
  [[nodiscard]] std::optional<SessionTrouble> trouble() const override { return trouble_; }
  void retry() override {
    ++retries_;
    setTrouble(std::nullopt);
  }
  [[nodiscard]] int retries() const { return retries_; }

  // Where the metadata log ends; from then on it tells of records.
  void setMetadataEnd(std::int64_t offset);
  void setStorage(const StorageInfo& storage) { storage_ = storage; }
  void setListener(const ListenerInfo& listener) { listener_ = listener; }
  void setMachine(const std::vector<MachineAddress>& machine) { machine_ = machine; }
  // What checkListener() answers for "host:port"; others are refused.
  void setCheck(const QString& host_port, const ListenerCheck& check) { checks_[host_port] = check; }
  // One more client; its connection asks for APIs and gets errors as told.
  std::shared_ptr<event::ConnectionCounters> connectClient(std::uint64_t id, const std::string& client, const std::string& software,
                                                           const std::string& version);
  [[nodiscard]] const std::vector<std::uint64_t>& closed() const { return closed_; }
  [[nodiscard]] std::int64_t records(const std::string& topic, std::int32_t partition) const;

  [[nodiscard]] observe::ViewPtr view() const override { return view_; }
  [[nodiscard]] QString clusterName() const override { return QStringLiteral("demo"); }
  [[nodiscard]] QString bootstrap() const override { return QStringLiteral("localhost:9092"); }
  [[nodiscard]] StorageInfo storage() const override { return storage_; }
  [[nodiscard]] std::int64_t foreignRecords() const override { return foreign_records_; }
  void read(const ReadQuery& query, std::function<void(ReadAnswer)> done) override;
  [[nodiscard]] std::shared_ptr<BatchReader> batches() override;
  // What an attached cluster is like: no batches to be had.
  void setBatchesAvailable(bool available) { batches_available_ = available; }
  // Each row as a batch of its own, from `from` on. For batches().
  [[nodiscard]] BatchAnswer storedBatches(const BatchQuery& query) const;
  // Appends a record as if a client had sent it.
  std::int64_t appendRecord(const std::string& topic, std::int32_t partition, RecordRow row);
  void produce(const ProduceCommand& command, std::function<void(ProduceAnswer)> done) override;
  void createTopic(const CreateTopicCommand& command, std::function<void(QString error)> done) override;
  void deleteTopic(const std::string& name, std::function<void(QString error)> done) override;
  void addPartitions(const std::string& name, std::int32_t total, std::function<void(QString error)> done) override;
  void closeConnection(std::uint64_t connection, std::function<void(QString error)> done) override;
  [[nodiscard]] std::vector<ListenerInfo> listeners() const override { return {listener_}; }
  [[nodiscard]] std::vector<MachineAddress> machineAddresses() const override { return machine_; }
  void checkListener(const QString& host, std::uint16_t port, std::function<void(ListenerCheck)> done) override;
  void describeConfigs(const ConfigResource& resource, std::function<void(ConfigAnswer)> done) override;
  void alterConfigs(const ConfigResource& resource, const std::vector<ConfigChange>& changes, bool validate_only,
                    std::function<void(QString error)> done) override;
  void segments(const std::string& topic, std::function<void(SegmentsAnswer)> done) override;
  void countRecords(const std::string& topic, std::int64_t bytes_max, std::function<void(RecordCount)> done) override;
  void deleteRecords(const std::vector<PartitionOffset>& before, std::function<void(OffsetsAnswer)> done) override;
  void findOffsets(const std::vector<PartitionName>& partitions, std::int64_t timestamp_ms,
                   std::function<void(OffsetsAnswer)> done) override;
  void commitGroupOffsets(const std::string& group, const std::vector<PartitionOffset>& offsets,
                          std::function<void(OffsetsAnswer)> done) override;
  void deleteGroupOffsets(const std::string& group, const std::vector<PartitionName>& partitions,
                          std::function<void(OffsetsAnswer)> done) override;
  void deleteGroup(const std::string& group, std::function<void(QString error)> done) override;
  [[nodiscard]] QStringList consumerAssignors(ConsumerCommand::Protocol protocol) const override;
  void addConsumer(const ConsumerCommand& command, std::function<void(QString error)> done) override;
  bool removeConsumer(const std::string& group) override;
  void tryOut(Trial trial, std::function<void(TrialAnswer)> done) override;
  bool rejoinConsumer(const std::string& group) override;
  [[nodiscard]] std::vector<BuiltInConsumer> consumers() const override { return consumers_; }
  // A group as its coordinator would tell of it; members share the partitions of `topic` by range.
  void setGroup(const std::string& id, const std::string& topic, int members, const std::string& state = "Stable");
  // "connect", "" (it only keeps offsets) …; a group is "consumer" otherwise.
  void setProtocolType(const std::string& group, const std::string& type);
  // Where a group stands; the partition needs no member.
  void setCommitted(const std::string& group, const std::string& topic, std::int32_t partition, std::int64_t offset);
  void produceMany(const std::string& topic, std::int32_t partition, int records, const std::string& key = {});
  [[nodiscard]] std::int64_t nowMs() const { return now_ms_; }
  // Commands that changed something, in order: "alter demo.orders retention.ms=1", "reset billing orders/0=4" …
  [[nodiscard]] const QStringList& journal() const { return journal_; }
  void setDemoTraffic(bool on) override;
  [[nodiscard]] bool demoTraffic() const override { return traffic_; }
  void setLoad(int records_per_second) override { load_ = records_per_second; }
  void keep(const QString& directory, std::function<void(QString error)> done) override;

 private:
  struct Partition {
    std::vector<std::shared_ptr<event::ReplicaCounters>> replicas;  // in assignment order
    std::vector<BrokerId> assignment;
    std::deque<RecordRow> rows;      // the newest kRowsKept
    std::int64_t end = 0;
    std::shared_ptr<event::CommittedCounters> committed;
    std::vector<Offset> segments{Offset(0)};
  };
  struct Topic {
    Uuid id;
    bool internal = false;
    std::vector<Partition> partitions;
    std::map<std::string, std::string, std::less<>> configs;
  };
  struct Group {
    std::shared_ptr<const observe::GroupView> view;  // replaced at every change
    std::map<PartitionName, std::shared_ptr<event::CommittedCounters>> committed;
    std::vector<std::string> topics;
  };
  static constexpr std::size_t kRowsKept = 5'000;

  void addDemoGroup(ConnectionId first, ConnectionId second);
  void rebalance(const std::string& id, int members, const std::string& why);
  void publishGroup(const std::string& id, const std::function<void(observe::GroupView&)>& change);
  [[nodiscard]] std::shared_ptr<event::CommittedCounters> committedOf(const std::string& group, const PartitionName& at);

  void addTopic(const std::string& name, int partitions, std::map<std::string, std::string, std::less<>> configs,
                bool internal = false);
  std::int64_t append(const std::string& topic, std::int32_t partition, RecordRow row, ConnectionId connection);
  void remember(BrokerId node, event::Any event);
  void publish();
  class Batches;
  [[nodiscard]] std::shared_ptr<const observe::QuorumView> quorumView() const;
  [[nodiscard]] std::shared_ptr<const observe::TopicView> topicView(const std::string& name, const Topic& topic) const;
  [[nodiscard]] QString takeError();
  void answer(std::function<void()> call);

  Options options_;
  QTimer clock_;
  observe::ViewPtr view_;
  std::map<std::string, Topic> topics_;
  using OtherConfig = std::tuple<int, std::string, std::string>;  // kind, name, key: of brokers and groups
  std::map<OtherConfig, std::string> other_configs_;
  std::map<std::string, Group> groups_;
  bool groups_changed_ = true;
  bool quorum_changed_ = false;
  std::vector<BuiltInConsumer> consumers_;
  QStringList journal_;
  std::map<BrokerId, std::shared_ptr<observe::NodeView>> nodes_;
  std::map<BrokerId, std::shared_ptr<event::NodeCounters>> node_counters_;
  std::vector<std::shared_ptr<const observe::ConnectionView>> connections_;
  std::vector<std::shared_ptr<event::ConnectionCounters>> connection_counters_;
  std::vector<observe::RecentEvent> recent_;
  std::vector<event::Stamped> batches_;
  std::vector<event::Stamped> fetches_;
  std::uint64_t event_number_ = 0;
  std::uint64_t version_ = 0;
  std::int64_t now_ms_;
  std::int64_t elapsed_ms_ = 0;
  double owed_ = 0.0;
  double owed_load_ = 0.0;
  std::int64_t produced_ = 0;
  bool traffic_ = true;
  int load_ = 0;
  std::int64_t foreign_records_ = 0;
  StorageInfo storage_;
  ListenerInfo listener_{QStringLiteral("127.0.0.1"), 9092, QStringLiteral("localhost"), 9092};
  std::vector<MachineAddress> machine_;
  std::map<QString, ListenerCheck> checks_;
  std::vector<std::uint64_t> closed_;
  QString next_error_;
  bool hold_reads_ = false;
  std::vector<std::function<void()>> held_;
  std::optional<SessionTrouble> trouble_;
  int retries_ = 0;
  std::shared_ptr<Batches> batch_reader_;
  bool batches_available_ = true;
  std::int64_t metadata_end_ = 120;
  bool metadata_told_ = false;
};

}  // namespace hw::ui
