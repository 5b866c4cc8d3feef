// SPDX-License-Identifier: Apache-2.0
// What fits: no label, button or column title is cut on any page or dialog, in a small window, in every theme, at two UI
// scales; text is large enough while presenting; and what a frame of the whole window costs with 10,000 partitions.
#include <QAbstractButton>
#include <QApplication>
#include <QCheckBox>
#include <QDialog>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QSettings>
#include <QSpinBox>
#include <QTableView>
#include <QTest>
#include <QTextDocument>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <memory>
#include <vector>

#include "tests/ui/support/fake_session.h"
#include "tests/ui/window/text_probe.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"
#include "ui/window/inspector.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"
#include "ui/window/page.h"

using namespace hw::ui;

namespace {

QString where(const QWidget* widget, const QString& text) {
  QStringList path;
  for (const QWidget* w = widget->parentWidget(); w != nullptr && path.size() < 3; w = w->parentWidget()) {
    path << QString::fromLatin1(w->metaObject()->className()).section(QStringLiteral("::"), -1);
  }
  return QStringLiteral("\"%1\" in %2").arg(text.left(60), path.join(QStringLiteral(" < ")));
}

// What a person would see cut below `root`, one line each.
QStringList cut_texts(const QWidget* root) {
  QStringList bad;
  for (QWidget* widget : root->findChildren<QWidget*>()) {
    if (!widget->isVisible() || widget->window() != root->window()) {
      continue;
    }
    if (const auto* label = qobject_cast<QLabel*>(widget); label != nullptr && !label->text().isEmpty()) {
      if (label->property("elides").toBool()) {
        continue;  // a name that gives way, and says itself whole in its tooltip
      }
      const QSize wanted = label->wordWrap() ? QSize(0, label->heightForWidth(label->width())) : label->sizeHint();
      if (wanted.width() > label->width() + 1 || wanted.height() > label->height() + 1) {
        bad << QStringLiteral("label %1: %2x%3 of %4x%5").arg(where(label, label->text())).arg(label->width()).arg(label->height()).arg(wanted.width()).arg(wanted.height());
      }
    } else if (const auto* button = qobject_cast<QAbstractButton*>(widget); button != nullptr && !button->text().isEmpty()) {
      if (button->sizeHint().width() > button->width() + 1) {
        bad << QStringLiteral("button %1: %2 of %3").arg(where(button, button->text())).arg(button->width()).arg(button->sizeHint().width());
      }
    } else if (const auto* segments = qobject_cast<SegmentedControl*>(widget); segments != nullptr) {
      if (segments->sizeHint().width() > segments->width() + 1) {
        bad << QStringLiteral("segments %1: %2 of %3").arg(where(segments, segments->accessibleName())).arg(segments->width()).arg(segments->sizeHint().width());
      }
    } else if (const auto* header = qobject_cast<QHeaderView*>(widget); header != nullptr && header->orientation() == Qt::Horizontal && header->model() != nullptr) {
      for (int i = 0; i < header->count(); ++i) {
        const QString title = header->model()->headerData(i, Qt::Horizontal).toString();
        // The title with what stands around it; the room of a sort arrow only where one is.
        const bool sorted = header->isSortIndicatorShown() && header->sortIndicatorSection() == i;
        const int wanted = title.isEmpty() ? 0
                           : sorted        ? header->sectionSizeHint(i)
                                           : header->fontMetrics().horizontalAdvance(title) +
                                                 2 * header->style()->pixelMetric(QStyle::PM_HeaderMargin, nullptr, header);
        if (!header->isSectionHidden(i) && header->sectionSize(i) < wanted) {
          bad << QStringLiteral("title %1: %2 of %3").arg(where(header, title)).arg(header->sectionSize(i)).arg(wanted);
        }
      }
      // A table is not to be scrolled sideways.
      if (const auto* table = qobject_cast<QTableView*>(header->parentWidget()); table != nullptr && header->length() > table->viewport()->width() + 1 && header->count() > 1) {
        bad << QStringLiteral("table %1: %2 of %3").arg(where(header, table->accessibleName())).arg(table->viewport()->width()).arg(header->length());
      }
    }
  }
  return bad;
}

// Columns of a table whose cells do not begin under their title: what is aligned to the left, with
// a glyph before it or without.
QStringList shifted_columns(QTableView* table) {
  QStringList bad;
  const QHeaderView* header = table->horizontalHeader();
  if (!header->isVisible() || table->model()->rowCount() == 0) {
    return bad;
  }
  hw::test::TextProbe probe(table->size());
  table->render(&probe);
  const auto first_in = [&probe](const QRect& place) {
    const auto at = std::find_if(probe.runs().begin(), probe.runs().end(), [&](const auto& run) {
      return QRectF(place).contains(run.rect.center());
    });
    return at == probe.runs().end() ? nullptr : &*at;
  };
  const int top = table->indexAt(QPoint(4, 4)).row();
  for (int i = 0; i < header->count(); ++i) {
    const QModelIndex index = table->model()->index(top, i);
    const bool right = static_cast<Qt::Alignment>(index.data(Qt::TextAlignmentRole).toInt())
                           .testFlag(Qt::AlignRight);
    if (header->isSectionHidden(i) || right || index.data().toString().isEmpty()) {
      continue;
    }
    const QRect cell = table->visualRect(index).translated(table->viewport()->pos());
    const auto* title = first_in(QRect(cell.left(), header->y(), cell.width(), header->height()));
    const auto* text = first_in(cell);
    if (title == nullptr || text == nullptr || !index.data().toString().startsWith(text->text)) {
      continue;  // a picture, or words of its own
    }
    const double shift = text->rect.left() - title->rect.left();
    const double glyph = Theme::current().pxf(14);
    if (std::abs(shift) > 1.5 && shift < glyph) {
      bad << QStringLiteral("%1: %2 is %3 px off")
                 .arg(table->accessibleName(),
                      header->model()->headerData(i, Qt::Horizontal).toString())
                 .arg(shift);
    }
  }
  return bad;
}

// Lines of text as a person reads them: words that were painted one behind the other.
QStringList lines_of(const std::vector<hw::test::TextRun>& runs) {
  QStringList lines;
  QRectF last;
  for (const hw::test::TextRun& run : runs) {
    const bool follows = !lines.isEmpty() && std::abs(run.rect.center().y() - last.center().y()) < 3 && run.rect.left() >= last.right() - 2 &&
                         run.rect.left() - last.right() < 14;
    if (follows) {
      lines.last() += QLatin1Char(' ') + run.text;
    } else {
      lines << run.text;
    }
    last = run.rect;
  }
  return lines;
}

// Offsets and ids are plain digits, counts are grouped: a number of four digits before one of these words counts something.
const QRegularExpression& plain_count() {
  static const QRegularExpression expression(QStringLiteral(
      "(^|[^\\w,.:/@+-])\\d{4,}( now,|(?= (more|topics?|partitions?|replicas?|leaders?|segments?|records?|members?|groups?|clients?|connections?|"
      "events?|keys?|bytes|offsets?|changes?|nodes?|of)\\b))|\\bof \\d{4,}\\b(?! \\w*epoch)"));
  return expression;
}

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

class TestFit : public QObject {
  Q_OBJECT

