// SPDX-License-Identifier: Apache-2.0
// How the window looks: theme, scale, which parts are open, presentation mode.
#include <QMenu>
#include <QPointer>
#include <QSettings>
#include <QShortcut>
#include <array>
#include <cmath>

#include "ui/dialogs/settings_dialog.h"
#include "ui/models/event_text.h"
#include "ui/theme/theme.h"
#include "ui/window/bottom_dock.h"
#include "ui/window/coach_mark.h"
#include "ui/window/event_caption.h"
#include "ui/window/inspector.h"
#include "ui/window/main_window.h"
#include "ui/window/page.h"
#include "ui/window/rail.h"

namespace hw::ui {

namespace {

constexpr std::array<double, 9> kScales = {0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 3.0};

struct ProfileLook {
  const char* name;
  const char* page;
  bool rail_collapsed;
  bool inspector;
  bool dock;
  int dock_height;  // px at scale 1.0
};
constexpr std::array<ProfileLook, 3> kProfiles = {{{"learn", "cluster", false, true, true, 168},
                                                   {"debug", "partitions", true, true, true, 260},
                                                   {"operate", "topics", false, true, false, 168}}};

const ProfileLook& look_of(const QString& name) {
  for (const ProfileLook& look : kProfiles) {
    if (name == QLatin1String(look.name)) {
      return look;
    }
  }
  return kProfiles.front();
}

QString key(const QString& profile, const char* what) {
  return QStringLiteral("layout/%1/%2").arg(profile, QLatin1String(what));
}

// What a theme is called.
QString theme_title(Theme::Choice choice) {
  switch (choice) {
    case Theme::Choice::system:
      return MainWindow::tr("As the desktop");
    case Theme::Choice::light:
      return MainWindow::tr("Light");
    case Theme::Choice::dark:
      return MainWindow::tr("Dark");
    case Theme::Choice::contrast_light:
      return MainWindow::tr("High contrast, light");
    case Theme::Choice::contrast_dark:
      return MainWindow::tr("High contrast, dark");
  }
  return {};
}

}  // namespace

void MainWindow::addLookCommands() {
  const auto add = [this](const char* id, const QString& title, const QKeySequence& keys,
                          std::function<void(const QVariantMap&)> run, QStringList more = {}) {
    const bool added = commands_->add({QString::fromLatin1(id), title, keys, std::move(run), {}, std::move(more)});
    Q_ASSERT(added);
    Q_UNUSED(added);
  };
  add("theme.toggle", tr("Switch between light and dark"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_L),
      [this](const QVariantMap&) {
        const Theme& theme = Theme::current();
        chooseTheme(Theme::nameOf(theme.highContrast() ? (theme.dark() ? Theme::Choice::contrast_light : Theme::Choice::contrast_dark)
                                                       : (theme.dark() ? Theme::Choice::light : Theme::Choice::dark)));
      },
      {tr("theme"), tr("dark"), tr("light")});
  for (const Theme::Choice choice : {Theme::Choice::system, Theme::Choice::light, Theme::Choice::dark,
                                     Theme::Choice::contrast_light, Theme::Choice::contrast_dark}) {
    const QString name = Theme::nameOf(choice);
    add(qPrintable(QStringLiteral("theme.") + name), tr("Theme: %1").arg(theme_title(choice)), {},
        [this, name](const QVariantMap&) { chooseTheme(name); }, {tr("theme"), tr("contrast")});
  }
  add("motion.toggle", tr("Reduce motion, or not"), {}, [this](const QVariantMap&) {
    Theme& t = Theme::current();
    t.setReduceMotion(!t.reduceMotion());
    if (options_.persist) {
      QSettings().setValue(QStringLiteral("reduce_motion"), t.reduceMotion());
    }
    say(t.reduceMotion() ? tr("Motion is reduced") : tr("Motion is on"));
  });
  add("scale.up", tr("Larger"), QKeySequence(Qt::CTRL | Qt::Key_Plus), [this](const QVariantMap&) {
    const double now = Theme::current().userScale();
    for (const double next : kScales) {
      if (next > now + 0.01) {
        setUserScale(next);
        return;
      }
    }
  }, {tr("zoom"), tr("scale")});
  add("scale.down", tr("Smaller"), QKeySequence(Qt::CTRL | Qt::Key_Minus), [this](const QVariantMap&) {
    const double now = Theme::current().userScale();
    double wanted = kScales.front();
    for (const double next : kScales) {
      wanted = next < now - 0.01 ? next : wanted;
    }
    setUserScale(wanted);
  }, {tr("zoom"), tr("scale")});
  add("scale.reset", tr("Normal size"), QKeySequence(Qt::CTRL | Qt::Key_0), [this](const QVariantMap& args) {
    setUserScale(args.value(QStringLiteral("percent"), 100).toDouble() / 100.0);
  }, {tr("zoom"), tr("scale")});
  // On most keyboards the plus is above the equals sign.
  auto* plus = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Equal), this);
  connect(plus, &QShortcut::activated, this, [this] { commands_->run(QStringLiteral("scale.up")); });
  add("view.present", tr("Present: only the page, larger"), QKeySequence(Qt::Key_F5),
      [this](const QVariantMap&) { setPresenting(!presenting_); }, {tr("presentation")});
  add("layout.learn", tr("Layout: learn"), {}, [this](const QVariantMap&) { setProfile(QStringLiteral("learn")); }, {tr("profile")});
  add("layout.debug", tr("Layout: debug"), {}, [this](const QVariantMap&) { setProfile(QStringLiteral("debug")); }, {tr("profile")});
  add("layout.operate", tr("Layout: operate"), {}, [this](const QVariantMap&) { setProfile(QStringLiteral("operate")); }, {tr("profile")});
  add("layout.reset", tr("Reset layout"), {}, [this](const QVariantMap&) { resetLayout(); }, {tr("profile")});
  add("hints.reset", tr("Show the hints of the first start again"), {}, [this](const QVariantMap&) {
    if (options_.persist) {
      QSettings().setValue(QStringLiteral("hints"), true);
    }
    endHints();
    hints_on_ = true;
    hint_step_ = 0;
    hint_waits_ = false;
    showPage(pages_.front()->id());
    updateHint();
  });
  add("app.settings", tr("Settings…"), QKeySequence(Qt::CTRL | Qt::Key_Comma),
      [this](const QVariantMap&) {
        auto* dialog = new SettingsDialog(*commands_, profile_, this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->open();
      },
      {tr("preferences"), tr("options")});
}

