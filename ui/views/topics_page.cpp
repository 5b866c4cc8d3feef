// SPDX-License-Identifier: Apache-2.0
#include "ui/views/topics_page.h"

#include <algorithm>
#include <set>
#include <utility>

#include <QAbstractButton>
#include <QCheckBox>
#include <QPainter>
#include <QSplitter>

#include "ui/dialogs/add_partitions_dialog.h"
#include "ui/dialogs/create_topic_dialog.h"
#include "ui/dialogs/delete_records_dialog.h"
#include "ui/dialogs/question_dialog.h"
#include "ui/models/group_lag.h"
#include "ui/painting/text.h"
#include "ui/session/session_admin.h"
#include "ui/session/undo_list.h"
#include "ui/theme/theme.h"
#include "ui/views/list_filter.h"
#include "ui/views/topic_details.h"
#include "ui/views/undo_bar.h"
#include "ui/window/command_registry.h"
#include "ui/window/controls.h"
#include "ui/window/seen_width.h"

namespace hw::ui {

namespace {

constexpr int kNamesMeasured = 300;  // for the width of their column
constexpr int kSettleMs = 1'100;  // rates need a second look once nothing moves any more

// A stack of outlined lanes: what a topic will look like.
void draw_topics(QPainter& p, const QRectF& r) {
  const Colors& c = Theme::current().colors();
  const double x = r.center().x() - 130;
  for (int lane = 0; lane < 3; ++lane) {
    const double y = r.top() + 12 + lane * 34;
    p.setPen(QPen(c.edge, 1.0, Qt::DashLine));
    p.setBrush(Qt::NoBrush);
    p.drawRect(QRectF(x, y, 260, 18).adjusted(0.5, 0.5, -0.5, -0.5));
    p.setRenderHint(QPainter::Antialiasing, false);
    const int cells = 14 - lane * 4;
    for (int i = 0; i < cells; ++i) {
      p.fillRect(QRectF(x + 4 + i * 9, y + 4, 8, 10), c.leader_fill);
    }
    p.fillRect(QRectF(x + 4, y + 3, cells * 9 - 1, 2), c.leader);
    p.setRenderHint(QPainter::Antialiasing);
  }
}

// As many names as are read at a glance, and how many there are beside.
QString several(const QStringList& names) {
  return names.size() > 8 ? TopicsPage::tr("%1 and %2 more").arg(names.mid(0, 7).join(QStringLiteral(", ")), format_count(names.size() - 7))
                          : names.join(QStringLiteral(", "));
}

}  // namespace

TopicsPage::TopicsPage(QWidget* parent)
    : ListPage({QStringLiteral("topics"), tr("Topics"), QStringLiteral("topics"), QKeySequence(Qt::Key_T), tr("Operate")},
               {.vocabulary = topic_vocabulary(),
                .hint = QStringLiteral("size > 1 MiB && lag > 0"),
                .table_name = tr("Topics"),
                .table_id = QStringLiteral("topicTable"),
                .frame_ms = 100,
                .settle_ms = kSettleMs},
               parent) {
  internal_ = new QCheckBox(tr("internal"), this);
  internal_->setToolTip(tr("Topics that Kafka keeps for itself"));
  header()->addLeft(internal_);
  header()->addAction(QStringLiteral("plus"), tr("New topic"), QStringLiteral("topic.create"));
  copy_ = header()->addAction(QStringLiteral("copy"), tr("Copy…"), QStringLiteral("topic.copy"));
  copy_->setToolTip(tr("A new topic with the same configuration"));
  grow_ = header()->addAction(QStringLiteral("partitions"), tr("Grow…"), QStringLiteral("topic.grow"));
  grow_->setToolTip(tr("Add partitions, after a look at the keys that will move"));
  delete_ = header()->addAction(QStringLiteral("trash"), tr("Delete…"), QStringLiteral("topic.delete"));

  model_ = new TopicModel(this);
  table()->setSelectionMode(QAbstractItemView::ExtendedSelection);
  setModel(
      model_,
      [](const QModelIndex& index, bool selected) {
        const Colors& c = Theme::current().colors();
        CellLook look;
        look.glyph = static_cast<Glyph>(index.data(TopicModel::glyph_role).toInt());
        look.first = index.column() == TopicModel::name;
        switch (index.column()) {
          case TopicModel::name:
            look.role = selected ? FontRole::data_strong : FontRole::data;
            look.color = index.data(TopicModel::internal_role).toBool() ? c.text3 : c.text;
            look.elide = Qt::ElideMiddle;
            break;
          case TopicModel::records:
            look.color = c.text;
            break;
          case TopicModel::policy:
            look.role = FontRole::control;
            break;
          case TopicModel::groups:
            look.items = true;
            break;
          default:
            break;
        }
        return look;
      },
      [](int column) { return column == TopicModel::name || column == TopicModel::policy; });
  connect(table()->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
    const QString topic = model_->topicAt(index.row());
    if (quiet_) {
      return;
    }
    showCurrent();
    if (!topic.isEmpty() && selection().topic != topic) {
      Q_EMIT selectionRequested(Selection::ofTopic(topic));
    }
  });
  connect(table()->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] { refreshNotice(); });
  connect(table(), &QTableView::activated, this, [this](const QModelIndex& index) {
    Q_EMIT openRequested(Selection::ofTopic(model_->topicAt(index.row())));
  });
  connect(internal_, &QCheckBox::toggled, this, [this](bool on) {
    model_->setInternalShown(on);
    refresh();
  });

  details_ = new TopicDetails(splitter());
  connect(details_, &TopicDetails::recordsCounted, this, [this](const QString& topic, qlonglong records) {
    model_->setCounted(topic, records);
    refresh();
  });
  connect(details_, &TopicDetails::applied, this, [this] { undoBar()->say({}, false); });
  setDetails(details_, 1, 1);
}

