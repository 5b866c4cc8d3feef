// SPDX-License-Identifier: Apache-2.0
// The configurations of one topic, broker or group as a table, with edits that are staged: nothing is sent before somebody applies them.
// Thread rule: UI thread only.
#pragma once

#include <QString>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ui/models/row_diff.h"
#include "ui/models/topic_rules.h"
#include "ui/session/admin.h"

namespace hw::ui {

class ConfigModel : public RowDiffModel {
  Q_OBJECT

 public:
  enum Column : int { key, value, reading, standard, source, column_count };
  enum Role : int { staged_role = Qt::UserRole + 1, changed_role, danger_role };

  explicit ConfigModel(QObject* parent = nullptr) : RowDiffModel(parent) {}

  // Which source's values are edited here; a topic's at first.
  void setOwnSource(ConfigSource own) { own_ = own; }
  [[nodiscard]] ConfigSource ownSource() const { return own_; }
  void setRows(std::vector<ConfigRow> rows);  // staged edits that the broker now agrees with are dropped
  void clear();                               // and forgets what is staged
  void setOnlyChanged(bool only);             // rows whose value is not Kafka's default, and staged ones
  [[nodiscard]] bool onlyChanged() const { return only_changed_; }
  void setFilter(const QString& text);

  // Stages a value; nullopt takes the own value away. An edit that changes nothing is no edit.
  // The answer of the rules; an error stages nothing.
  RuleAnswer stage(const std::string& name, const std::optional<QString>& text);
  void unstage(const std::string& name);
  void unstageAll();
  [[nodiscard]] const std::map<std::string, std::optional<std::string>>& staged() const { return staged_; }
  [[nodiscard]] std::vector<ConfigChange> changes() const;
  // What takes `changes` back: for Undo after applying.
  [[nodiscard]] std::vector<ConfigChange> inverse(const std::vector<ConfigChange>& changes) const;

  [[nodiscard]] const ConfigRow* row(int index) const;
  [[nodiscard]] const ConfigRow* find(const std::string& name) const;
  [[nodiscard]] int indexOf(const std::string& name) const;
  [[nodiscard]] int total() const { return static_cast<int>(rows_.size()); }
  // The value that counts without an own one; empty optional: none, or not told.
  [[nodiscard]] std::optional<std::string> inherited(const ConfigRow& row) const;
  [[nodiscard]] QString inheritedText(const ConfigRow& row) const;
  // Of a topic: some own value came without what counts instead of it, which the rows of a broker say (topic_standard()).
  [[nodiscard]] bool wantsBroker() const;
  void setBroker(const std::vector<ConfigRow>& rows);
  // The effective value with what is staged.
  [[nodiscard]] std::string effective(const std::string& name) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 signals:
  void stagedChanged();

 private:
  void refilter();
  std::vector<ConfigRow> rows_;       // all, by name
  std::map<std::string, std::string> broker_;  // what a broker has, by key; of a topic only
  std::vector<std::string> shown_;    // names of the rows of the table
  std::map<std::string, std::optional<std::string>> staged_;
  ConfigSource own_ = ConfigSource::topic;
  bool only_changed_ = true;
  QString filter_;
};

// A value for a person. `value` null: none is set, or it is a secret.
[[nodiscard]] QString config_value_text(const std::optional<std::string>& value, bool sensitive);

// What all brokers have in common, as one of them tells it: the same rows without what is set for that broker alone, be it in the
// file that it started with. What can be set for one broker only cannot be changed there.
[[nodiscard]] std::vector<ConfigRow> rows_of_all_brokers(std::vector<ConfigRow> rows_of_one);

}  // namespace hw::ui
