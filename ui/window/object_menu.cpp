// SPDX-License-Identifier: Apache-2.0
#include "ui/window/object_menu.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QGuiApplication>

#include "ui/models/object_export.h"
#include "ui/window/page.h"

namespace hw::ui {

namespace {

using Kind = Selection::Kind;

struct ObjectMenu {
  Q_DECLARE_TR_FUNCTIONS(ObjectMenu)
};

QVariantMap at(const Selection& s) { return {{QStringLiteral("address"), s.address()}}; }

// The pages on which an object of this kind can be seen.
QStringList pages_for(Kind kind) {
  switch (kind) {
    case Kind::cluster:
    case Kind::node:
      return {QStringLiteral("cluster"), QStringLiteral("topics"), QStringLiteral("clients")};
    case Kind::topic:
      return {QStringLiteral("cluster"), QStringLiteral("partitions"), QStringLiteral("messages"), QStringLiteral("topics")};
    case Kind::partition:
      return {QStringLiteral("cluster"), QStringLiteral("partitions"), QStringLiteral("messages"), QStringLiteral("topics")};
    case Kind::offset_range:
    case Kind::record:
      return {QStringLiteral("partitions"), QStringLiteral("messages"), QStringLiteral("topics")};
    case Kind::group:
    case Kind::member:
      return {QStringLiteral("cluster"), QStringLiteral("groups")};
    case Kind::connection:
      return {QStringLiteral("cluster"), QStringLiteral("clients")};
    case Kind::none:
      break;
  }
  return {};
}

class Filler {
 public:
  Filler(const Selection& selection, const ObjectMenuContext& context) : selection_(selection), context_(context) {}

  void command(QMenu* menu, const QString& id, const QString& text, const QVariantMap& args = {}) const {
    const Command* found = context_.commands->find(id);
    if (found == nullptr) {
      return;
    }
    QAction* action = menu->addAction(text.isEmpty() ? found->title : text);
    action->setShortcut(found->shortcut);
    action->setShortcutContext(Qt::WidgetShortcut);  // shown only: the window itself listens
    action->setEnabled(context_.commands->enabled(id));
    action->setObjectName(id);
    QObject::connect(action, &QAction::triggered, menu,
                     [commands = context_.commands, id, args] { commands->run(id, args); });
  }

  void copy(QMenu* menu, const QString& text, const QString& content) const {
    if (content.isEmpty()) {
      return;
    }
    QAction* action = menu->addAction(text);
    action->setToolTip(content.left(400));
    QObject::connect(action, &QAction::triggered, menu, [content] { QGuiApplication::clipboard()->setText(content); });
  }

  void show_in(QMenu* menu) const {
    QMenu* sub = menu->addMenu(ObjectMenu::tr("Show in"));
    for (const QString& id : pages_for(selection_.kind)) {
      for (const Page* page : context_.pages) {
        if (page->id() == id) {
          command(sub, QStringLiteral("page.") + id, page->title(), at(selection_));
        }
      }
    }
    sub->setEnabled(!sub->isEmpty());
  }

  void filter_by(QMenu* menu) const {
    QMenu* sub = menu->addMenu(ObjectMenu::tr("Filter by"));
    command(sub, QStringLiteral("events.about"), ObjectMenu::tr("Events about it"), at(selection_));
    if (selection_.kind == Kind::topic) {
      command(sub, QStringLiteral("page.messages"), ObjectMenu::tr("Messages of this topic"), at(selection_));
    } else if (selection_.inPartition()) {
      command(sub, QStringLiteral("page.messages"), ObjectMenu::tr("Messages of this partition"), at(selection_));
    }
  }