void TopicsPage::attach(Session* session) {
  ListPage::attach(session);
  details_->attach(session);
  refresh();
}

void TopicsPage::addCommands(CommandRegistry& commands) {
  const auto any = [this] { return !selection().topic.isEmpty() || !selectedTopics().isEmpty(); };
  commands.add({QStringLiteral("topic.create"), tr("Create topic…"), QKeySequence(Qt::CTRL | Qt::Key_N),
                [this](const QVariantMap& args) { createTopic(args.value(QStringLiteral("name")).toString(), args.value(QStringLiteral("reason")).toString()); }, {}, {tr("new")}});
  commands.add({QStringLiteral("topic.copy"), tr("Copy topic…"), {}, [this](const QVariantMap& args) { copyTopic(chosen(args)); }, any, {tr("clone")}});
  commands.add({QStringLiteral("topic.grow"), tr("Add partitions…"), {},
                [this](const QVariantMap& args) { growTopic(chosen(args)); }, any, {tr("grow"), tr("partitions")}});
  commands.add({QStringLiteral("topic.delete"), tr("Delete topic…"), {},
                [this](const QVariantMap& args) {
                  const QStringList many = selectedTopics();
                  const bool here = isVisible() && !args.contains(QStringLiteral("topic")) && many.size() > 1;
                  deleteTopics(here ? many : QStringList{chosen(args)});
                },
                any, {tr("remove")}});
  commands.add({QStringLiteral("topic.delete_records"), tr("Delete records before here…"), {},
                [this](const QVariantMap& args) {
                  const Selection& s = selection();
                  const bool record = s.kind == Selection::Kind::record || s.kind == Selection::Kind::offset_range;
                  deleteRecords(chosen(args), args.value(QStringLiteral("partition"), s.inPartition() ? s.partition : -1).toInt(),
                                args.value(QStringLiteral("offset"), record ? static_cast<qlonglong>(s.offset) : -1).toLongLong());
                },
                any, {tr("truncate"), tr("purge")}});
  commands.add({QStringLiteral("topic.configs"), tr("Show the configuration of a topic"), {},
                [this](const QVariantMap& args) {
                  const QString topic = chosen(args);
                  Q_EMIT commandRequested(QStringLiteral("page.topics"), {});
                  Q_EMIT selectionRequested(Selection::ofTopic(topic));
                  details_->table()->setFocus();
                },
                any, {tr("settings"), tr("retention")}});
  commands.add({QStringLiteral("topic.review"), tr("Review staged configuration changes"), {},
                [this](const QVariantMap&) { details_->review(); }, [this] { return !details_->configs()->staged().empty(); },
                {tr("apply"), tr("config")}});
}

QString TopicsPage::chosen(const QVariantMap& args) const {
  const QString named = args.value(QStringLiteral("topic")).toString();
  if (!named.isEmpty()) {
    return named;
  }
  if (isVisible()) {
    const QString current = model_->topicAt(table()->currentIndex().row());
    if (!current.isEmpty()) {
      return current;
    }
  }
  return selection().topic;
}

QStringList TopicsPage::selectedTopics() const {
  QStringList out;
  for (const QModelIndex& index : table()->selectionModel()->selectedRows()) {
    out << model_->topicAt(index.row());
  }
  return out;
}

