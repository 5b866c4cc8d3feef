// SPDX-License-Identifier: Apache-2.0
// "Review 2 changes": what changes, what it will cause now, computed from the segments that are
// there (of a broker: those of the topics that follow it), and the same as command
// lines. Apply sends all changes at once; the broker takes all or none.
#pragma once

#include <QDialog>
#include <QPointer>
#include <map>
#include <string>
#include <vector>

#include "ui/models/config_effects.h"
#include "ui/models/retention_preview.h"
#include "ui/session/admin.h"
#include "ui/session/session.h"

class QGridLayout;

namespace hw::ui {

class Button;
class CommandLine;
class TextLabel;

class ReviewConfigsDialog : public QDialog {
  Q_OBJECT

 public:
  struct Input {
    ConfigResource resource;
    QString title;                              // "orders", "broker 1"
    std::vector<ConfigChange> changes;
    std::map<std::string, std::string> before;  // effective values
    std::map<std::string, std::string> after;
    std::size_t replicas = 1;                   // of a partition
    std::int64_t now_ms = 0;
    std::vector<InheritingTopic> topics;        // of a broker: those whose defaults these are, without segments
    bool classic = true;                        // of a group: its members use the classic protocol
  };
  ReviewConfigsDialog(Session* session, Input input, QWidget* parent = nullptr);
  [[nodiscard]] const std::vector<ChangeEffect>& effects() const { return effects_; }
  [[nodiscard]] QString commandLines() const;
  void apply();

 signals:
  void applied();

 private:
  void fill(std::vector<ChangeEffect> effects, bool known);
  [[nodiscard]] std::vector<ChangeEffect> effectsOf(const std::vector<PartitionSegments>& partitions) const;
  void readSegments();  // of the next topic; at the end the effects are known
  void known(const std::vector<PartitionSegments>& partitions);
  QPointer<Session> session_;
  Input input_;
  QGridLayout* grid_;
  CommandLine* command_;
  TextLabel* failure_;
  Button* apply_;
  std::vector<ChangeEffect> effects_;
  std::size_t looked_ = 0;  // topics whose segments were read
};

}  // namespace hw::ui