  void act(QMenu* menu) const {
    QMenu* sub = menu->addMenu(ObjectMenu::tr("Act"));
    const QVariantMap topic{{QStringLiteral("topic"), selection_.topic}};
    switch (selection_.kind) {
      case Kind::cluster:
      case Kind::node:
        command(sub, QStringLiteral("topic.create"), {});
        command(sub, QStringLiteral("demo.toggle"), context_.session->demoTraffic() ? ObjectMenu::tr("Stop demo traffic")
                                                                                     : ObjectMenu::tr("Start demo traffic"));
        command(sub, QStringLiteral("broker.configs"), {}, {{QStringLiteral("node"), selection_.node}});
        if (selection_.kind == Kind::node) {
          const QVariantMap node{{QStringLiteral("node"), selection_.node}};
          for (const char* id : {"node.kill_or_start", "node.stop", "node.pause", "node.resume", "node.cut_off", "node.slow", "node.heal", "nodes.heal_all"}) {
            if (context_.commands->enabled(QString::fromLatin1(id))) {
              command(sub, QString::fromLatin1(id), {}, node);
            }
          }
        }
        command(sub, QStringLiteral("cluster.keep"), {});
        break;
      case Kind::topic:
        command(sub, QStringLiteral("produce.open"), {});
        command(sub, QStringLiteral("topic.grow"), {}, topic);
        command(sub, QStringLiteral("topic.configs"), {}, topic);
        command(sub, QStringLiteral("topic.copy"), {}, topic);
        command(sub, QStringLiteral("topic.delete_records"), {}, topic);
        sub->addSeparator();
        command(sub, QStringLiteral("topic.delete"), {}, topic);
        break;
      case Kind::partition:
      case Kind::offset_range:
      case Kind::record:
        command(sub, QStringLiteral("produce.open"), {});
        command(sub, QStringLiteral("topic.delete_records"), {}, topic);
        break;
      case Kind::group:
      case Kind::member:
        command(sub, QStringLiteral("consumer.add"), {}, {{QStringLiteral("group"), selection_.group}});
        command(sub, QStringLiteral("consumer.remove"), {}, {{QStringLiteral("group"), selection_.group}});
        command(sub, QStringLiteral("group.rebalance"), {}, {{QStringLiteral("group"), selection_.group}});
        sub->addSeparator();
        command(sub, QStringLiteral("group.configs"), {}, {{QStringLiteral("group"), selection_.group}});
        command(sub, QStringLiteral("group.reset"), {}, {{QStringLiteral("group"), selection_.group}});
        command(sub, QStringLiteral("group.delete"), {}, {{QStringLiteral("group"), selection_.group}});
        break;
      case Kind::connection:
        command(sub, QStringLiteral("client.disconnect"), {},
                {{QStringLiteral("connection"), QVariant::fromValue<qulonglong>(selection_.connection)}});
        break;
      case Kind::none:
        break;
    }
    if (sub->isEmpty()) {
      delete sub;
    }
  }

  void copy_as(QMenu* menu) const {
    QMenu* sub = menu->addMenu(ObjectMenu::tr("Copy as"));
    const QString bootstrap = context_.session->bootstrapList();
    command(sub, QStringLiteral("selection.copy"), ObjectMenu::tr("Address"));
    copy(sub, ObjectMenu::tr("JSON"), object_json(*context_.session->view(), selection_));
    copy(sub, ObjectMenu::tr("Kafka CLI command"), object_kafka_cli(selection_, bootstrap));
    copy(sub, ObjectMenu::tr("kcat command"), object_kcat(selection_, bootstrap));
    copy(sub, ObjectMenu::tr("hw command"), object_hw(selection_, bootstrap));
    copy(sub, ObjectMenu::tr("Python snippet"), object_python(selection_, bootstrap));
  }

 private:
  const Selection& selection_;
  const ObjectMenuContext& context_;
};

}  // namespace

void fill_object_menu(QMenu* menu, const Selection& selection, const ObjectMenuContext& context) {
  const Filler fill(selection, context);
  fill.command(menu, QStringLiteral("selection.open"), ObjectMenu::tr("Open %1").arg(selection.address()));
  fill.show_in(menu);
  fill.filter_by(menu);
  fill.command(menu, QStringLiteral("explain.show"), ObjectMenu::tr("Explain"));
  menu->addSeparator();
  fill.act(menu);
  fill.copy_as(menu);
}

}  // namespace hw::ui