void TopicsPage::refresh() {
  if (session() == nullptr) {
    return;
  }
  const double seconds = lap();
  const observe::ViewPtr now = session()->view();
  model_->hold(table()->viewport()->underMouse());
  if (filter()->filtering()) {
    model_->setMatcher([program = filter()->program()](const TopicFacts& f) { return matches(*program, f); });
  } else {
    model_->setMatcher(nullptr);
  }
  const bool before = std::exchange(quiet_, true);
  model_->update(*now, seconds);
  quiet_ = before;
  if (model_->rowCount() != fitted_rows_) {
    fitColumns();
  }
  if (!wanted_.isEmpty() && model_->rowOf(wanted_) >= 0) {
    const QString topic = std::exchange(wanted_, {});
    selectRow(topic);
    Q_EMIT selectionRequested(Selection::ofTopic(topic));
  } else if (!table()->currentIndex().isValid() && model_->rowCount() > 0) {
    const int row = model_->rowOf(selection().topic);
    selectRow(model_->topicAt(std::max(0, row)));
  }
  showCurrent();
  refreshNotice();
  filter()->setCounts({.shown = model_->rowCount(), .total = model_->total()});
  // Rates need a second look once nothing moves any more.
  if (model_->moving()) {
    settleIn(kSettleMs);
  }
}

void TopicsPage::showCurrent() {
  const QString topic = model_->topicAt(table()->currentIndex().row());
  details_->setVisible(!topic.isEmpty());
  details_->showTopic(topic);
  details_->refresh(model_->facts(topic));
}

void TopicsPage::refreshNotice() {
  const int total = model_->total();
  const auto marked = static_cast<int>(table()->selectionModel()->selectedRows().size());
  QString count = model_->rowCount() == total ? tr("%Ln topic(s)", nullptr, total) : tr("%1 of %2").arg(format_count(model_->rowCount()), format_count(total));
  if (marked > 1) {
    count += QStringLiteral(" · ") + tr("%Ln selected", nullptr, marked);
  }
  header()->setCount(count);
  for (QAbstractButton* button : {copy_, grow_}) {
    button->setEnabled(marked == 1);
  }
  delete_->setEnabled(marked > 0);
  const auto empty = [this] {
    PageNotice notice;
    notice.kind = PageNotice::Kind::empty;
    notice.title = tr("No topic yet");
    notice.text = tr("A topic is a named log, split into partitions. It begins to exist when somebody creates it, or when a client "
                     "first asks for it, unless auto.create.topics.enable is off.");
    notice.drawing = draw_topics;
    notice.action_text = tr("Create topic");
    notice.action_command = QStringLiteral("topic.create");
    notice.second_text = tr("Start demo traffic");
    notice.second_command = QStringLiteral("demo.toggle");
    notice.command_hint = tr("or send something yourself");
    notice.command_line = QStringLiteral("echo hello | kcat -b %1 -P -t orders").arg(session()->bootstrap());
    return notice;
  };
  // Where nothing is, a filter hides nothing.
  showState(model_->rowCount(), total, total > 0 && filter()->filtering(), empty, tr("0 of %1 topics").arg(format_count(total)));
}

void TopicsPage::selectRow(const QString& topic) {
  const int row = model_->rowOf(topic);
  const bool before = std::exchange(quiet_, true);
  if (row >= 0) {
    table()->setCurrentIndex(model_->index(row, 0));
    table()->selectRow(row);
  } else {
    table()->clearSelection();
  }
  quiet_ = before;
}

void TopicsPage::setSelection(const Selection& selection) {
  Page::setSelection(selection);
  if (selection.topic.isEmpty() || model_->topicAt(table()->currentIndex().row()) == selection.topic) {
    return;
  }
  if (model_->rowOf(selection.topic) >= 0) {
    selectRow(selection.topic);
    if (isVisible()) {
      showCurrent();
    }
  }
}

void TopicsPage::setWidthClass(int width_class) {
  // Rare actions give up their words first.
  for (QAbstractButton* button : {copy_, grow_, delete_}) {
    static_cast<Button*>(button)->setTextShown(width_class >= 0);
  }
  fitColumns();
}

