// SPDX-License-Identifier: Apache-2.0
// The commands of the main window, and what they do beyond calling one of its parts.
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QLineEdit>
#include <QMenu>
#include <QShortcut>
#include <QStandardPaths>

#include "ui/dialogs/question_dialog.h"
#include "ui/dialogs/shortcuts_dialog.h"
#include "ui/filter/filter_language.h"
#include "ui/painting/text.h"
#include "ui/session/undo_list.h"
#include "ui/theme/theme.h"
#include "ui/window/bottom_dock.h"
#include "ui/window/coach_mark.h"
#include "ui/window/command_source.h"
#include "ui/window/controls.h"
#include "ui/window/inspector.h"
#include "ui/window/main_window.h"
#include "ui/window/object_menu.h"
#include "ui/window/omnibox.h"
#include "ui/window/page.h"
#include "ui/window/top_bar.h"

namespace hw::ui {

namespace {

bool bare(const QKeySequence& keys) {
  const QKeyCombination combination = keys[0];
  const bool function_key = combination.key() >= Qt::Key_F1 && combination.key() <= Qt::Key_F35;
  return (combination.keyboardModifiers() & ~Qt::ShiftModifier) == Qt::NoModifier && !function_key;
}

}  // namespace

void MainWindow::addPageCommands() {
  for (Page* p : pages_) {
    const QString id = p->id();
    commands_->add({QStringLiteral("page.") + id, tr("Go to %1").arg(p->title()), p->shortcut(),
                    [this, id](const QVariantMap& args) {
                      if (const auto at = Selection::parse(args.value(QStringLiteral("address")).toString()); at) {
                        select(*at);
                      }
                      showPage(id);
                    },
                    {}, {p->title()}});
    if (auto* source = dynamic_cast<CommandSource*>(p); source != nullptr) {
      source->addCommands(*commands_);
    }
  }
  // Commands with a modifier or a function key are ordinary shortcuts; bare keys see eventFilter().
  for (const Command& command : commands_->all()) {
    if (!command.shortcut.isEmpty() && !bare(command.shortcut)) {
      auto* shortcut = new QShortcut(command.shortcut, this);
      const QString id = command.id;
      connect(shortcut, &QShortcut::activated, this, [this, id] { commands_->run(id); });
    }
  }
}

void MainWindow::addCommands() {
  const auto add = [this](const char* id, const QString& title, const QKeySequence& keys,
                          std::function<void(const QVariantMap&)> run, std::function<bool()> enabled = {},
                          QStringList more = {}) {
    const bool added = commands_->add({QString::fromLatin1(id), title, keys, std::move(run), std::move(enabled), std::move(more)});
    Q_ASSERT(added);
    Q_UNUSED(added);
  };
  add("omnibox.open", tr("Search and commands"), QKeySequence(Qt::CTRL | Qt::Key_K),
      [this](const QVariantMap&) { top_->omnibox()->open(); });
  add("omnibox.commands", tr("All commands"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P),
      [this](const QVariantMap&) { top_->omnibox()->open(QStringLiteral(">")); }, {}, {tr("palette")});
  add("omnibox.objects", tr("Find an object"), QKeySequence(Qt::CTRL | Qt::Key_P),
      [this](const QVariantMap&) { top_->omnibox()->open(QStringLiteral("@")); });
  add("view.pause", tr("Pause or resume the view"), QKeySequence(Qt::Key_Space),
      [this](const QVariantMap&) { setPaused(!paused_); });
  add("view.live", tr("Return to live"), QKeySequence(Qt::Key_L), [this](const QVariantMap&) { setPaused(false); },
      [this] { return paused_; });
  add("produce.open", tr("Produce a record"), QKeySequence(Qt::Key_P), [this](const QVariantMap&) { openProduce(); },
      [this] { return produce_ != nullptr; }, {tr("send"), tr("message")});
  add("edit.undo", tr("Undo the last change to the cluster"), QKeySequence(Qt::CTRL | Qt::Key_Z), [this](const QVariantMap&) { undo(); },
      [this] { return UndoList::of(session_)->newest() != nullptr; }, {tr("take back")});
  add("demo.toggle", tr("Start or stop demo traffic"), {}, [this](const QVariantMap&) {
    session_->setDemoTraffic(!session_->demoTraffic());
    say(session_->demoTraffic() ? tr("Demo traffic is running") : tr("Demo traffic stopped"));
  });
  add("cluster.retry", tr("Try to start the cluster again"), {}, [this](const QVariantMap&) { session_->retry(); },
      [this] { return session_->trouble().has_value() && session_->trouble()->can_retry; }, {tr("failed")});
  add("cluster.copy_trouble", tr("Copy what went wrong with the cluster"), {},
      [this](const QVariantMap&) {
        const SessionTrouble trouble = session_->trouble().value_or(SessionTrouble());
        QApplication::clipboard()->setText(trouble.what + QStringLiteral(": ") + trouble.why);
        say(tr("Copied what went wrong"));
      },
      [this] { return session_->trouble().has_value(); }, {tr("failed"), tr("error")});
  add("connect.copy", tr("Copy the address for clients"), {}, [this](const QVariantMap&) {
    QApplication::clipboard()->setText(session_->bootstrapList());
    say(tr("Copied %1").arg(session_->bootstrapList()));
  }, {}, {tr("bootstrap"), tr("connect")});
  add("cluster.keep", tr("Keep this cluster on disk…"), QKeySequence(Qt::CTRL | Qt::Key_S),
      [this](const QVariantMap&) { keepCluster(); }, [this] { return session_->storage().in_memory; }, {tr("save")});
  add("selection.copy", tr("Copy address of the selection"), QKeySequence(Qt::CTRL | Qt::Key_C),
      [this](const QVariantMap&) {
        QApplication::clipboard()->setText(selection_.address());
        say(tr("Copied %1").arg(selection_.address()));
      },
      [this] { return !selection_.none(); });
  add("selection.clear", tr("Clear the selection"), QKeySequence(Qt::Key_Escape),
      [this](const QVariantMap&) {
        if (presenting_) {
          setPresenting(false);
        } else {
          select({});
        }
      },
      [this] { return presenting_ || !selection_.none(); });
  add("selection.open", tr("Open the selection"), QKeySequence(Qt::CTRL | Qt::Key_Return),
      [this](const QVariantMap&) { open(Selection(selection_)); }, [this] { return !selection_.none(); });
  add("explain.show", tr("Explain the selection"), QKeySequence(Qt::Key_E), [this](const QVariantMap&) {
    setInspectorOpen(true);
    inspector_->showTab(Inspector::Tab::explain);
  });
  add("inspector.toggle", tr("Show or hide the inspector"), QKeySequence(Qt::Key_I),
      [this](const QVariantMap&) { setInspectorOpen(!inspector_->isVisible()); });
  add("dock.toggle", tr("Show or hide the dock"), QKeySequence(Qt::Key_Q),
      [this](const QVariantMap&) { dock_->setOpen(!dock_->isOpen()); });
  add("events.show", tr("Show events"), {}, [this](const QVariantMap&) {
    dock_->setOpen(true);
    dock_->showTab(BottomDock::Tab::events);
  });
  add("events.about", tr("Events about the selection"), {}, [this](const QVariantMap& args) {
    const QString address = args.value(QStringLiteral("address"), selection_.address()).toString();
    dock_->setOpen(true);
    dock_->showTab(BottomDock::Tab::events);
    dock_->setFilter(QStringLiteral("about contains %1").arg(filter::quoted(address)));
  });
  add("client.disconnect", tr("Disconnect a client"), {}, [this](const QVariantMap& args) { disconnectClient(args); },
      {}, {tr("connection")});
  add("connect.help", tr("Connect your app"), {}, [this](const QVariantMap&) {
    showPage(QStringLiteral("clients"));
    QMetaObject::invokeMethod(page(QStringLiteral("clients")), "showConnect");
  }, {}, {tr("client"), tr("snippet"), tr("code")});
  add("connect.doctor", tr("Who can reach this cluster"), {}, [this](const QVariantMap&) {
    showPage(QStringLiteral("clients"));
    QMetaObject::invokeMethod(page(QStringLiteral("clients")), "showDoctor");
  }, {}, {tr("listener"), tr("docker"), tr("network")});
  add("selection.menu", tr("Menu of the selection"), QKeySequence(Qt::SHIFT | Qt::Key_F10),
      [this](const QVariantMap&) {
        const QRect place = currentPage()->anchor(selection_);
        objectMenu(selection_, currentPage()->mapToGlobal(place.isEmpty() ? currentPage()->rect().center() : place.center()));
      },
      [this] { return !selection_.none(); });
  add("history.back", tr("Back"), QKeySequence(Qt::ALT | Qt::Key_Left), [this](const QVariantMap&) { travel(-1); },
      [this] { return history_at_ > 0; });
  add("history.forward", tr("Forward"), QKeySequence(Qt::ALT | Qt::Key_Right), [this](const QVariantMap&) { travel(1); },
      [this] { return history_at_ + 1 < history_.size(); });
  add("history.back_key", tr("Back one step"), QKeySequence(Qt::Key_Backspace), [this](const QVariantMap&) { travel(-1); },
      [this] { return history_at_ > 0; });
  add("filter.focus", tr("Filter this page"), QKeySequence(Qt::Key_Slash),
      [this](const QVariantMap&) { currentPage()->focusFilter(); });
  // Arguments: page (its id), topic, text in the language of the page's filter.
  add("filter.apply", tr("Apply a filter to a page"), {}, [this](const QVariantMap& args) {
    const QString topic = args.value(QStringLiteral("topic")).toString();
    if (!topic.isEmpty()) {
      select(Selection::ofTopic(topic));
    }
    showPage(args.value(QStringLiteral("page"), currentPage()->id()).toString());
    const QString text = args.value(QStringLiteral("text")).toString();
    if (text.isEmpty()) {
      currentPage()->focusFilter();
    } else if (!currentPage()->applyFilter(text)) {
      say(tr("This page has no filter"));
    }
  });
  add("filter.find", tr("Find on this page"), QKeySequence(Qt::CTRL | Qt::Key_F),
      [this](const QVariantMap&) { currentPage()->focusFilter(); });
  add("view.table", tr("Show this page as a table"), QKeySequence(Qt::CTRL | Qt::Key_T),
      [this](const QVariantMap&) {
        if (!currentPage()->toggleTable()) {
          say(tr("This page has no other form"));
        }
      });
  add("view.export", tr("Export what this page shows\u2026"), QKeySequence(Qt::CTRL | Qt::Key_E), [this](const QVariantMap&) {
    if (!currentPage()->exportView()) {
      say(tr("This page has nothing to export"));
    }
  });
  add("window.fullscreen", tr("Full screen"), QKeySequence(Qt::Key_F11),
      [this](const QVariantMap&) { setWindowState(windowState() ^ Qt::WindowFullScreen); });
  add("help.keys", tr("Keys"), QKeySequence(Qt::Key_F1),
      [this](const QVariantMap&) { ShortcutsDialog(*commands_, this).exec(); }, {}, {tr("help"), tr("shortcuts")});
  add("app.quit", tr("Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q), [this](const QVariantMap&) { close(); });
}

void MainWindow::clusterMenu(const QPoint& global) {
  QMenu menu(this);
  const auto add = [&](const QString& text, const char* id) {
    QAction* action = menu.addAction(text);
    const QString command = QString::fromLatin1(id);
    action->setEnabled(commands_->enabled(command));
    action->setShortcut(commands_->find(command)->shortcut);
    connect(action, &QAction::triggered, this, [this, command] { commands_->run(command); });
    return action;
  };
  add(tr("Copy address %1").arg(session_->bootstrap()), "connect.copy");
  menu.addSeparator();
  add(session_->demoTraffic() ? tr("Stop demo traffic") : tr("Start demo traffic"), "demo.toggle");
  add(tr("Create topic…"), "topic.create");
  add(tr("Keep this cluster on disk…"), "cluster.keep");
  add(tr("Connect your app"), "connect.help");
  menu.addSeparator();
  add(tr("Settings…"), "app.settings");
  add(tr("Keys"), "help.keys");
  add(tr("Quit"), "app.quit");
  menu.exec(global);
}

void MainWindow::disconnectClient(const QVariantMap& args) {
  std::uint64_t id = args.value(QStringLiteral("connection")).toULongLong();
  if (id == 0 && selection_.kind == Selection::Kind::connection) {
    id = selection_.connection;
  }
  const observe::ViewPtr view = session_->view();
  const auto found = view->connections->find(ConnectionId(id));
  if (found == view->connections->end()) {
    say(tr("Select a connection first"));
    return;
  }
  const observe::ConnectionView& c = *found->second;
  const QString name = QString::fromStdString(c.client_id.empty() ? c.peer : c.client_id);
  const QPointer<MainWindow> self(this);
  session_->closeConnection(id, [self, name](const QString& error) {
    if (self == nullptr) {
      return;
    }
    if (error.isEmpty()) {
      self->say(tr("Disconnected %1; most clients connect again at once").arg(name));
    } else {
      self->say(tr("%1 is still connected: %2").arg(name, error), true);
    }
  });
}

void MainWindow::objectMenu(const Selection& selection, const QPoint& global) {
  const Selection about = selection.none() ? Selection::ofCluster() : selection;
  if (about != selection_) {
    select(about);
  }
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setObjectName(QStringLiteral("objectMenu"));
  fill_object_menu(menu, about, {commands_, session_, pages_});
  menu->popup(global);
}

void MainWindow::openProduce() {
  if (coach_ != nullptr) {
    coach_->deleteLater();
    coach_ = nullptr;
    hint_waits_ = hint_step_ == 0;  // until the record is there
  }
  dock_->setOpen(true);
  dock_->showTab(BottomDock::Tab::produce);
  produce_->openFor(selection_);
}

void MainWindow::undo() {
  const QPointer<MainWindow> self(this);
  UndoList::of(session_)->undo({}, [self](const QString& text, const QString& error) {
    if (self == nullptr) {
      return;
    }
    self->say(error.isEmpty() ? tr("Taken back: %1").arg(text) : tr("Not taken back: %1. %2").arg(text, error), !error.isEmpty());
  });
}

void MainWindow::keepCluster() {
  const QString base = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) +
                       QStringLiteral("/highwater/clusters/");
  QString suggestion = base + session_->clusterName();
  for (int i = 2; QDir(suggestion).exists() && i < 100; ++i) {
    suggestion = base + session_->clusterName() + QLatin1Char('-') + QString::number(i);
  }
  auto* question = new QuestionDialog(tr("Keep this cluster"),
                                      tr("Topics, records and group positions are copied to a folder, and the cluster goes "
                                         "on there, in Kafka's own file format. Start it again with <b>--dir</b>."),
                                      this);
  question->setAttribute(Qt::WA_DeleteOnClose);
  QLineEdit* path = question->addInput(tr("Folder"), suggestion);
  question->addCancel();
  Button* keep = question->addAnswer(tr("Keep here"), QuestionDialog::AnswerKind::primary);
  connect(path, &QLineEdit::textChanged, keep, [keep](const QString& text) { keep->setEnabled(!text.trimmed().isEmpty()); });
  connect(path, &QLineEdit::returnPressed, keep, &Button::click);
  connect(question, &QuestionDialog::answered, this, [this, path](int index) {
    if (index != 1) {
      return;
    }
    const QString directory = QDir::cleanPath(path->text().trimmed());
    const QPointer<MainWindow> self(this);
    session_->keep(directory, [self, directory](const QString& error) {
      if (self == nullptr) {
        return;
      }
      if (!error.isEmpty()) {
        self->say(tr("The cluster was not kept: %1").arg(error), true);
        return;
      }
      self->top_->setStorage(self->session_->storage());
      self->inspector_->refresh();
      self->say(tr("The cluster now lives in %1").arg(directory));
    });
  });
  question->open();
}

}  // namespace hw::ui
