// SPDX-License-Identifier: Apache-2.0
#include "ui/views/metadata_log_model.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/filter/make_field.h"
#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(MetadataLogModel)
};

enum class RecordField : int { offset, epoch, type, topic, partition, node, control, time, text };

using filter::Datum;
using filter::Type;

class RecordSource final : public filter::Source {
 public:
  explicit RecordSource(const MetadataRecord& record) : r_(record) {}
  [[nodiscard]] Datum get(const filter::FieldRef& ref, std::size_t) const override {
    switch (static_cast<RecordField>(ref.field)) {
      case RecordField::offset:
        return Datum::ofNumber(r_.offset);
      case RecordField::epoch:
        return Datum::ofNumber(static_cast<std::int64_t>(r_.epoch));
      case RecordField::type:
        return text(r_.type);
      case RecordField::topic:
        return r_.about.topic.isEmpty() ? Datum{} : text(r_.about.topic);
      case RecordField::partition:
        return r_.about.partition < 0 ? Datum{} : Datum::ofNumber(static_cast<std::int64_t>(r_.about.partition));
      case RecordField::node:
        return r_.about.node < 0 ? Datum{} : Datum::ofNumber(static_cast<std::int64_t>(r_.about.node));
      case RecordField::control:
        return Datum::ofBool(r_.control);
      case RecordField::time:
        return Datum::ofNumber(r_.timestamp_ms);
      case RecordField::text:
        return text(r_.text);
    }
    return {};
  }

 private:
  [[nodiscard]] Datum text(const QString& words) const {
    kept_ = words.toStdString();
    return Datum::ofText(kept_);
  }
  const MetadataRecord& r_;
  mutable std::string kept_;
};

}  // namespace

const filter::VocabularyPtr& metadata_vocabulary() {
  static const filter::VocabularyPtr vocabulary = [] {
    auto made = std::make_shared<filter::Vocabulary>(
        std::vector<filter::Field>{
            filter::make_field(RecordField::type, "type", Type::text, Words::tr("what kind of record it is"),
                  {QStringLiteral("PartitionChange"), QStringLiteral("BrokerRegistrationChange"), QStringLiteral("Topic"),
                   QStringLiteral("Partition"), QStringLiteral("Config"), QStringLiteral("RegisterBroker"), QStringLiteral("ProducerIds"),
                   QStringLiteral("LeaderChange"), QStringLiteral("KRaftVoters")}),
            filter::make_field(RecordField::topic, "topic", Type::text, Words::tr("the topic that it is about")),
            filter::make_field(RecordField::partition, "partition", Type::number, Words::tr("the partition that it is about")),
            filter::make_field(RecordField::node, "node", Type::number, Words::tr("the node that it is about")),
            filter::make_field(RecordField::offset, "offset", Type::number, Words::tr("its place in the metadata log")),
            filter::make_field(RecordField::epoch, "epoch", Type::number, Words::tr("of the controller that wrote it")),
            filter::make_field(RecordField::control, "control", Type::boolean, Words::tr("written by the quorum itself")),
            filter::make_field(RecordField::time, "time", Type::time, Words::tr("when it was written: time >= -5 min")),
            filter::make_field(RecordField::text, "text", Type::text, Words::tr("what it says")),
        },
        std::vector<std::string>{"type", "text"});
    made->setPlainWords(true);
    return made;
  }();
  return vocabulary;
}

bool matches(const filter::Program& program, const MetadataRecord& record) { return program.matches(RecordSource(record)); }