void TopicsPage::fitColumns() {
  const Theme& t = Theme::current();
  const int room = seen_width(table());
  const double wide = room / t.scale();
  // A column goes before the name and the groups have less than their 320: nothing is to be scrolled sideways.
  table()->setColumnHidden(TopicModel::rate_out, wide < 930);
  table()->setColumnHidden(TopicModel::factor, wide < 980);
  table()->setColumnHidden(TopicModel::rate_in, wide < 812);
  table()->setColumnHidden(TopicModel::policy, wide < 752);
  const int widths[] = {0, 52, 38, 112, 72, 94, 58, 58, 88, 0, wide < 1000 ? 72 : 90};
  // Rates give way to longer names: those of the chosen topic are said below.
  fitted_rows_ = model_->rowCount();
  const QFontMetrics letters(t.font(FontRole::data));
  int longest = 0;
  for (int row = 0; row < std::min(fitted_rows_, kNamesMeasured); ++row) {
    longest = std::max(longest, letters.horizontalAdvance(model_->topicAt(row)));
  }
  const auto name_room = [&] {
    int others = t.px(132);
    for (int i = TopicModel::partitions; i < TopicModel::column_count; ++i) {
      others += i == TopicModel::groups || table()->isColumnHidden(i) ? 0 : t.px(widths[i]);
    }
    return room - others;
  };
  for (const int column : {TopicModel::rate_out, TopicModel::rate_in}) {
    if (longest + t.px(28) > name_room()) {
      table()->setColumnHidden(column, true);
    }
  }
  int used = 0;
  for (int i = TopicModel::partitions; i < TopicModel::column_count; ++i) {
    if (i != TopicModel::groups && !table()->isColumnHidden(i)) {
      table()->horizontalHeader()->resizeSection(i, t.px(widths[i]));
      used += t.px(widths[i]);
    }
  }
  const int rest = std::max(t.px(260), room - used);
  // The name first: of two topics that differ at the end, half a name tells nothing.
  const int groups = std::clamp(rest - std::max(t.px(270), longest + t.px(28)), t.px(132), std::max(t.px(132), std::min(rest * 42 / 100, t.px(420))));
  table()->horizontalHeader()->resizeSection(TopicModel::name, rest - groups);
  table()->horizontalHeader()->resizeSection(TopicModel::groups, groups);
}

Glyph TopicsPage::attention(const FaultFacts& /*faults*/) const { return model_->attention(); }

void TopicsPage::createTopic(const QString& name, const QString& reason) {
  auto* dialog = new CreateTopicDialog(session(), window());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  if (!name.isEmpty()) {
    dialog->setTopicName(name);
  }
  dialog->setReason(reason);
  connect(dialog, &CreateTopicDialog::created, this, [this](const QString& topic) {
    undoBar()->say(tr("Topic %1 created.").arg(topic), false);
    wanted_ = topic;
    refresh();
    if (!wanted_.isEmpty()) {
      Q_EMIT selectionRequested(Selection::ofTopic(topic));
    }
  });
  dialog->open();
}

void TopicsPage::copyTopic(const QString& from) {
  const observe::ViewPtr view = session()->view();
  const observe::TopicView* topic = view->find_topic(from.toStdString());
  if (topic == nullptr) {
    return;
  }
  auto* dialog = new CreateTopicDialog(session(), window());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  std::vector<std::pair<std::string, std::string>> configs(topic->configs.begin(), topic->configs.end());
  const TopicFacts* facts = model_->facts(from);
  dialog->copyOf(from, static_cast<int>(topic->partitions.size()), facts == nullptr ? 1 : static_cast<int>(facts->factor), std::move(configs));
  connect(dialog, &CreateTopicDialog::created, this, [this, from](const QString& name) {
    undoBar()->say(tr("Topic %1 created with the configuration of %2; records were not copied.").arg(name, from), false);
    wanted_ = name;
    refresh();
  });
  dialog->open();
}

void TopicsPage::growTopic(const QString& name) {
  if (session()->view()->find_topic(name.toStdString()) == nullptr) {
    undoBar()->say(tr("Select a topic first"), true);
    return;
  }
  auto* dialog = new AddPartitionsDialog(session(), name, window());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &AddPartitionsDialog::grown, this, [this](const QString& topic, int before, int total) {
    undoBar()->say(tr("%1 has %2 partitions now, %3 before.").arg(topic, format_count(total), format_count(before)), false);
    refresh();
  });
  dialog->open();
}

void TopicsPage::deleteRecords(const QString& name, std::int32_t partition, std::int64_t offset) {
  if (session()->view()->find_topic(name.toStdString()) == nullptr) {
    undoBar()->say(tr("Select a topic first"), true);
    return;
  }
  auto* dialog = new DeleteRecordsDialog(session(), name, partition, offset, window());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &DeleteRecordsDialog::deleted, this, [this](const QString& topic, qlonglong records) {
    undoBar()->say(tr("%1 records of %2 deleted.").arg(format_count(records), topic), false);
    refresh();
  });
  dialog->open();
}