  std::unique_ptr<FakeSession> session_;
  std::unique_ptr<MainWindow> window_;

  void open(const FakeSession::Options& options, QSize size) {
    session_ = std::make_unique<FakeSession>(options);
    for (int i = 0; i < 40; ++i) {
      session_->tick(250);
    }
    window_ = std::make_unique<MainWindow>(session_.get(), MainWindow::Options{.persist = false, .hints = false});
    window_->resize(size);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    QCoreApplication::processEvents();
  }
  void settle() {
    for (int i = 0; i < 3; ++i) {
      session_->tick(100);
      QCoreApplication::processEvents();
    }
  }

 private slots:
  void initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("highwater-test"));
    QCoreApplication::setApplicationName(QStringLiteral("fit"));
    install_language(*qApp);
    Theme::current().install(*qApp);
  }
  void cleanup() {
    window_.reset();
    session_.reset();
    Theme::current().setPresenting(false);
    Theme::current().setScale(1.0);
    Theme::current().setChoice(Theme::Choice::dark);
  }

  void nothing_is_cut_data() {
    QTest::addColumn<QString>("theme");
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("percent");
    QTest::addColumn<int>("more_topics");
    QTest::addColumn<bool>("inspector");  // opened where it is a strip at first
    QTest::newRow("light, small") << QStringLiteral("light") << QSize(1100, 700) << 100 << 0 << false;
    QTest::newRow("light, small, inspector") << QStringLiteral("light") << QSize(1100, 700) << 100 << 0 << true;
    QTest::newRow("dark, small, 10,000 partitions") << QStringLiteral("dark") << QSize(1100, 700) << 100 << 1'000 << false;
    QTest::newRow("light, usual") << QStringLiteral("light") << QSize(1440, 900) << 100 << 0 << false;
    QTest::newRow("contrast, usual, 150 %") << QStringLiteral("contrast-dark") << QSize(1440, 900) << 150 << 0 << false;
    QTest::newRow("dark, usual, 150 %, inspector") << QStringLiteral("dark") << QSize(1440, 900) << 150 << 0 << true;
    QTest::newRow("dark, large, 10,000 partitions") << QStringLiteral("dark") << QSize(2560, 1440) << 100 << 1'000 << false;
  }
  void nothing_is_cut() {
    QFETCH(QString, theme);
    QFETCH(QSize, size);
    QFETCH(int, percent);
    QFETCH(int, more_topics);
    QFETCH(bool, inspector);
    FakeSession::Options options;
    options.external = true;
    options.more_topics = more_topics;
    open(options, size);
    window_->commands().run(QStringLiteral("theme.") + theme);
    window_->commands().run(QStringLiteral("scale.reset"), {{QStringLiteral("percent"), percent}});
    window_->select(Selection::ofPartition(QStringLiteral("demo.orders"), 1));
    if (inspector) {
      QVERIFY(!window_->inspector()->isVisible());
      window_->commands().run(QStringLiteral("inspector.toggle"));
      QVERIFY(window_->inspector()->isVisible());
    }
    QStringList bad;
    int scenes = 0;
    const auto look = [&](const QString& scene, const QWidget* root) {
      ++scenes;
      QStringList lines = cut_texts(root);
      for (QTableView* table : root->findChildren<QTableView*>()) {
        lines += table->isVisible() ? shifted_columns(table) : QStringList();
      }
      for (const QString& line : std::as_const(lines)) {
        bad << scene + QStringLiteral(": ") + line;
      }
    };
    for (const Page* page : window_->pages()) {
      window_->showPage(page->id());
      settle();
      look(page->id(), window_.get());
      if (window_->currentPage()->toggleTable()) {
        settle();
        look(page->id() + QStringLiteral(" as a table"), window_.get());
        window_->currentPage()->toggleTable();
      }
    }
    const QVariantMap topic{{QStringLiteral("topic"), QStringLiteral("demo.orders")}};
    const QVariantMap group{{QStringLiteral("group"), QStringLiteral("demo.billing")}};
    const std::pair<const char*, QVariantMap> dialogs[] = {{"topic.create", {}}, {"topic.copy", topic}, {"topic.grow", topic}, {"topic.delete", topic},
                                                            {"topic.delete_records", topic}, {"consumer.options", group}, {"group.reset", group},
                                                            {"group.delete", group}, {"app.settings", {}}, {"cluster.keep", {}}};
    for (const auto& [command, args] : dialogs) {
      window_->showPage(QString::fromLatin1(command).startsWith(QLatin1String("topic")) ? QStringLiteral("topics") : QStringLiteral("groups"));
      settle();
      QVERIFY2(window_->commands().run(QString::fromLatin1(command), args), command);
      settle();
      QWidget* dialog = QApplication::activeModalWidget();
      if (dialog == nullptr) {
        continue;  // refused in words, as the reset of a group with members is
      }
      look(QString::fromLatin1(command), dialog);
      dialog->close();
      QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
    QVERIFY2(scenes >= 14, qPrintable(QString::number(scenes)));
    bad.removeDuplicates();
    QVERIFY2(bad.isEmpty(),
             qPrintable(QStringLiteral("%1 texts are cut or shifted\n").arg(bad.size()) +
                        bad.mid(0, 25).join('\n')));
  }

  // With room enough for both nothing of the page is hidden; with less it gives way as far as it can.
  void the_page_gives_way_to_the_inspector_data() {
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("percent");
    QTest::addColumn<int>("least");  // px at scale 1.0 that a page may keep, whatever stands over it
    QTest::newRow("small") << QSize(1100, 700) << 100 << 0;
    QTest::newRow("150 %") << QSize(1440, 900) << 150 << 720;
  }

  void the_page_gives_way_to_the_inspector() {
    QFETCH(QSize, size);
    QFETCH(int, percent);
    QFETCH(int, least);
    open(FakeSession::Options{}, size);
    window_->commands().run(QStringLiteral("scale.reset"), {{QStringLiteral("percent"), percent}});
    window_->commands().run(QStringLiteral("inspector.toggle"));
    QVERIFY(window_->inspector()->isVisible());
    for (const Page* page : window_->pages()) {
      window_->showPage(page->id());
      settle();
      const int edge = window_->inspector()->mapTo(window_.get(), QPoint(0, 0)).x();
      const int right = page->mapTo(window_.get(), QPoint(page->width(), 0)).x();
      QVERIFY2(right <= edge || page->width() <= Theme::current().px(least),
               qPrintable(QStringLiteral("%1: to %2, the inspector is at %3").arg(page->id()).arg(right).arg(edge)));
    }
  }

  // With less it stands over the page; what a row is about, and how it is, stays beside it.
  void columns_stay_beside_the_inspector_data() {
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("percent");
    QTest::newRow("small") << QSize(1100, 700) << 100;
    QTest::newRow("150 %") << QSize(1440, 900) << 150;
  }

  void columns_stay_beside_the_inspector() {
    QFETCH(QSize, size);
    QFETCH(int, percent);
    FakeSession::Options options;
    options.external = true;
    open(options, size);
    window_->commands().run(QStringLiteral("scale.reset"), {{QStringLiteral("percent"), percent}});
    window_->commands().run(QStringLiteral("inspector.toggle"));
    QVERIFY(window_->inspector()->isVisible());
    settle();
    const int edge = window_->inspector()->mapTo(window_.get(), QPoint(0, 0)).x();
    QStringList bad;
    const auto look = [&](const char* page, const QTableView* table, const QStringList& titles) {
      int seen = 0;
      for (int i = 0; i < table->model()->columnCount(); ++i) {
        const QString title = table->model()->headerData(i, Qt::Horizontal).toString();
        if (!titles.contains(title)) {
          continue;
        }
        ++seen;
        const int right = table->viewport()->mapTo(window_.get(), QPoint(table->columnViewportPosition(i) + table->columnWidth(i), 0)).x();
        if (table->isColumnHidden(i) || right > edge) {
          bad << QStringLiteral("%1, %2: to %3, the inspector is at %4").arg(QLatin1String(page), title).arg(right).arg(edge);
        }
      }
      QCOMPARE(seen, static_cast<int>(titles.size()));
    };
    const auto table_of = [this](const QString& first) {
      const auto all = window_->currentPage()->findChildren<QTableView*>();
      const auto at = std::find_if(all.begin(), all.end(), [&](const QTableView* table) {
        return table->isVisible() && table->model()->headerData(0, Qt::Horizontal).toString() == first;
      });
      return at == all.end() ? nullptr : *at;
    };
    const std::pair<const char*, QStringList> pages[] = {{"topics", {QStringLiteral("Name"), QStringLiteral("In sync")}},
                                                         {"groups", {QStringLiteral("Group"), QStringLiteral("State"), QStringLiteral("Status")}},
                                                         {"clients", {QStringLiteral("Client")}}};
    for (const auto& [page, titles] : pages) {
      window_->showPage(QString::fromLatin1(page));
      settle();
      QVERIFY2(table_of(titles.front()) != nullptr, page);
      look(page, table_of(titles.front()), titles);
    }
    QVERIFY2(bad.isEmpty(), qPrintable(bad.join(QLatin1Char('\n'))));
    // Closed, the table has its width again.
    window_->showPage(QStringLiteral("topics"));
    settle();
    const QTableView* topics = table_of(QStringLiteral("Name"));
    const auto shown = [topics] {
      int sum = 0;
      for (int i = 0; i < topics->model()->columnCount(); ++i) {
        sum += topics->columnWidth(i);
      }
      return sum;
    };
    const int before = shown();
    window_->commands().run(QStringLiteral("inspector.toggle"));
    settle();
    QVERIFY(shown() > before + 200);
  }

  void counts_are_grouped() {
    QVERIFY(plain_count().match(QStringLiteral("2000 now, then")).hasMatch());
    QVERIFY(plain_count().match(QStringLiteral("and 1988 more")).hasMatch());
    QVERIFY(plain_count().match(QStringLiteral("3 of 1200")).hasMatch());
    QVERIFY(!plain_count().match(QStringLiteral("1,988 more, at offset 1042, demo.orders/1042 of it")).hasMatch());
    FakeSession::Options options;
    options.external = true;
    options.more_topics = 1'000;
    options.more_groups = 1'100;
    open(options, QSize(2560, 1440));
    session_->createTopic({"wide", 2'000, 1, {}}, [](const QString&) {});
    settle();
    session_->produceMany("demo.orders", 0, 3'000, "A");
    session_->setGroup("wide-readers", "wide", 3);
    for (std::uint64_t i = 0; i < 1'200; ++i) {
      session_->connectClient(1'000 + i, "pool", "librdkafka", "2.3.0");
    }
    settle();
    QStringList bad;
    int lines = 0;
    const auto look = [&](const QString& scene, QWidget* root) {
      hw::test::TextProbe probe(root->size());
      root->render(&probe);
      QStringList all = lines_of(probe.runs());
      for (const QSpinBox* box : root->findChildren<QSpinBox*>()) {
        if (box->isVisible() && std::abs(box->value()) >= 1'000 && box->cleanText() == QString::number(box->value())) {
          bad << scene + QStringLiteral(": the box ") + box->accessibleName() + QLatin1Char(' ') +
                     box->cleanText();
        }
      }
      for (const QWidget* widget : root->findChildren<QWidget*>()) {
        if (widget->isVisible()) {
          all << widget->accessibleName() << widget->accessibleDescription() << widget->toolTip();
        }
      }
      lines += static_cast<int>(all.size());
      for (const QString& line : std::as_const(all)) {
        if (plain_count().match(line).hasMatch()) {
          bad << scene + QStringLiteral(": ") + line;
        }
      }
    };
    const Selection chosen[] = {Selection::ofCluster(), Selection::ofTopic(QStringLiteral("wide")), Selection::ofPartition(QStringLiteral("demo.orders"), 0),
                                Selection::ofGroup(QStringLiteral("wide-readers")), Selection::ofConnection(1'000)};
    for (const Selection& selection : chosen) {
      window_->select(selection);
      for (const Page* page : window_->pages()) {
        window_->showPage(page->id());
        settle();
        look(page->id() + QLatin1Char(' ') + selection.address(), window_.get());
      }
    }
    const QVariantMap topic{{QStringLiteral("topic"), QStringLiteral("wide")}};
    const QVariantMap group{{QStringLiteral("group"), QStringLiteral("wide-readers")}};
    const std::pair<const char*, QVariantMap> dialogs[] = {{"topic.create", {}}, {"topic.copy", topic}, {"topic.grow", topic}, {"topic.delete", topic},
                                                            {"topic.delete_records", topic}, {"consumer.options", group}, {"group.delete", group}};
    for (const auto& [command, args] : dialogs) {
      window_->showPage(QString::fromLatin1(command).startsWith(QLatin1String("topic")) ? QStringLiteral("topics") : QStringLiteral("groups"));
      settle();
      QVERIFY2(window_->commands().run(QString::fromLatin1(command), args), command);
      settle();
      QWidget* dialog = QApplication::activeModalWidget();
      QVERIFY2(dialog != nullptr, command);
      look(QString::fromLatin1(command), dialog);
      dialog->close();
      QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
    QVERIFY2(lines > 2'000, qPrintable(QString::number(lines)));
    bad.removeDuplicates();
    QVERIFY2(bad.isEmpty(), qPrintable(QStringLiteral("%1 counts are not grouped\n").arg(bad.size()) + bad.mid(0, 25).join('\n')));
  }

  void presented_text_is_large_on_every_page() {
    open({}, QSize(1440, 900));
    window_->commands().run(QStringLiteral("view.present"));
    QTRY_VERIFY(window_->presenting());
    QStringList small;
    for (const Page* page : window_->pages()) {
      window_->showPage(page->id());
      settle();
      hw::test::TextProbe probe(window_->size());
      window_->render(&probe);
      QVERIFY(!probe.runs().empty());
      for (const hw::test::TextRun& run : probe.runs()) {
        if (run.pixel_size < 15.9 && run.text.size() > 1) {
          small << QStringLiteral("%1: \"%2\" %3").arg(page->id(), run.text).arg(run.pixel_size);
        }
      }
    }
    small.removeDuplicates();
    QVERIFY2(small.isEmpty(), qPrintable(small.mid(0, 12).join('\n')));
  }

  void a_frame_with_10000_partitions_data() {
    QTest::addColumn<QString>("page");
    for (const char* page : {"cluster", "partitions", "messages", "groups", "quorum", "topics", "clients"}) {
      QTest::newRow(page) << QString::fromLatin1(page);
    }
  }
  void a_frame_with_10000_partitions() {
    QFETCH(QString, page);
    FakeSession::Options options;
    options.more_topics = 1'000;
    open(options, QSize(2560, 1440));
    session_->setLoad(20'000);
    window_->select(Selection::ofPartition(QStringLiteral("demo.orders"), 1));
    window_->showPage(page);
    settle();
    std::vector<double> ms;
    for (int i = 0; i < 60; ++i) {
      // The window is told of the frame inside tick(); the fake's own work is taken off.
      session_->blockSignals(true);
      session_->tick(33);
      session_->blockSignals(false);
      const double start = thread_ms();
      Q_EMIT session_->frameReady();
      QCoreApplication::processEvents();
      if (i >= 10) {
        ms.push_back(thread_ms() - start);
      }
    }
    std::sort(ms.begin(), ms.end());
    const double p95 = ms[ms.size() * 95 / 100];
    qInfo("frame of the window with 10,000 partitions, %s: p50 %.2f ms, p95 %.2f ms", qPrintable(page), ms[ms.size() / 2], p95);
    // The budget is 8 ms; twice that in a test, as in tst_ui_scale, and tables follow at 10 Hz in a frame of their own.
    QVERIFY2(ms[ms.size() / 2] <= 16, qPrintable(QString::number(ms[ms.size() / 2])));
    QVERIFY2(p95 <= 32, qPrintable(QString::number(p95)));
  }
};

QTEST_MAIN(TestFit)
#include "tst_fit.moc"