void MainWindow::chooseTheme(const QString& name) {
  const auto choice = Theme::choiceOf(name);
  if (!choice) {
    return;
  }
  Theme::current().setChoice(*choice);
  if (options_.persist) {
    QSettings().setValue(QStringLiteral("theme"), name);
  }
  applyWidth();
}

void MainWindow::themeMenu(const QPoint& global) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const Theme::Choice now = Theme::current().choice();
  for (const Theme::Choice choice : {Theme::Choice::system, Theme::Choice::light, Theme::Choice::dark,
                                     Theme::Choice::contrast_light, Theme::Choice::contrast_dark}) {
    QAction* action = menu->addAction(theme_title(choice));
    action->setCheckable(true);
    action->setChecked(choice == now);
    const QString name = Theme::nameOf(choice);
    connect(action, &QAction::triggered, this, [this, name] { chooseTheme(name); });
  }
  menu->addSeparator();
  for (const char* id : {"scale.up", "scale.down", "scale.reset"}) {
    const Command* command = commands_->find(QString::fromLatin1(id));
    QAction* action = menu->addAction(command->title);
    action->setShortcut(command->shortcut);
    action->setShortcutContext(Qt::WidgetShortcut);
    const QString wanted = command->id;
    connect(action, &QAction::triggered, this, [this, wanted] { commands_->run(wanted); });
  }
  menu->addSeparator();
  connect(menu->addAction(tr("Settings…")), &QAction::triggered, this,
          [this] { commands_->run(QStringLiteral("app.settings")); });
  menu->popup(global);
}

