// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/add_partitions_dialog.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/dialogs/dialog_parts.h"
#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

constexpr int kPartitionsAsked = 64;     // partitions whose newest records are read for keys
constexpr int kRecordsPerPartition = 2'000;
constexpr int kKeysDrawn = 14;

}  // namespace

// Partitions before at the left, after at the right; a line for each key, thick where it moves.
class AddPartitionsDialog::Map : public QWidget {
 public:
  explicit Map(QWidget* parent) : QWidget(parent) {
    setMinimumHeight(Theme::current().px(250));
    setAccessibleName(AddPartitionsDialog::tr("Keys and their partitions before and after"));
  }
  void show(const KeyMoves& moves, int before, int then, bool reading) {
    moves_ = moves;
    before_ = before;
    then_ = then;
    reading_ = reading;
    QStringList words;
    for (std::size_t i = 0; i < moves_.keys.size() && i < kKeysDrawn; ++i) {
      const KeyMove& move = moves_.keys[i];
      words << AddPartitionsDialog::tr("%1: %2 to %3").arg(key_text(move.key.span(), 20)).arg(move.from).arg(move.to);
    }
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& t = Theme::current();
    const Colors& c = t.colors();
    QPainter p(this);
    p.scale(t.scale(), t.scale());
    const QRectF area(0, 0, width() / t.scale(), height() / t.scale());
    p.fillRect(area, c.inset);
    if (moves_.keys.empty()) {
      text_center(p, area.center().x(), area.center().y(),
                  reading_ ? AddPartitionsDialog::tr("Reading the keys of the newest records …")
                           : AddPartitionsDialog::tr("No record with a key: nothing has to stay together, so nothing moves"),
                  FontRole::body, c.text3);
      return;
    }
    const double left = 92;
    const double right = area.width() - 92;
    const double top = 34;
    const double bottom = area.height() - 12;
    text_left(p, 12, 16, AddPartitionsDialog::tr("now: %1").arg(format_count(before_)), FontRole::caption_strong, c.text3);
    if (moves_.keys.size() > kKeysDrawn) {
      text_center(p, area.center().x(), 16, AddPartitionsDialog::tr("%1 of these keys").arg(kKeysDrawn), FontRole::caption, c.text3);
    }
    text_right(p, area.width() - 12, 16, AddPartitionsDialog::tr("then: %1").arg(format_count(then_)), FontRole::caption_strong, c.text3);
    // Only partitions that have one of the drawn keys, in order, so that many partitions stay readable.
    std::vector<std::int32_t> from;
    std::vector<std::int32_t> to;
    const auto n = std::min<std::size_t>(kKeysDrawn, moves_.keys.size());
    const auto note = [](std::vector<std::int32_t>& list, std::int32_t partition) {
      const auto at = std::lower_bound(list.begin(), list.end(), partition);
      if (at == list.end() || *at != partition) {
        list.insert(at, partition);
      }
    };
    if (before_ <= 12) {
      for (int i = 0; i < before_; ++i) {
        from.push_back(i);
      }
    }
    if (then_ <= 12) {
      for (int i = 0; i < then_; ++i) {
        to.push_back(i);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      note(from, moves_.keys[i].from);
      note(to, moves_.keys[i].to);
    }
    const auto place = [&](const std::vector<std::int32_t>& list, std::int32_t partition) {
      const auto at = static_cast<double>(std::lower_bound(list.begin(), list.end(), partition) - list.begin());
      return top + (bottom - top) * (at + 0.5) / static_cast<double>(list.size());
    };
    const auto boxes = [&](const std::vector<std::int32_t>& list, double x, bool fresh) {
      const double high = std::min(22.0, (bottom - top) / static_cast<double>(list.size()) - 3);
      for (const std::int32_t partition : list) {
        const double y = place(list, partition);
        const bool is_new = fresh && partition >= before_;
        const QRectF box(x, y - high / 2, 44, high);
        p.fillRect(box, is_new ? c.ok_tint : c.leader_tint);
        p.setPen(QPen(is_new ? c.ok : c.leader, 1));
        p.setBrush(Qt::NoBrush);
        p.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
        if (high >= 10) {
          text_center(p, box.center().x(), y, QStringLiteral("p%1").arg(partition), FontRole::small_data, c.text);
        }
      }
    };
    boxes(from, 12, false);
    boxes(to, area.width() - 56, true);
    // Keys that go the same way share a line and a plate.
    std::vector<std::vector<const KeyMove*>> flows;
    for (std::size_t i = 0; i < n; ++i) {
      const KeyMove& move = moves_.keys[i];
      const auto same = std::find_if(flows.begin(), flows.end(), [&](const auto& flow) {
        return flow.front()->from == move.from && flow.front()->to == move.to;
      });
      (same == flows.end() ? flows.emplace_back() : *same).push_back(&move);
    }
    p.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = flows.size(); i > 0; --i) {
      const KeyMove& move = *flows[i - 1].front();
      const bool moves = move.from != move.to;
      const double y0 = place(from, move.from);
      const double y1 = place(to, move.to);
      QPainterPath path(QPointF(left - 34, y0));
      path.cubicTo(QPointF(left + 60, y0), QPointF(right - 60, y1), QPointF(right + 34, y1));
      p.setPen(QPen(moves ? t.keyHue(move.key.span()) : c.edge, moves ? 2.0 : 1.0, moves ? Qt::SolidLine : Qt::DashLine));
      p.setBrush(Qt::NoBrush);
      p.drawPath(path);
    }
    p.setRenderHint(QPainter::Antialiasing, false);
    // Labels where the lines begin to part, each at the first place along its line where no other stands.
    constexpr std::size_t kNamed = 3;
    std::vector<QRectF> taken;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const KeyMove& move = *flows[i].front();
      QStringList names;
      for (std::size_t k = 0; k < flows[i].size() && k < kNamed; ++k) {
        names << key_text(flows[i][k]->key.span(), 12);
      }
      QString label = names.join(QStringLiteral(", "));
      if (flows[i].size() > kNamed) {
        label += QStringLiteral(" +%1").arg(flows[i].size() - kNamed);
      }
      const double w = text_width(label, FontRole::small_data) + 8;
      QRectF plate;
      for (std::size_t attempt = 0; attempt < 5; ++attempt) {
        const double share = (static_cast<double>((i + attempt) % 5) + 1) / 6;
        const double x = left + (right - left) * share;
        const double s = (x - (left - 34)) / (right - left + 68);
        const double ease = s * s * (3 - 2 * s);
        const double y = place(from, move.from) + (place(to, move.to) - place(from, move.from)) * ease;
        const QRectF wanted(x - w / 2, y - 8, w, 16);
        const bool free = std::none_of(taken.begin(), taken.end(), [&](const QRectF& other) { return other.intersects(wanted); });
        if (attempt == 0 || free) {
          plate = wanted;
        }
        if (free) {
          break;
        }
      }
      taken.push_back(plate);
      p.fillRect(plate, c.canvas);
      text_center(p, plate.center().x(), plate.center().y(), label, FontRole::small_data, move.from != move.to ? c.text : c.text3);
    }
  }

 private:
  KeyMoves moves_;
  int before_ = 1;
  int then_ = 1;
  bool reading_ = true;
};

