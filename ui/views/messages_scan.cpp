// SPDX-License-Identifier: Apache-2.0
// MessagesPage: what is scanned for a filter, and the volume over time.
#include <QComboBox>
#include <QDateTimeEdit>
#include <QLineEdit>
#include <QScrollBar>
#include <QTableView>
#include <algorithm>

#include "ui/filter/filter_box.h"
#include "ui/filter/record_fields.h"
#include "ui/painting/text.h"
#include "ui/views/messages_page.h"
#include "ui/views/record_detail.h"
#include "ui/views/record_model.h"
#include "ui/views/record_text.h"
#include "ui/views/volume_strip.h"
#include "ui/window/controls.h"

namespace hw::ui {

bool MessagesPage::scanning() const { return filter_->filtering() || latest_per_key_; }

// Every chosen partition from where the list begins to its end.
std::vector<ScanPart> MessagesPage::parts() const {
  std::vector<ScanPart> out;
  const observe::ViewPtr now = session()->view();
  const observe::TopicView* t = now->find_topic(topic().toStdString());
  if (t == nullptr) {
    return out;
  }
  const observe::GroupView* group = from_->current() == static_cast<int>(RecordFeed::From::group)
                                        ? now->find_group(groups_->currentText().toStdString())
                                        : nullptr;
  for (const auto& p : t->partitions) {
    const event::ReplicaCounters* c = p == nullptr ? nullptr : p->leader_counters();
    if (c == nullptr || (partition() >= 0 && p->index.value() != partition())) {
      continue;
    }
    ScanPart part{p->index.value(), c->log_start_offset.get(), c->high_watermark.get()};
    if (from_->current() == static_cast<int>(RecordFeed::From::offset)) {
      part.from = std::clamp(static_cast<std::int64_t>(offset_->text().toLongLong()), part.from, std::max(part.from, part.to));
    } else if (group != nullptr) {
      const auto at = std::find_if(group->committed.begin(), group->committed.end(), [&](const auto& committed) {
        return committed.topic == t->name && committed.partition == p->index;
      });
      part.from = at == group->committed.end() || at->counters == nullptr
                      ? part.to
                      : std::clamp(at->counters->offset.get(), part.from, std::max(part.from, part.to));
    }
    out.push_back(part);
  }
  return out;
}

std::int64_t MessagesPage::offsetsOf(const std::vector<ScanPart>& parts) const {
  std::int64_t sum = 0;
  for (const ScanPart& part : parts) {
    sum += std::max<std::int64_t>(0, part.to - part.from);
  }
  return sum;
}

void MessagesPage::restartScan() {
  behind_.cancel();
  behind_hits_ = 0;
  behind_records_ = 0;
  not_listed_ = 0;
  model_->clear();
  detail_->clear();
  unseen_ = 0;
  pill_->hide();
  ScanRequest request;
  request.topic = topic().toStdString();
  request.parts = parts();
  request.filter = filter_->program();
  request.isolation = isolation_;
  request.latest_per_key = latest_per_key_;
  request.newest_first = !latest_per_key_ && from_->current() == static_cast<int>(RecordFeed::From::newest);
  request.max_rows = static_cast<std::int64_t>(RecordModel::kMaxRows);
  if (from_->current() == static_cast<int>(RecordFeed::From::time)) {
    request.from_time_ms = time_->dateTime().toMSecsSinceEpoch();
  }
  scan_began_ = request.parts;
  scanned_to_ = request.parts;
  FilterBox::Counts counts;
  counts.shown = 0;
  counts.total = offsetsOf(request.parts);
  counts.percent = 0;
  filter_->setCounts(counts);
  scan_.start(session()->batches(), std::move(request));
  refreshState();
}

// Behind the scan: what has been appended since, in order.
void MessagesPage::pollScan() {
  if (scan_.running() || behind_.running() || scan_.progress().cancelled || session()->batches() == nullptr) {
    return;
  }
  std::vector<ScanPart> now = parts();
  std::vector<ScanPart> fresh;
  for (const ScanPart& part : now) {
    const auto before = std::find_if(scanned_to_.begin(), scanned_to_.end(),
                                     [&](const ScanPart& p) { return p.partition == part.partition; });
    const std::int64_t from = before == scanned_to_.end() ? part.from : before->to;
    if (part.to > from) {
      fresh.push_back({part.partition, from, part.to});
    }
  }
  if (fresh.empty()) {
    return;
  }
  if (latest_per_key_) {
    // The list is of one moment; a new one is asked for.
    unseen_ = offsetsOf(fresh);
    pill_->setText(tr("+ %1 newer, refresh").arg(format_count(unseen_)));
    placePill();
    pill_->show();
    return;
  }
  if (!tail_) {
    return;
  }
  scanned_to_ = now;
  ScanRequest request;
  request.topic = topic().toStdString();
  request.parts = std::move(fresh);
  request.filter = filter_->program();
  request.isolation = isolation_;
  request.max_rows = RecordFeed::kMaxTailBehind;  // what runs away is counted, not listed
  behind_.start(session()->batches(), std::move(request));
}

void MessagesPage::onScanned() {
  const ScanProgress& p = scan_.progress();
  FilterBox::Counts counts;
  counts.shown = (latest_per_key_ ? p.keys : p.hits) + behind_hits_;
  counts.total = p.done ? p.records + behind_records_ : p.offsets_total;
  if (scan_.running()) {
    counts.percent = p.percent();
  } else {
    counts.scanned_ms = p.elapsed_ms;
    failure_ = p.error;
  }
  filter_->setCounts(counts);
  if (!scan_.running()) {
    onPageDone();
  } else {
    refreshState();
  }
}

void MessagesPage::onFilter() {
  volume_->setSelected(spanOfFilter());
  restart();
}

// ---- the volume over time

void MessagesPage::sampleVolume() {
  if (session() == nullptr || !isVisible()) {
    return;
  }
  const std::pair<QString, std::int32_t> place(topic(), partition());
  if (sampled_place_ != place) {
    // What is counted for the list before is not waited for, and nothing of it stays.
    sampler_.cancel();
    volume_->setVolume({});
    sampled_.clear();
  } else if (sampler_.running()) {
    return;
  }
  std::vector<ScanPart> whole;
  const observe::ViewPtr now = session()->view();
  if (const observe::TopicView* t = now->find_topic(topic().toStdString()); t != nullptr) {
    for (const auto& p : t->partitions) {
      const event::ReplicaCounters* c = p == nullptr ? nullptr : p->leader_counters();
      if (c != nullptr && (partition() < 0 || p->index.value() == partition())) {
        whole.push_back({p->index.value(), c->log_start_offset.get(), c->high_watermark.get()});
      }
    }
  }
  const auto same = [](const ScanPart& a, const ScanPart& b) { return a.partition == b.partition && a.from == b.from && a.to == b.to; };
  sampled_at_.start();
  if (sampled_place_ == place && whole.size() == sampled_.size() && std::equal(whole.begin(), whole.end(), sampled_.begin(), same)) {
    return;
  }
  sampled_place_ = place;
  sampled_ = whole;
  sampler_.start(session()->batches(), topic().toStdString(), whole);
}

// The first condition on time as a range, where it stands at the top.
std::optional<std::pair<std::int64_t, std::int64_t>> MessagesPage::spanOfFilter() const {
  const filter::Program& program = *filter_->program();
  if (program.empty()) {
    return std::nullopt;
  }
  const auto span_of = [&](int index) -> std::optional<std::pair<std::int64_t, std::int64_t>> {
    const filter::Program::Node& n = program.nodes()[static_cast<std::size_t>(index)];
    if (n.kind == filter::Program::Node::Kind::test && n.op == filter::Op::range &&
        n.ref.field == static_cast<int>(filter::RecordField::time)) {
      return std::make_pair(n.low.number, n.high.number);
    }
    return std::nullopt;
  };
  const filter::Program::Node& root = program.nodes()[static_cast<std::size_t>(program.root())];
  if (root.kind == filter::Program::Node::Kind::all) {
    for (const int child : root.children) {
      if (const auto span = span_of(child); span) {
        return span;
      }
    }
    return std::nullopt;
  }
  return span_of(program.root());
}

QString MessagesPage::filterWithoutSpan() const {
  const QString text = filter_->appliedText();
  filter::Options options;
  options.utc = utc_;
  const filter::Parsed parsed = filter::parse(text, filter_->vocabulary(), options);
  QStringList kept;
  for (const filter::Parsed::Part& part : parsed.parts) {
    const QString condition = text.mid(part.begin, part.end - part.begin);
    const filter::Parsed one = filter::parse(condition, filter_->vocabulary(), options);
    const bool span = one.ok() && one.program->nodes().size() == 1 && one.program->nodes()[0].op == filter::Op::range &&
                      one.program->uses(static_cast<int>(filter::RecordField::time));
    if (!span) {
      kept << condition;
    }
  }
  return kept.join(QStringLiteral(" && "));
}

void MessagesPage::onSpan(std::optional<std::pair<std::int64_t, std::int64_t>> span) {
  const QString rest = filterWithoutSpan();
  if (!span) {
    filter_->setText(rest);
    return;
  }
  const QString condition = QStringLiteral("time in \"%1\"..\"%2\"").arg(date_time_text(span->first, utc_), date_time_text(span->second, utc_));
  filter_->setText(filter::joined(rest, QStringLiteral("&&"), condition, filter_->vocabulary()));
}

}  // namespace hw::ui
