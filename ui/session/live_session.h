// SPDX-License-Identifier: Apache-2.0
// LiveSession: the cluster inside this process, its built-in clients and demo traffic, as a Session.
//
// Starting, stopping and reading happen off the UI thread; answers come back to it. What the window produces goes over
// a real connection, like any other client's.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <QThreadPool>

#include "engine/node/cluster.h"
#include "engine/node/cluster_control.h"
#include "engine/node/control_server.h"
#include "ui/session/session.h"
#include "ui/session/session_admin.h"
#include "ui/session/session_brokers.h"
#include "ui/session/session_nodes.h"

namespace hw::node {
class ClientRunner;
}

namespace hw::ui {

class DemoTraffic;
class LiveBatches;
class LiveConsumers;

class LiveSession final : public Session, public SessionAdmin, public SessionNodes, public SessionBrokers {
  Q_OBJECT

 public:
  struct Options {
    node::ClusterOptions cluster;  // `observe` and `wake` are set here
    QString name;                  // empty: "demo" in memory, else the folder's name
    bool demo = true;              // demo traffic begins when the cluster serves
    // Where other programs may control the nodes; nothing: nowhere. A port that is taken costs the control only, not the start.
    std::optional<node::ControlServerOptions> control;
    bool control_elsewhere = true;  // a taken port: another one, of the kernel's choice
  };
  explicit LiveSession(Options options, QObject* parent = nullptr);
  ~LiveSession() override;  // stops the cluster cleanly

  // Starts in the background; then started() or startFailed().
  void start();
  [[nodiscard]] bool running() const { return running_; }

  observe::ViewPtr view() const override { return view_; }
  QString clusterName() const override;
  QString bootstrap() const override;
  QString bootstrapList() const override;
  StorageInfo storage() const override;
  std::int64_t foreignRecords() const override;
  std::optional<SessionTrouble> trouble() const override { return trouble_; }
  void retry() override;
  void read(const ReadQuery& query, std::function<void(ReadAnswer)> done) override;
  std::shared_ptr<BatchReader> batches() override;
  void produce(const ProduceCommand& command, std::function<void(ProduceAnswer)> done) override;
  void createTopic(const CreateTopicCommand& command, std::function<void(QString error)> done) override;
  void deleteTopic(const std::string& name, std::function<void(QString error)> done) override;
  void addPartitions(const std::string& name, std::int32_t total, std::function<void(QString error)> done) override;
  void closeConnection(std::uint64_t connection, std::function<void(QString error)> done) override;
  std::vector<ListenerInfo> listeners() const override;
  std::vector<MachineAddress> machineAddresses() const override;
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
  void changeVoter(std::int32_t node, bool voter, std::function<void(QString error)> done) override;
  void tryOut(Trial trial, std::function<void(TrialAnswer)> done) override;
  QStringList consumerAssignors(ConsumerCommand::Protocol protocol) const override;
  void addConsumer(const ConsumerCommand& command, std::function<void(QString error)> done) override;
  bool removeConsumer(const std::string& group) override;
  bool rejoinConsumer(const std::string& group) override;
  std::vector<BuiltInConsumer> consumers() const override;
  std::vector<NodeCondition> conditions() const override;
  void act(NodeAction action, std::int32_t node, std::function<void(QString error)> done) override;
  void healAll(std::function<void(QString error)> done) override;
  bool addsBrokers() const override;
  void addBroker(std::function<void(std::int32_t node, QString error)> done) override;
  void removeBroker(std::int32_t node, std::function<void(QString error)> done) override;
  QString profile() const override;
  std::int64_t quorumFetchTimeoutMs() const override;
  ControlPort controlPort() const override { return control_port_; }
  void setDemoTraffic(bool on) override;
  bool demoTraffic() const override;
  void setLoad(int records_per_second) override;
  void keep(const QString& directory, std::function<void(QString error)> done) override;

 signals:
  void started();
  // `code` is a hw::Errc; `detail` is for people.
  void startFailed(int code, const QString& detail);

 private:
  struct LogWalk;
  [[nodiscard]] bool asks() const;  // the cluster runs and may be asked
  [[nodiscard]] QString refusal(const NodeCondition& now, std::int32_t node) const;  // why it cannot be told to do anything; empty: it can
  std::uint64_t windowsProducer();  // that of what is sent by hand
  void takeView();
  void noteOwn();
  void noteTrouble(const Error& error);
  void openControl();
  void closeControl();
  // Runs commands one after the other, up to the first that fails. Node -1: not about one.
  void command(std::int32_t node, std::vector<std::pair<std::string, node::Value>> commands, std::function<void(QString error)> done);
  std::function<void(Result<void>)> answerTo(std::function<void(QString error)> done);

  Options options_;
  std::unique_ptr<node::Cluster> cluster_;
  std::unique_ptr<node::ClientRunner> clients_;
  std::unique_ptr<DemoTraffic> demo_;
  std::unique_ptr<LiveConsumers> consumers_;
  std::uint64_t producer_ = 0;
  // What our own connections have written: those that are open, and the sum of those that are gone.
  struct Own {
    const void* node = nullptr;  // its counters: a node that starts again counts from zero
    std::map<ConnectionId, std::shared_ptr<const event::ConnectionCounters>> open;
    std::int64_t closed = 0;
  };
  std::map<BrokerId, Own> own_;  // by node
  std::shared_ptr<std::atomic<bool>> wake_pending_;
  std::thread starter_;
  QThreadPool readers_;
  std::shared_ptr<LiveBatches> batches_;
  QThreadPool doctors_;    // name lookups wait for the network
  QThreadPool operators_;  // one: whoever starts, ends and faults nodes
  std::unique_ptr<node::ClusterControl> control_;  // while the cluster runs: the only one that touches its nodes
  std::unique_ptr<node::ControlServer> control_server_;
  ControlPort control_port_;
  std::multiset<std::int32_t> commanded_;  // nodes with a command of this window under way
  std::map<BrokerId, event::QuorumVotersChanged::Voter> voters_;  // everybody who has voted: where it is found
  observe::ViewPtr view_;
  std::optional<SessionTrouble> trouble_;
  bool running_ = false;
  bool busy_ = false;  // keep() is under way
};

}  // namespace hw::ui
