// SPDX-License-Identifier: Apache-2.0
#include "ui/models/config_model.h"

#include <algorithm>

#include "ui/models/broker_config_rules.h"
#include "ui/models/config_rules.h"
#include "ui/theme/theme.h"

namespace hw::ui {

QString config_value_text(const std::optional<std::string>& value, bool sensitive) {
  if (!value) {
    return sensitive ? QStringLiteral("•••") : ConfigModel::tr("not set");
  }
  return value->empty() ? QStringLiteral("\"\"") : QString::fromStdString(*value);
}

std::vector<ConfigRow> rows_of_all_brokers(std::vector<ConfigRow> rows_of_one) {
  const auto of_one = [](ConfigSource source) { return source == ConfigSource::broker || source == ConfigSource::start_file; };
  for (ConfigRow& row : rows_of_one) {
    const auto gone = std::remove_if(row.synonyms.begin(), row.synonyms.end(),
                                     [&](const ConfigRow::Synonym& synonym) { return of_one(synonym.source); });
    row.synonyms.erase(gone, row.synonyms.end());
    if (of_one(row.source)) {
      // As a broker tells it: of the key itself, not of its other names.
      const auto same = std::find_if(row.synonyms.begin(), row.synonyms.end(),
                                     [&](const ConfigRow::Synonym& synonym) { return synonym.name == row.name; });
      row.value = same == row.synonyms.end() ? std::nullopt : same->value;
      row.source = row.synonyms.empty() ? ConfigSource::defaults : row.synonyms.front().source;
    }
    row.read_only = row.read_only || one_broker_only(row.name);
  }
  return rows_of_one;
}

std::optional<std::string> ConfigModel::inherited(const ConfigRow& row) const {
  if (row.source != own_) {
    return row.value;
  }
  for (const ConfigRow::Synonym& synonym : row.synonyms) {
    if (synonym.source != own_) {
      return synonym.value ? std::optional(in_unit_of(row.name, synonym.name, *synonym.value)) : std::nullopt;
    }
  }
  if (own_ != ConfigSource::topic || broker_.empty()) {
    return std::nullopt;
  }
  return topic_standard(row.name, [this](const std::string& name) {
    const auto at = broker_.find(name);
    return at == broker_.end() ? std::nullopt : std::optional(at->second);
  });
}

QString ConfigModel::inheritedText(const ConfigRow& row) const {
  const std::optional<std::string> without = inherited(row);
  return !without && own_ == ConfigSource::topic ? QStringLiteral("–") : config_value_text(without, row.sensitive);
}

bool ConfigModel::wantsBroker() const {
  return own_ == ConfigSource::topic &&
         std::any_of(rows_.begin(), rows_.end(), [this](const ConfigRow& row) { return row.source == own_ && !inherited(row); });
}

void ConfigModel::setBroker(const std::vector<ConfigRow>& rows) {
  broker_.clear();
  for (const ConfigRow& row : rows) {
    if (row.value) {
      broker_.emplace(row.name, *row.value);
    }
  }
  if (rowCount() > 0) {
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
  }
}

void ConfigModel::setRows(std::vector<ConfigRow> rows) {
  std::sort(rows.begin(), rows.end(), [](const ConfigRow& a, const ConfigRow& b) { return a.name < b.name; });
  rows_ = std::move(rows);
  for (auto it = staged_.begin(); it != staged_.end();) {
    const ConfigRow* now = find(it->first);
    const bool done = now == nullptr || (it->second ? now->source == own_ && now->value == it->second
                                                    : now->source != own_);
    it = done ? staged_.erase(it) : std::next(it);
  }
  refilter();
  if (rowCount() > 0) {
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
  }
  Q_EMIT stagedChanged();
}

void ConfigModel::clear() {
  staged_.clear();
  rows_.clear();
  broker_.clear();
  refilter();
  Q_EMIT stagedChanged();
}

void ConfigModel::setOnlyChanged(bool only) {
  only_changed_ = only;
  refilter();
}

void ConfigModel::setFilter(const QString& text) {
  filter_ = text.trimmed();
  refilter();
}

void ConfigModel::refilter() {
  std::vector<std::string> wanted;
  for (const ConfigRow& row : rows_) {
    const bool changed = row.source != ConfigSource::defaults || staged_.count(row.name) != 0;
    const bool asked = filter_.isEmpty() || QString::fromStdString(row.name).contains(filter_, Qt::CaseInsensitive) ||
                       config_doc(row.name).contains(filter_, Qt::CaseInsensitive);
    if (asked && (changed || !only_changed_ || !filter_.isEmpty())) {
      wanted.push_back(row.name);
    }
  }
  followRows(
      shown_, wanted, [](const std::string& name) -> const std::string& { return name; }, [](const std::string& name) { return name; });
}

RuleAnswer ConfigModel::stage(const std::string& name, const std::optional<QString>& text) {
  const ConfigRow* now = find(name);
  if (now == nullptr) {
    return {RuleAnswer::Level::error, tr("There is no such key")};
  }
  if (now->read_only) {
    return {RuleAnswer::Level::error, tr("This value cannot be changed while the broker runs")};
  }
  RuleAnswer answer;
  std::optional<std::string> wanted;
  if (text) {
    answer = check_config(name, now->type, *text);
    if (answer.level == RuleAnswer::Level::error) {
      return answer;
    }
    wanted = config_plain(name, *text).toStdString();
  }
  const bool same = wanted ? now->value == wanted : now->source != own_;
  if (same) {
    staged_.erase(name);
  } else {
    staged_[name] = wanted;
  }
  refilter();
  if (const int row = indexOf(name); row >= 0) {
    Q_EMIT dataChanged(index(row, 0), index(row, column_count - 1));
  }
  Q_EMIT stagedChanged();
  return answer;
}

void ConfigModel::unstage(const std::string& name) {
  if (staged_.erase(name) == 0) {
    return;
  }
  if (const int row = indexOf(name); row >= 0) {
    Q_EMIT dataChanged(index(row, 0), index(row, column_count - 1));
  }
  refilter();
  Q_EMIT stagedChanged();
}

void ConfigModel::unstageAll() {
  if (staged_.empty()) {
    return;
  }
  staged_.clear();
  if (rowCount() > 0) {
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
  }
  refilter();
  Q_EMIT stagedChanged();
}

std::vector<ConfigChange> ConfigModel::changes() const {
  std::vector<ConfigChange> out;
  for (const auto& [name, wanted] : staged_) {
    out.push_back({name, wanted});
  }
  return out;
}

std::vector<ConfigChange> ConfigModel::inverse(const std::vector<ConfigChange>& changes) const {
  std::vector<ConfigChange> out;
  for (const ConfigChange& change : changes) {
    const ConfigRow* now = find(change.name);
    out.push_back({change.name, now != nullptr && now->source == own_ ? now->value : std::nullopt});
  }
  return out;
}

const ConfigRow* ConfigModel::row(int index) const {
  return index < 0 || index >= rowCount() ? nullptr : find(shown_[static_cast<std::size_t>(index)]);
}

const ConfigRow* ConfigModel::find(const std::string& name) const {
  const auto at = std::lower_bound(rows_.begin(), rows_.end(), name, [](const ConfigRow& row, const std::string& n) { return row.name < n; });
  return at == rows_.end() || at->name != name ? nullptr : &*at;
}

int ConfigModel::indexOf(const std::string& name) const {
  const auto at = std::find(shown_.begin(), shown_.end(), name);
  return at == shown_.end() ? -1 : static_cast<int>(at - shown_.begin());
}

std::string ConfigModel::effective(const std::string& name) const {
  const ConfigRow* now = find(name);
  if (const auto staged = staged_.find(name); staged != staged_.end()) {
    return staged->second ? *staged->second : (now == nullptr ? std::string() : inherited(*now).value_or(""));
  }
  return now == nullptr ? std::string() : now->value.value_or("");
}

int ConfigModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(shown_.size()); }

int ConfigModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{column_count}; }

QVariant ConfigModel::data(const QModelIndex& index, int role) const {
  const ConfigRow* r = index.isValid() ? row(index.row()) : nullptr;
  if (r == nullptr) {
    return {};
  }
  const auto staged = staged_.find(r->name);
  const bool edited = staged != staged_.end();
  switch (role) {
    case Qt::TextAlignmentRole:
      return QVariant(static_cast<Qt::Alignment::Int>(Qt::AlignLeft | Qt::AlignVCenter));
    case Qt::FontRole:
      return Theme::current().font(index.column() == source || index.column() == reading ? FontRole::control : FontRole::data);
    case staged_role:
      return edited;
    case changed_role:
      return r->source != ConfigSource::defaults;
    case danger_role:
      return !config_danger(r->name).isEmpty();
    case Qt::ToolTipRole:
      return config_doc(r->name);
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
      break;
    default:
      return {};
  }
  switch (index.column()) {
    case key:
      return QString::fromStdString(r->name);
    case value: {
      const QString now = config_value_text(r->value, r->sensitive);
      if (!edited) {
        return now;
      }
      return QStringLiteral("%1 → %2").arg(now, staged->second ? config_value_text(staged->second, r->sensitive) : inheritedText(*r));
    }
    case reading:
      return config_reading(r->name, effective(r->name));
    case standard:
      return edited || r->source == own_ ? inheritedText(*r) : QStringLiteral("–");
    case source:
      return edited ? (staged->second ? tr("staged") : tr("staged: inherit")) : source_words(r->source);
    default:
      return {};
  }
}

QVariant ConfigModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case key:
      return tr("Key");
    case value:
      return tr("Value");
    case reading:
      return tr("That is");
    case standard:
      return tr("Without it");
    case source:
      return tr("From");
    default:
      return {};
  }
}

}  // namespace hw::ui