void MetadataLogModel::append(std::vector<MetadataRecord> records) {
  if (records.empty()) {
    return;
  }
  if (!all_.empty() && records.front().offset <= all_.back().offset) {
    beginResetModel();
    all_.clear();
    shown_.clear();
    endResetModel();
  }
  std::vector<std::int64_t> fresh;
  for (MetadataRecord& record : records) {
    if (!program_ || matches(*program_, record)) {
      fresh.push_back(record.offset);
    }
    all_.push_back(std::move(record));
  }
  if (!fresh.empty()) {
    beginInsertRows({}, 0, static_cast<int>(fresh.size()) - 1);
    shown_.insert(shown_.begin(), fresh.rbegin(), fresh.rend());
    endInsertRows();
  }
  if (all_.size() > kKept) {
    const std::size_t gone = all_.size() - kKept;
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(gone));
    const std::int64_t first = all_.front().offset;
    const auto keep = std::find_if(shown_.begin(), shown_.end(), [&](std::int64_t offset) { return offset < first; });
    if (keep != shown_.end()) {
      beginRemoveRows({}, static_cast<int>(keep - shown_.begin()), static_cast<int>(shown_.size()) - 1);
      shown_.erase(keep, shown_.end());
      endRemoveRows();
    }
  }
}

void MetadataLogModel::clear() {
  beginResetModel();
  all_.clear();
  shown_.clear();
  endResetModel();
}

void MetadataLogModel::setFilter(filter::ProgramPtr program) {
  program_ = std::move(program);
  rebuild();
}

void MetadataLogModel::rebuild() {
  beginResetModel();
  shown_.clear();
  for (auto it = all_.rbegin(); it != all_.rend(); ++it) {
    if (!program_ || matches(*program_, *it)) {
      shown_.push_back(it->offset);
    }
  }
  endResetModel();
}

const MetadataRecord* MetadataLogModel::record(int row) const {
  if (row < 0 || row >= static_cast<int>(shown_.size())) {
    return nullptr;
  }
  const std::int64_t offset = shown_[static_cast<std::size_t>(row)];
  const auto at = std::lower_bound(all_.begin(), all_.end(), offset, [](const MetadataRecord& r, std::int64_t o) { return r.offset < o; });
  return at == all_.end() || at->offset != offset ? nullptr : &*at;
}

int MetadataLogModel::rowOf(std::int64_t offset) const {
  const auto at = std::find(shown_.begin(), shown_.end(), offset);
  return at == shown_.end() ? -1 : static_cast<int>(at - shown_.begin());
}

int MetadataLogModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(shown_.size()); }
int MetadataLogModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int{kColumns}; }

QVariant MetadataLogModel::data(const QModelIndex& index, int role) const {
  const MetadataRecord* r = index.isValid() ? record(index.row()) : nullptr;
  if (r == nullptr) {
    return {};
  }
  const Theme& theme = Theme::current();
  switch (role) {
    case Qt::TextAlignmentRole:
      return QVariant(index.column() == kOffset ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignVCenter);
    case Qt::FontRole:
      return theme.font(index.column() == kType ? FontRole::control_strong : (index.column() == kText ? FontRole::control : FontRole::small_data));
    case Qt::ForegroundRole:
      return r->broken ? theme.colors().err_t : (r->control || index.column() != kText ? theme.colors().text2 : theme.colors().text);
    case Qt::ToolTipRole:
      return QStringLiteral("%1\n%2").arg(r->text, r->fields);
    case Qt::AccessibleTextRole:
      return index.column() == kText ? tr("offset %1, %2: %3").arg(r->offset).arg(r->type, r->text) : data(index, Qt::DisplayRole);
    case Qt::DisplayRole:
      break;
    default:
      return {};
  }
  switch (index.column()) {
    case kOffset:
      return format_offset(r->offset);
    case kType:
      return r->type;
    case kText:
      return r->text;
    case kTime:
      return format_time(r->timestamp_ms);
    default:
      return {};
  }
}

QVariant MetadataLogModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    return QVariant(section == kOffset ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case kOffset:
      return tr("Offset");
    case kType:
      return tr("Record");
    case kText:
      return tr("What it says");
    case kTime:
      return tr("Time");
    default:
      return {};
  }
}

}  // namespace hw::ui
