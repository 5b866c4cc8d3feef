// SPDX-License-Identifier: Apache-2.0
#include "ui/session/session_admin.h"

#include <QCoreApplication>
#include <QTimer>
#include <utility>

namespace hw::ui {

namespace {

QString not_here() { return QCoreApplication::translate("hw::ui::Session", "This is not possible with the cluster shown."); }

template <typename Answer>
void refuse(std::function<void(Answer)> done) {
  Answer answer;
  answer.error = not_here();
  QTimer::singleShot(0, qApp, [done = std::move(done), answer] { done(answer); });
}

void refuse(std::function<void(QString)> done) {
  QTimer::singleShot(0, qApp, [done = std::move(done)] { done(not_here()); });
}

// What a session answers that has no cluster to ask.
class NoAdmin final : public SessionAdmin {
 public:
  void describeConfigs(const ConfigResource&, std::function<void(ConfigAnswer)> done) override { refuse(std::move(done)); }
  void alterConfigs(const ConfigResource&, const std::vector<ConfigChange>&, bool, std::function<void(QString error)> done) override {
    refuse(std::move(done));
  }
  void segments(const std::string&, std::function<void(SegmentsAnswer)> done) override { refuse(std::move(done)); }
  void countRecords(const std::string&, std::int64_t, std::function<void(RecordCount)> done) override { refuse(std::move(done)); }
  void deleteRecords(const std::vector<PartitionOffset>&, std::function<void(OffsetsAnswer)> done) override { refuse(std::move(done)); }
  void findOffsets(const std::vector<PartitionName>&, std::int64_t, std::function<void(OffsetsAnswer)> done) override {
    refuse(std::move(done));
  }
  void commitGroupOffsets(const std::string&, const std::vector<PartitionOffset>&, std::function<void(OffsetsAnswer)> done) override {
    refuse(std::move(done));
  }
  void deleteGroupOffsets(const std::string&, const std::vector<PartitionName>&, std::function<void(OffsetsAnswer)> done) override {
    refuse(std::move(done));
  }
  void deleteGroup(const std::string&, std::function<void(QString error)> done) override { refuse(std::move(done)); }

  [[nodiscard]] QStringList consumerAssignors(ConsumerCommand::Protocol /*protocol*/) const override { return {}; }
  void addConsumer(const ConsumerCommand&, std::function<void(QString error)> done) override { refuse(std::move(done)); }
  bool removeConsumer(const std::string&) override { return false; }
  bool rejoinConsumer(const std::string&) override { return false; }
  [[nodiscard]] std::vector<BuiltInConsumer> consumers() const override { return {}; }
};

}  // namespace

void SessionAdmin::changeVoter(std::int32_t, bool, std::function<void(QString error)> done) { refuse(std::move(done)); }

void SessionAdmin::tryOut(Trial, std::function<void(TrialAnswer)> done) { refuse(std::move(done)); }

SessionAdmin& SessionAdmin::of(QObject* session) {
  static NoAdmin none;
  auto* admin = dynamic_cast<SessionAdmin*>(session);
  return admin == nullptr ? none : *admin;
}

}  // namespace hw::ui
