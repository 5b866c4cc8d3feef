// SPDX-License-Identifier: Apache-2.0
// The first minute: at most one hint at a time, each waiting for something to have happened.
//
//   0  a broker is running and has a topic      → how to connect, or press P
//   1  a record from the produce panel landed   → where it is and why there
//   2  its message has been looked at           → three ways on
// "Don't show hints" ends them for good; so does an application that connects, except for the last one.
#include <QLayout>
#include <QSettings>

#include "ui/theme/theme.h"
#include "ui/window/coach_mark.h"
#include "ui/window/main_window.h"
#include "ui/window/page.h"

namespace hw::ui {

void MainWindow::updateHint() {
  if (!hints_on_ || session_ == nullptr || presenting_) {
    return;
  }
  if (session_->foreignRecords() == 0) {
    foreign_since_.invalidate();
  } else if (!foreign_since_.isValid()) {
    foreign_since_.start();
  } else if (foreign_since_.elapsed() > 2'000 && hint_step_ < 2) {
    endHints();  // the app is connected: there is nothing left to say
    return;
  }
  if (coach_ == nullptr && !hint_waits_) {
    showHint(hint_step_);
  }
  placeHint();
}

void MainWindow::hintDone(int step) {
  if (step != hint_step_ || !hints_on_) {
    return;
  }
  if (coach_ != nullptr) {
    coach_->deleteLater();
    coach_ = nullptr;
  }
  hint_step_ = step + 1;
  hint_waits_ = false;
  if (hint_step_ > 2) {
    endHints();
    return;
  }
  updateHint();
}

void MainWindow::showHint(int step) {
  const observe::ViewPtr view = session_->view();
  Page* home = pages_.front();
  const Colors& c = Theme::current().colors();
  const auto mono = [&](const QString& text) {
    return QStringLiteral("<span style=\"font-family:'JetBrains Mono';color:%1\">%2</span>").arg(c.text.name(), text.toHtmlEscaped());
  };
  CoachMark::Hint hint;
  Page* page = currentPage();
  switch (step) {
    case 0: {
      const bool ready = !view->nodes.empty() && view->nodes.begin()->second->state == observe::NodeView::State::running;
      if (!ready || page != home || view->topics->empty()) {
        return;
      }
      hint.title = tr("A real broker, on this machine");
      hint.text = tr("Any Kafka client can use<br>%1.<br>Connect your app, or press <b>P</b> to send a record and watch it land.")
                      .arg(mono(session_->bootstrap()));
      if (view->nodes.size() > 1) {
        hint.title = tr("A real cluster, on this machine");
        hint.text = tr("Any Kafka client can use<br>%1.<br>Press <b>P</b> to send a record, or <b>K</b> to kill the leader that is selected and watch "
                       "another take over.")
                        .arg(mono(session_->bootstrap()));
      }
      hint.action_text = tr("Produce");
      hint.action_cap = QStringLiteral("P");
      break;
    }
    case 1:
      if (page != home && page->id() != QLatin1String("partitions")) {
        return;
      }
      hint.title = tr("Your record has landed");
      hint.text = tr("It is %1: partition %2, because of its key or because the producer took turns. Look at it among the others.")
                      .arg(mono(hint_about_.address()))
                      .arg(hint_about_.partition);
      hint.action_text = tr("Show messages");
      hint.action_cap = QStringLiteral("3");
      break;
    case 2:
      hint.title = tr("Where to go from here");
      hint.text = tr("Everything can be clicked, and <b>E</b> explains what is selected.");
      hint.doors = QStringList{tr("Connect your app"), tr("Create a topic"), tr("Explore on my own")};
      break;
    default:
      return;
  }
  coach_ = new CoachMark(page);
  coach_->setHint(hint);
  connect(coach_, &CoachMark::actionClicked, this, [this, step] {
    if (step == 0) {
      commands_->run(QStringLiteral("produce.open"));
    } else {
      commands_->run(QStringLiteral("page.messages"), {{QStringLiteral("address"), hint_about_.address()}});
    }
  });
  connect(coach_, &CoachMark::doorClicked, this, [this](int door) {
    endHints();
    if (door == 0) {
      showPage(QStringLiteral("clients"));
    } else if (door == 1) {
      commands_->run(QStringLiteral("topic.create"));
    }
  });
  connect(coach_, &CoachMark::hintsRefused, this, &MainWindow::endHints);
  coach_->show();
}

void MainWindow::placeHint() {
  if (coach_ == nullptr || session_ == nullptr) {
    return;
  }
  Page* page = currentPage();
  const observe::ViewPtr view = session_->view();
  // As usual, or narrow and high where the picture is crowded; where there is no place at all the
  // page makes room below.
  std::optional<QPoint> spot;
  const CoachMark::Form now = coach_->form();
  for (const CoachMark::Form form :
       {now == CoachMark::Form::narrow ? now : CoachMark::Form::card,
        now == CoachMark::Form::narrow ? CoachMark::Form::card : CoachMark::Form::narrow}) {
    if (spot = page->freeSpot(coach_->cardSize(form)); spot) {
      page->layout()->removeWidget(coach_);
      coach_->setForm(form);
      break;
    }
  }
  if (!spot) {
    coach_->placeStrip(page->width());
    if (page->layout()->indexOf(coach_) < 0) {
      page->layout()->addWidget(coach_);  // below all that the page shows
    }
    return;
  }
  Selection about;
  if (hint_step_ == 0 && !view->nodes.empty()) {
    about = Selection::ofNode(view->nodes.begin()->first.value());
  } else if (hint_step_ == 1) {
    about = Selection::ofPartition(hint_about_.topic, hint_about_.partition);
  }
  coach_->place(*spot, about.none() ? QRect() : page->anchor(about));
  coach_->raise();
}

void MainWindow::endHints() {
  hints_on_ = false;
  hint_step_ = 3;
  if (coach_ != nullptr) {
    coach_->deleteLater();
    coach_ = nullptr;
  }
  if (options_.persist) {
    QSettings().setValue(QStringLiteral("hints"), false);
  }
}

}  // namespace hw::ui
