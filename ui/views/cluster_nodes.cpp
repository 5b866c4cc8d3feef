// SPDX-License-Identifier: Apache-2.0
// ClusterPage: nodes are ended, paused and cut off from here. K asks once; X offers everything.
#include <algorithm>

#include <QAbstractButton>
#include <QMenu>
#include <QPointer>

#include "ui/dialogs/question_dialog.h"
#include "ui/models/replica_facts.h"
#include "ui/painting/text.h"
#include "ui/session/session_brokers.h"
#include "ui/session/undo_list.h"
#include "ui/views/cluster_page.h"
#include "ui/window/command_registry.h"
#include "ui/window/controls.h"

namespace hw::ui {

// The node that is named, selected, or leads the selected partition.
int ClusterPage::nodeOf(const QVariantMap& args) const {
  if (const auto named = args.find(QStringLiteral("node")); named != args.end()) {
    return named->toInt();
  }
  const Selection& s = selection();
  if (s.kind == Selection::Kind::node) {
    return s.node;
  }
  if (session() == nullptr || !s.inPartition()) {
    return -1;
  }
  const observe::ViewPtr now = session()->view();
  const observe::TopicView* topic = now->find_topic(s.topic.toStdString());
  const auto index = static_cast<std::size_t>(s.partition);
  return topic == nullptr || s.partition < 0 || index >= topic->partitions.size() || !topic->partitions[index]
             ? -1
             : topic->partitions[index]->leader.value();
}

void ClusterPage::addNodeCommands(CommandRegistry& commands) {
  commands_ = &commands;
  const auto condition = [this] {
    const SessionNodes& nodes = SessionNodes::of(session());
    NodeCondition at = nodes.conditions().size() > 1 ? nodes.conditionOf(nodeOf({})) : NodeCondition();
    at.node = at.working ? -1 : at.node;
    return at;
  };
  const QStringList words{tr("fault"), tr("chaos"), tr("node")};
  const auto add = [&](const char* id, const QString& title, const QKeySequence& keys, std::function<void(int)> run,
                       std::function<bool(const NodeCondition&)> may) {
    commands.add({QString::fromLatin1(id), title, keys,
                  [this, run = std::move(run)](const QVariantMap& args) {
                    if (const int node = nodeOf(args); node >= 0) {
                      run(node);
                    }
                  },
                  [condition, may = std::move(may)] {
                    const NodeCondition at = condition();
                    return at.node >= 0 && may(at);
                  },
                  words});
  };
  const auto runs = [](const NodeCondition& c) { return !c.down; };
  add("node.kill_or_start", tr("Kill the node, or start it again"), QKeySequence(Qt::Key_K), [this](int node) { killOrStart(node); },
      [](const NodeCondition&) { return true; });
  add("node.faults", tr("Faults of the node…"), QKeySequence(Qt::Key_X), [this](int node) { openFaults(node); },
      [](const NodeCondition&) { return true; });
  const auto action = [this](NodeAction what) { return [this, what](int node) { act(what, node); }; };
  add("node.kill", tr("Kill the node"), {}, action(NodeAction::kill), runs);
  add("node.cut_power", tr("Cut the node's power: what it did not flush is lost"), {}, action(NodeAction::cut_power), runs);
  add("node.stop", tr("Stop the node cleanly"), {}, action(NodeAction::stop), runs);
  add("node.start", tr("Start the node"), {}, action(NodeAction::start), [](const NodeCondition& c) { return c.down; });
  add("node.pause", tr("Pause the node"), {}, action(NodeAction::pause), [](const NodeCondition& c) { return !c.down && !c.paused; });
  add("node.resume", tr("Resume the node"), {}, action(NodeAction::resume), [](const NodeCondition& c) { return c.paused; });
  add("node.cut_off", tr("Cut the node off from the others"), {}, action(NodeAction::cut_off),
      [](const NodeCondition& c) { return !c.cut_off; });
  add("node.slow", tr("Slow the node's way to the others (%1 ms)").arg(SessionNodes::kSlowMs), {}, action(NodeAction::slow),
      [](const NodeCondition& c) { return !c.slow; });
  add("node.heal", tr("Heal the node's ways to the others"), {}, action(NodeAction::heal),
      [](const NodeCondition& c) { return c.cut_off || c.slow; });
  commands.add({QStringLiteral("node.add"),
                tr("Add a broker"),
                {},
                [this](const QVariantMap&) { addBroker(); },
                [this] { return !adding_ && addsBrokers(); },
                {tr("broker"), tr("node"), tr("grow"), tr("scale out")}});
  commands.add({QStringLiteral("node.remove"),
                tr("Remove the broker from the cluster"),
                {},
                [this](const QVariantMap& args) {
                  if (const int node = nodeOf(args); node >= 0) {
                    removeBroker(node);
                  }
                },
                [this, condition] {
                  const NodeCondition at = condition();
                  return at.node >= 0 && addsBrokers() && staysFor(at.node).isEmpty();
                },
                {tr("broker"), tr("node"), tr("shrink"), tr("unregister")}});
  commands.add({QStringLiteral("nodes.heal_all"), tr("Heal all: every node runs and reaches the others"), {},
                [this](const QVariantMap&) {
                  const QPointer<ClusterPage> self(this);
                  SessionNodes::of(session()).healAll([self](const QString& error) {
                    if (self != nullptr && !error.isEmpty()) {
                      self->tell(tr("Not everything is healed: %1").arg(error), true);
                    }
                  });
                },
                [this] {
                  const auto all = SessionNodes::of(session()).conditions();
                  return std::any_of(all.begin(), all.end(), [](const NodeCondition& c) { return !c.healthy() && !c.working; });
                },
                words});
}

void ClusterPage::act(NodeAction action, int node) {
  const QPointer<ClusterPage> self(this);
  SessionNodes::of(session()).act(action, node, [self, action, node](const QString& error) {
    if (self == nullptr) {
      return;
    }
    const auto happened = [self, action, node](const QString& sentence) { self->noteDone(action, node, sentence); };
    if (!error.isEmpty()) {
      self->tell(tr("Node %1: %2").arg(node).arg(error), true);
      return;
    }
    switch (action) {
      case NodeAction::kill:
        happened(tr("Node %1 was killed: no shutdown, nothing handed over. Press K to start it again.").arg(node));
        break;
      case NodeAction::cut_power: {
        const NodeCondition at = SessionNodes::of(self->session()).conditionOf(node);
        happened(at.lost_bytes > 0 ? tr("Node %1 lost power, and with it %2 that it had written but never flushed. Its in-sync replicas have "
                                        "them. Press K to start it again.")
                                         .arg(node)
                                         .arg(format_bytes(at.lost_bytes))
                                   : tr("Node %1 lost power; all that it had written was flushed. Press K to start it again.").arg(node));
        break;
      }
      case NodeAction::stop:
        happened(tr("Node %1 stopped cleanly; what it led, others lead now.").arg(node));
        break;
      case NodeAction::start:
        happened(tr("Node %1 starts again.").arg(node));
        break;
      case NodeAction::pause:
        happened(tr("Node %1 is paused: its sockets are open and silent.").arg(node));
        break;
      case NodeAction::resume:
        happened(tr("Node %1 goes on.").arg(node));
        break;
      case NodeAction::cut_off:
        happened(tr("Node %1 is cut off from the other nodes; clients still reach it.").arg(node));
        break;
      case NodeAction::slow:
        happened(tr("What node %1 and the others send each other is %2 ms late.").arg(node).arg(SessionNodes::kSlowMs));
        break;
      case NodeAction::heal:
        happened(tr("Node %1 reaches the others again.").arg(node));
        break;
    }
  });
}

// Why a broker cannot be taken out of the cluster; empty: it can.
QString ClusterPage::staysFor(int node) const {
  const observe::ViewPtr now = session()->view();
  const auto& voters = now->quorum->voters;
  if (std::any_of(voters.begin(), voters.end(), [&](const auto& voter) { return voter.id == BrokerId(node); })) {
    return tr("Node %1 votes in the controller quorum and stays.").arg(node);
  }
  int holds = 0;
  for (const auto& [name, topic] : *now->topics) {
    for (const auto& partition : topic->partitions) {
      holds += partition && partition->replica(BrokerId(node)) != nullptr ? 1 : 0;
    }
  }
  return holds == 0 ? QString() : tr("Node %1 holds %Ln replica(s): they have to be moved or deleted first.", nullptr, holds).arg(node);
}

bool ClusterPage::addsBrokers() const {
  const SessionBrokers* brokers = SessionBrokers::of(session());
  return brokers != nullptr && brokers->addsBrokers();
}

void ClusterPage::showAdding(bool adding) {
  adding_ = adding;
  add_broker_->setEnabled(!adding);
}

void ClusterPage::addBroker() {
  showAdding(true);
  const QPointer<ClusterPage> self(this);
  SessionBrokers::of(session())->addBroker([self](std::int32_t node, const QString& error) {
    if (self == nullptr) {
      return;
    }
    self->showAdding(false);
    if (node < 0) {
      self->tell(tr("No broker was added: %1").arg(error), true);
      return;
    }
    self->note({tr("Node %1 has joined. Topics that are created from now on can be placed on it; while it holds nothing, Ctrl+Z takes it out again.")
                    .arg(node)});
    Q_EMIT self->selectionRequested(Selection::ofNode(node));
    UndoList::of(self->session())
        ->add(tr("Node %1 added").arg(node), Selection::ofNode(node).address(), [self, node](std::function<void(QString error)> done) {
          if (self == nullptr) {
            return;
          }
          if (const QString why = self->staysFor(node); !why.isEmpty()) {
            done(why);
            return;
          }
          SessionBrokers::of(self->session())->removeBroker(node, std::move(done));
        });
  });
}

void ClusterPage::removeBroker(int node) {
  if (const QString why = staysFor(node); !why.isEmpty()) {
    tell(why, true);
    return;
  }
  const QPointer<ClusterPage> self(this);
  SessionBrokers::of(session())->removeBroker(node, [self, node](const QString& error) {
    if (self == nullptr) {
      return;
    }
    if (!error.isEmpty()) {
      self->tell(tr("Node %1: %2").arg(node).arg(error), true);
      return;
    }
    self->note({tr("Node %1 was stopped and taken out of the cluster; its folder stays.").arg(node)});
  });
}

// What was done to the node before is over.
void ClusterPage::noteDone(NodeAction action, int node, const QString& sentence) {
  Done& done = done_[node];
  static_cast<void>(drop(done.sentence));
  done = {action, sentence};
  note({sentence});
}

void ClusterPage::killOrStart(int node) {
  if (SessionNodes::of(session()).conditionOf(node).down) {
    act(NodeAction::start, node);
    return;
  }
  if (kill_confirmed_) {
    act(NodeAction::kill, node);
    return;
  }
  const Bereft bereft = bereft_of(*session()->view(), SessionNodes::of(session()).conditions(), node);
  const QString moves = tr("%Ln partition(s) that it leads move to replicas that are in sync, and clients follow.", nullptr, bereft.move);
  const QString wait = tr("%Ln partition(s) have no other replica in sync and stand still until it is back.", nullptr, bereft.wait);
  QStringList means;
  if (bereft.move > 0) {
    means << moves;
  }
  if (bereft.wait > 0) {
    means << wait;
  }
  if (means.isEmpty()) {
    means << tr("It leads no partition.");
  }
  auto* question = new QuestionDialog(tr("Kill node %1?").arg(node),
                                      tr("It ends at once, without a shutdown. %1 <b>K</b> starts it again. This is asked only once.").arg(means.join(QLatin1Char(' '))),
                                      window());
  question->setAttribute(Qt::WA_DeleteOnClose);
  question->addCancel();
  question->addAnswer(tr("Kill node %1").arg(node), QuestionDialog::AnswerKind::danger);
  connect(question, &QuestionDialog::answered, this, [this, node](int index) {
    if (index == 1) {
      kill_confirmed_ = true;
      act(NodeAction::kill, node);
    }
  });
  question->open();
}

void ClusterPage::openFaults(int node) {
  auto* menu = new QMenu(tr("Faults of node %1").arg(node), this);
  menu->setObjectName(QStringLiteral("faultMenu"));
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(tr("Faults of node %1").arg(node))->setEnabled(false);
  menu->addSeparator();
  for (const char* id : {"node.kill", "node.cut_power", "node.stop", "node.start", "node.pause", "node.resume", "node.cut_off", "node.slow",
                         "node.heal", "node.remove", "nodes.heal_all"}) {
    const Command* command = commands_->find(QString::fromLatin1(id));
    if (command == nullptr || (QLatin1String(id) != QLatin1String("nodes.heal_all") && !commands_->enabled(command->id))) {
      continue;
    }
    QAction* action = menu->addAction(command->title);
    action->setEnabled(commands_->enabled(command->id));
    action->setObjectName(command->id);
    connect(action, &QAction::triggered, this, [this, name = command->id, node] {
      commands_->run(name, {{QStringLiteral("node"), node}});
    });
  }
  const QRect place = anchor(Selection::ofNode(node));
  menu->popup(mapToGlobal(place.isEmpty() ? rect().center() : place.bottomLeft()));
}

void ClusterPage::tell(const QString& sentence, bool bad) {
  told_->setTone(bad ? TextLabel::Tone::err : TextLabel::Tone::text);
  told_->setText(sentence);
  told_->setVisible(!sentence.isEmpty());
  told_->setAccessibleName(sentence);
}

}  // namespace hw::ui