void MainWindow::setUserScale(double scale) {
  Theme& theme = Theme::current();
  theme.setScale(scale);
  if (options_.persist) {
    QSettings().setValue(QStringLiteral("scale"), theme.userScale());
  }
  applyWidth();
  say(tr("Size %1 %").arg(std::lround(theme.userScale() * 100)));
}

void MainWindow::setPresenting(bool on) {
  if (on == presenting_) {
    return;
  }
  presenting_ = on;
  if (on && coach_ != nullptr) {
    coach_->deleteLater();
    coach_ = nullptr;
  }
  Theme::current().setPresenting(on);
  applyWidth();
  const auto& recent = *session_->view()->recent;
  captioned_ = recent.empty() ? 0 : recent.back().number;  // what is past is not told
  if (!on && caption_ != nullptr) {
    caption_->deleteLater();
    caption_ = nullptr;
  }
  focusPage();
}

void MainWindow::caption() {
  if (!presenting_) {
    return;
  }
  const observe::ViewPtr view = session_->view();
  const auto& recent = *view->recent;
  if (recent.empty() || recent.back().number <= captioned_) {
    return;
  }
  QString sentence;
  for (auto it = recent.rbegin(); it != recent.rend() && it->number > captioned_ && sentence.isEmpty(); ++it) {
    const EventText text = describe_event(*it, *view);
    if (!text.detail && !text.internal) {
      sentence = text.sentence;
    }
  }
  captioned_ = recent.back().number;
  if (sentence.isEmpty()) {
    return;
  }
  if (caption_ == nullptr) {
    caption_ = new EventCaption(centralWidget());
  }
  caption_->tell(sentence);
}

// --- layouts

void MainWindow::setProfile(const QString& name) {
  storeProfile();
  profile_ = QString::fromLatin1(look_of(name).name);
  applyProfile();
  showPage(QString::fromLatin1(look_of(name).page));
  if (options_.persist) {
    QSettings().setValue(QStringLiteral("profile"), profile_);
  }
}

void MainWindow::applyProfile() {
  const ProfileLook& look = look_of(profile_);
  const QSettings settings;
  const auto value = [&](const char* what, const QVariant& usual) {
    return options_.persist ? settings.value(key(profile_, what), usual) : usual;
  };
  const Theme& theme = Theme::current();
  rail_wanted_collapsed_ = value("rail_collapsed", look.rail_collapsed).toBool();
  inspector_open_ = value("inspector", look.inspector).toBool();
  inspector_open_narrow_ = value("inspector_narrow", false).toBool();
  dock_->setOpenHeight(theme.px(value("dock_height", look.dock_height).toDouble()));
  dock_->setOpen(value("dock", look.dock).toBool());
  applyRail();
}

void MainWindow::storeProfile() const {
  if (!options_.persist) {
    return;
  }
  QSettings settings;
  settings.setValue(key(profile_, "rail_collapsed"), rail_wanted_collapsed_);
  settings.setValue(key(profile_, "inspector"), inspector_open_);
  settings.setValue(key(profile_, "inspector_narrow"), inspector_open_narrow_);
  settings.setValue(key(profile_, "dock_height"), dock_->openHeight() / Theme::current().scale());
  settings.setValue(key(profile_, "dock"), dock_->isOpen());
}

void MainWindow::resetLayout() {
  if (options_.persist) {
    QSettings settings;
    settings.remove(QStringLiteral("layout/") + profile_);
  }
  applyProfile();
  say(tr("The layout is as it was at first"));
}

}  // namespace hw::ui