AddPartitionsDialog::AddPartitionsDialog(Session* session, const QString& topic, QWidget* parent)
    : QDialog(parent), session_(session), topic_(topic) {
  const Theme& t = Theme::current();
  setWindowTitle(tr("Add partitions to %1").arg(topic));
  setObjectName(QStringLiteral("growDialog"));
  setMinimumWidth(t.px(640));
  const observe::ViewPtr view = session_->view();
  const observe::TopicView* known = view->find_topic(topic.toStdString());
  before_ = known == nullptr ? 1 : std::max<int>(1, static_cast<int>(known->partitions.size()));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(20), t.px(18), t.px(20), t.px(16));
  column->setSpacing(t.px(8));
  column->addWidget(new TextLabel(tr("Add partitions to %1").arg(topic), FontRole::page_title, TextLabel::Tone::text, this));
  auto* row = new QHBoxLayout;
  row->setSpacing(t.px(10));
  row->addWidget(new TextLabel(tr("%1 now, then").arg(format_count(before_)), FontRole::body, TextLabel::Tone::text2, this));
  total_ = new QSpinBox(this);
  total_->setRange(before_ + 1, std::max(before_ + 1, 100'000));
  total_->setValue(before_ + 1);
  total_->setGroupSeparatorShown(true);
  total_->setFixedWidth(t.px(100));
  total_->setStyleSheet(QStringLiteral("font-family: \"JetBrains Mono\";"));
  total_->setAccessibleName(tr("Partitions then"));
  row->addWidget(total_);
  note_ = new TextLabel(tr("Partitions can be added, never taken away."), FontRole::caption, TextLabel::Tone::text3, this);
  row->addWidget(note_);
  row->addStretch(1);
  column->addLayout(row);
  summary_ = new TextLabel({}, FontRole::body_strong, TextLabel::Tone::text, this);
  summary_->setWordWrap(true);
  summary_->setMinimumHeight(t.px(38));
  column->addWidget(summary_);
  map_ = new Map(this);
  column->addWidget(map_, 1);
  command_ = add_command_line(column, this);
  failure_ = add_failure_line(column, this);
  add_ = add_answer_row(column, this, tr("Add partitions")).accept;
  add_->setObjectName(QStringLiteral("growButton"));
  connect(add_, &Button::clicked, this, &AddPartitionsDialog::submit);
  connect(total_, &QSpinBox::valueChanged, this, &AddPartitionsDialog::refresh);
  new FocusRing(this);
  refresh();
  readKeys();
  total_->setFocus();
  total_->selectAll();
}

void AddPartitionsDialog::setTotal(int total) { total_->setValue(total); }

QString AddPartitionsDialog::summary() const { return summary_->text(); }

void AddPartitionsDialog::readKeys() {
  const observe::ViewPtr view = session_->view();
  const observe::TopicView* topic = view->find_topic(topic_.toStdString());
  if (topic == nullptr) {
    return;
  }
  const auto count = static_cast<int>(topic->partitions.size());
  const int step = std::max(1, count / kPartitionsAsked);
  for (int i = 0; i < count; i += step) {
    if (topic->partitions[static_cast<std::size_t>(i)] != nullptr) {
      ++looked_at_;
      readSome(i);
    }
  }
}

void AddPartitionsDialog::readSome(std::int32_t partition) {
  const observe::ViewPtr view = session_->view();
  const observe::TopicView* topic = view->find_topic(topic_.toStdString());
  const event::ReplicaCounters* c = topic->partitions[static_cast<std::size_t>(partition)]->leader_counters();
  const std::int64_t end = c == nullptr ? 0 : c->high_watermark.get();
  ReadQuery query;
  query.topic = topic_.toStdString();
  query.partition = partition;
  query.from_offset = std::max<std::int64_t>(0, end - kRecordsPerPartition);
  query.max_records = kRecordsPerPartition;
  query.max_bytes = 1 << 20;
  ++reading_;
  const QPointer<AddPartitionsDialog> self(this);
  session_->read(query, [self](const ReadAnswer& answer) {
    if (self == nullptr) {
      return;
    }
    --self->reading_;
    for (const RecordRow& row : answer.rows) {
      if (!row.control) {
        self->keys_.add(row.key);
      }
    }
    if (self->reading_ == 0) {
      self->refresh();
    }
  });
}

void AddPartitionsDialog::refresh() {
  const int total = total_->value();
  moves_ = keys_.moves(before_, total);
  map_->show(moves_, before_, total, reading_ > 0);
  const int expected = static_cast<int>(std::lround(expected_move(before_, total) * 100));
  QString words;
  if (reading_ > 0) {
    words = tr("About %1 % of evenly spread keys move.").arg(expected);
  } else if (moves_.keys.empty()) {
    words = tr("Records without a key are spread over all partitions, old and new.");
  } else {
    const auto keys = static_cast<std::int64_t>(moves_.keys.size());
    const int share = static_cast<int>(std::lround(100.0 * static_cast<double>(moves_.moved_keys) / static_cast<double>(moves_.keys.size())));
    const QString looked = looked_at_ < before_
                               ? tr("Of %1 keys in the newest records of %2 of the partitions, ").arg(format_count(keys), format_count(looked_at_))
                               : tr("Of %1 keys in the newest records, ").arg(format_count(keys));
    words = looked +
            tr("%1 move (%2 %); of evenly spread keys about %3 % would. ")
                .arg(format_count(static_cast<std::int64_t>(moves_.moved_keys)))
                .arg(share)
                .arg(expected) +
            (moves_.moved_keys > 0 ? tr("Their older records stay where they are, so a key's order is broken at this point.")
                                   : tr("Every key that is there keeps its partition."));
    if (keys_.full()) {
      words += QLatin1Char(' ') + tr("More keys exist than were looked at.");
    }
  }
  summary_->setText(words);
  command_->setCommand(QStringLiteral("kafka-topics.sh --bootstrap-server %1 --alter --topic %2 --partitions %3").arg(session_->bootstrap(), topic_).arg(total));
}

void AddPartitionsDialog::submit() {
  if (!add_->isEnabled()) {
    return;
  }
  add_->setEnabled(false);
  failure_->hide();
  const int total = total_->value();
  const QPointer<AddPartitionsDialog> self(this);
  session_->addPartitions(topic_.toStdString(), total, [self, total](const QString& error) {
    if (self == nullptr) {
      return;
    }
    if (error.isEmpty()) {
      Q_EMIT self->grown(self->topic_, self->before_, total);
      self->accept();
      return;
    }
    self->failure_->setText(error);
    self->failure_->show();
    self->add_->setEnabled(true);
  });
}

}  // namespace hw::ui