void TopicsPage::deleteTopics(const QStringList& names) {
  refresh();  // this page may be hidden; what is told below is of now
  const observe::ViewPtr view = session()->view();
  QStringList there;
  std::int64_t partitions = 0;
  std::int64_t records = 0;
  std::int64_t bytes = 0;
  bool at_most = false;
  std::set<QString> groups;
  std::int64_t unread = 0;
  for (const QString& name : names) {
    const observe::TopicView* topic = view->find_topic(name.toStdString());
    if (topic == nullptr) {
      continue;
    }
    there << name;
    partitions += static_cast<std::int64_t>(topic->partitions.size());
    if (const TopicFacts* facts = model_->facts(name); facts != nullptr) {
      records += facts->records;
      at_most = at_most || facts->at_most;
      bytes += facts->bytes;
    }
    for (const auto& [id, group] : *view->groups) {
      for (const auto& c : group->committed) {
        if (c.topic == topic->name) {
          groups.insert(QString::fromStdString(id));
          unread += c.counters == nullptr ? 0 : partition_lag(*topic, c.partition, c.counters->offset.get()).records;
        }
      }
    }
  }
  if (there.isEmpty()) {
    undoBar()->say(tr("Select a topic first"), true);
    return;
  }
  const bool one = there.size() == 1;
  auto* question = new QuestionDialog(one ? tr("Delete topic %1?").arg(there.front()) : tr("Delete %Ln topics?", nullptr, static_cast<int>(there.size())),
                                      tr("Records are gone for good. Clients that still use a deleted topic may create it again, empty, "
                                         "if the broker allows that."),
                                      window());
  question->setAttribute(Qt::WA_DeleteOnClose);
  if (!one) {
    question->addFact(tr("Topics"), several(there));
  }
  question->addFact(tr("Partitions"), format_count(partitions));
  question->addFact(tr("Records"), (at_most && records > 0 ? tr("at most %1") : QStringLiteral("%1")).arg(format_count(records)));
  question->addFact(tr("Size"), format_bytes(bytes));
  QStringList readers(groups.begin(), groups.end());
  question->addFact(tr("Read by"), readers.isEmpty() ? tr("no group") : several(readers));
  if (unread > 0) {
    // What two groups have not read counts twice, so that this may be more than there is.
    question->addFact(tr("Not read yet"), (groups.size() == 1 ? tr("%1 records") : tr("%1 records, all groups added up")).arg(format_count(unread)));
  }
  // A command that names only some of them would not be the same.
  constexpr qsizetype kNamed = 4;
  if (there.size() <= kNamed) {
    const QString topics = one ? there.front() : QStringLiteral("'%1'").arg(there.join(QLatin1Char('|')));
    question->addCommand(QStringLiteral("kafka-topics.sh --bootstrap-server %1 --delete --topic %2").arg(session()->bootstrap(), topics));
  }
  question->addCancel()->setFocus();
  question->addAnswer(one ? tr("Delete topic") : tr("Delete %Ln topics", nullptr, static_cast<int>(there.size())), QuestionDialog::AnswerKind::danger);
  connect(question, &QuestionDialog::answered, this, [this, there](int index) {
    if (index != 1) {
      return;
    }
    struct Outcome {
      int left = 0;
      int deleted = 0;
      QStringList refused;
    };
    auto outcome = std::make_shared<Outcome>();
    outcome->left = static_cast<int>(there.size());
    const QPointer<TopicsPage> self(this);
    for (const QString& name : there) {
      session()->deleteTopic(name.toStdString(), [self, name, there, outcome](const QString& error) {
        if (self == nullptr) {
          return;
        }
        if (error.isEmpty()) {
          ++outcome->deleted;
          if (self->selection().topic == name) {
            Q_EMIT self->selectionRequested({});
          }
        } else {
          outcome->refused << QStringLiteral("%1: %2").arg(name, error);
        }
        if (--outcome->left > 0) {
          return;
        }
        if (!outcome->refused.isEmpty()) {
          self->undoBar()->say(tr("Not deleted: %1").arg(outcome->refused.mid(0, 3).join(QStringLiteral("; "))), true);
        } else {
          self->undoBar()->say(there.size() == 1 ? tr("Topic %1 deleted.").arg(name) : tr("%Ln topics deleted.", nullptr, outcome->deleted), false);
        }
        self->refresh();
      });
    }
  });
  question->open();
}

}  // namespace hw::ui
