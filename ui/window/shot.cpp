// SPDX-License-Identifier: Apache-2.0
#include "ui/window/shot.h"

#include <QApplication>
#include <QCursor>
#include <QPainter>
#include <QPixmap>
#include <QTimer>
#include <cstdio>

#include "ui/theme/theme.h"
#include "ui/window/main_window.h"
#include "ui/window/page.h"

namespace hw::ui {

QPixmap picture_of(MainWindow* window) {
  QPixmap picture(window->size());
  picture.fill(Qt::black);
  window->render(&picture);
  // Dialogs and menus are windows of their own: paint them where they would stand.
  QPainter painter(&picture);
  const auto top_levels = QApplication::topLevelWidgets();
  for (QWidget* other : top_levels) {
    if (other != window && other->isVisible() && other->isWindow()) {
      const QPoint at = window->mapFromGlobal(other->mapToGlobal(QPoint(0, 0)));
      other->render(&painter, at);
      painter.setPen(Theme::current().colors().border);
      painter.drawRect(QRect(at, other->size()).adjusted(-1, -1, 0, 0));
    }
  }
  return picture;
}

namespace {

void take(MainWindow* window, const QString& file) {
  const QPixmap picture = picture_of(window);
  if (!picture.save(file, "PNG")) {
    std::fprintf(stderr, "highwater: cannot write %s\n", qUtf8Printable(file));
    QApplication::exit(1);
    return;
  }
  std::printf("%s %dx%d, frame p95 %.1f ms over %lld frames\n", qUtf8Printable(file), window->width(),
              window->height(), window->meter().percentile(0.95), static_cast<long long>(window->meter().frames()));
  QApplication::exit(0);
}

}  // namespace

void schedule_shot(MainWindow* window, const ShotOptions& options) {
  QCursor::setPos(QPoint(-100, -100));  // nothing looks hovered
  window->resize(options.size);
  window->show();
  const bool produce = options.page == QLatin1String("produce");
  const bool dialog = options.page == QLatin1String("create-topic");
  const bool keys = options.page == QLatin1String("palette");
  const bool first_run = options.page == QLatin1String("first-run");
  // What is no page but a command away from one.
  const QString command = options.page == QLatin1String("present")    ? QStringLiteral("view.present")
                          : options.page == QLatin1String("doctor")   ? QStringLiteral("connect.doctor")
                          : options.page == QLatin1String("settings") ? QStringLiteral("app.settings")
                                                                      : QString();
  if (!produce && !first_run && !dialog && !keys && command.isEmpty() && window->page(options.page) == nullptr) {
    std::fprintf(stderr, "highwater: no page %s. There are:", qUtf8Printable(options.page));
    for (const Page* page : window->pages()) {
      std::fprintf(stderr, " %s", qUtf8Printable(page->id()));
    }
    std::fprintf(stderr, " produce first-run create-topic palette present doctor settings\n");
    QTimer::singleShot(0, window, [] { QApplication::exit(1); });
    return;
  }
  QTimer::singleShot(options.settle_ms, window, [window, options, produce, dialog, keys, command] {
    if (const auto selection = Selection::parse(options.selection); selection) {
      window->select(*selection);
    }
    if (produce) {
      window->commands().run(QStringLiteral("produce.open"));
    } else if (dialog) {
      window->commands().run(QStringLiteral("topic.create"), {{QStringLiteral("name"), QStringLiteral("payments")}});
    } else if (!command.isEmpty()) {
      window->commands().run(command);
    } else if (keys) {
      window->commands().run(QStringLiteral("omnibox.open"));
    } else {
      window->showPage(options.page);
    }
    if (!options.filter.isEmpty()) {
      window->commands().run(QStringLiteral("filter.apply"),
                             {{QStringLiteral("page"), options.page}, {QStringLiteral("text"), options.filter}});
    }
    // One more second: pages read, layouts settle.
    QTimer::singleShot(1'000, window, [window, options] { take(window, options.file); });
  });
}

}  // namespace hw::ui
