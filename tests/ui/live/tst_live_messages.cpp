// SPDX-License-Identifier: Apache-2.0
// The Messages page in the real window on the real engine: find a record among many, see its bytes, drag on the volume, export
// and read back, resend.
#include <QAbstractButton>
#include <QApplication>
#include <QClipboard>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>
#include <memory>
#include <set>

#include "ui/filter/filter_box.h"
#include "ui/panels/record_panel.h"
#include "ui/session/live_session.h"
#include "ui/theme/theme.h"
#include "ui/views/hex_view.h"
#include "ui/views/messages_page.h"
#include "ui/views/record_detail.h"
#include "ui/views/record_model.h"
#include "ui/views/volume_strip.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"

using namespace hw;      // NOLINT(google-build-using-namespace): a test
using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

namespace {

constexpr const char* kTopic = "many";
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kRecords = 5'000;
#else
constexpr int kRecords = 40'000;
#endif

}  // namespace

class TestLiveMessages : public QObject {
  Q_OBJECT

  std::unique_ptr<LiveSession> session_;
  std::unique_ptr<MainWindow> window_;
  MessagesPage* page_ = nullptr;

  void produce(const std::string& key, const std::string& value, std::optional<std::int32_t> partition, int& done) {
    ProduceCommand command;
    command.topic = kTopic;
    command.partition = partition;
    command.key = Bytes::copy_of(key);
    command.value = Bytes::copy_of(value);
    command.headers = {{"trace", Bytes::copy_of("ab12")}};
    session_->produce(command, [&done](const ProduceAnswer& answer) { done += answer.error.isEmpty() ? 1 : 0; });
  }
  [[nodiscard]] bool scanned() const { return !page_->scan()->running() && page_->scan()->progress().done; }

 private slots:
  void initTestCase() {
    install_language(*qApp);
    Theme::current().install(*qApp);
    LiveSession::Options options;
    options.cluster.listen.port = 0;
    options.demo = false;
    session_ = std::make_unique<LiveSession>(std::move(options));
    window_ = std::make_unique<MainWindow>(session_.get(), MainWindow::Options{.persist = false, .hints = false});
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    session_->start();
    QTRY_VERIFY_WITH_TIMEOUT(session_->running(), 20'000);
    bool made = false;
    session_->createTopic({kTopic, 3, 1, {}}, [&made](const QString& error) { made = error.isEmpty(); });
    QTRY_VERIFY_WITH_TIMEOUT(made, 20'000);
    int done = 0;
    for (int i = 0; i < kRecords; ++i) {
      produce("key-" + std::to_string(i), "{\"n\":" + std::to_string(i) + ",\"item\":\"tea\"}", std::nullopt, done);
    }
    QTRY_COMPARE_WITH_TIMEOUT(done, kRecords, 60'000);
    window_->showPage(QStringLiteral("messages"));
    window_->select(Selection::ofTopic(QString::fromLatin1(kTopic)));
    page_ = window_->findChild<MessagesPage*>();
    QVERIFY(page_ != nullptr);
    QTRY_VERIFY_WITH_TIMEOUT(page_->records()->rowCount() > 0, 20'000);
    // Again, for the figure: from the choice to the first rows.
    QElapsedTimer clock;
    std::int64_t first_ms = -1;
    connect(page_->records(), &QAbstractItemModel::rowsInserted, this, [&] { first_ms = first_ms < 0 ? clock.elapsed() : first_ms; });
    clock.start();
    page_->setFrom(RecordFeed::From::oldest);
    QTRY_VERIFY_WITH_TIMEOUT(first_ms >= 0, 20'000);
    disconnect(page_->records(), nullptr, this, nullptr);
    qInfo("first_rows_ms %lld", static_cast<long long>(first_ms));
    page_->setFrom(RecordFeed::From::newest);
    page_->setTail(true);
  }
  void cleanupTestCase() {
    // In the middle of everything: a scan, looks and an anatomy are under way.
    if (page_ != nullptr) {
      page_->filterBox()->setText(QStringLiteral("value ~ \"t.a\""));
      page_->table()->selectRow(0);
    }
    window_.reset();
    session_.reset();
  }

  void aRecordIsFoundAmongMany() {
    QVERIFY(page_->focusFilter());
    QElapsedTimer clock;
    clock.start();
    QTest::keyClicks(page_->filterBox()->edit(), QStringLiteral("key == \"key-%1\"").arg(kRecords / 3));
    QTest::keyClick(page_->filterBox()->edit(), Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(scanned(), 20'000);
    QCOMPARE(page_->records()->rowCount(), 1);
    QVERIFY(page_->filterBox()->statusText().startsWith(QStringLiteral("1 of ")));
    qInfo("live_scan_ms total=%lld of %d records, page %lld", static_cast<long long>(page_->scan()->progress().elapsed_ms), kRecords,
          static_cast<long long>(clock.elapsed()));
    // Its batch is there, byte for byte.
    QTRY_VERIFY_WITH_TIMEOUT(page_->detail()->anatomy() != nullptr && page_->detail()->anatomy()->found, 10'000);
    QVERIFY(page_->detail()->anatomy()->crc_ok);
    QVERIFY(page_->detail()->fieldText(BytesField::Kind::crc).contains(QStringLiteral("valid")));
    page_->detail()->selectField(BytesField::Kind::key);
    const HexView::Range key = page_->detail()->hex()->selected();
    const std::string wanted = "key-" + std::to_string(kRecords / 3);
    QCOMPARE(as_text(page_->detail()->hex()->bytes().span().subspan(static_cast<std::size_t>(key.begin), wanted.size())), std::string_view(wanted));
    // Ctrl+C copies its address.
    page_->table()->setFocus();
    page_->table()->selectRow(0);
    const RecordRow row = page_->records()->row(0);
    window_->select(Selection::ofRecord(QString::fromLatin1(kTopic), row.partition, row.offset));
    QTest::keyClick(page_->table(), Qt::Key_C, Qt::ControlModifier);
    QTRY_COMPARE(QApplication::clipboard()->text(), QStringLiteral("%1/%2@%3").arg(QLatin1String(kTopic)).arg(row.partition).arg(row.offset));
  }

  void allAndCommittedAgreeWithoutTransactions() {
    page_->filterBox()->setText(QStringLiteral("value.n in 100..119"));
    QTRY_VERIFY_WITH_TIMEOUT(scanned(), 20'000);
    std::vector<int> counts;
    for (const Isolation isolation : {Isolation::committed, Isolation::all, Isolation::raw}) {
      page_->setIsolation(isolation);
      QTRY_VERIFY_WITH_TIMEOUT(scanned(), 20'000);
      counts.push_back(page_->records()->rowCount());
    }
    QCOMPARE(counts, std::vector<int>({20, 20, 20}));
    page_->setIsolation(Isolation::all);
  }

  void aSpanIsDraggedOnTheVolume() {
    page_->filterBox()->setText({});
    VolumeStrip* strip = page_->volumeStrip();
    QTRY_VERIFY_WITH_TIMEOUT(!strip->volume().empty() && strip->isVisible(), 20'000);
    const QPoint from(strip->width() / 4, 20);
    const QPoint to(strip->width() * 3 / 4, 20);
    QTest::mousePress(strip, Qt::LeftButton, {}, from);
    QTest::mouseMove(strip, (from + to) / 2);
    QTest::mouseMove(strip, to);
    QTest::mouseRelease(strip, Qt::LeftButton, {}, to);
    QTRY_VERIFY_WITH_TIMEOUT(page_->filterBox()->filtering() && scanned(), 20'000);
    const ScanProgress& progress = page_->scan()->progress();
    QVERIFY(progress.hits > 0 && progress.hits < progress.records);
    QCOMPARE(progress.records, std::int64_t{kRecords});
    page_->filterBox()->setText({});
    QVERIFY(!strip->selected().has_value());
  }

  void whatIsExportedIsReadBack() {
    // A filter from elsewhere goes through the registry.
    window_->showPage(QStringLiteral("cluster"));
    QVERIFY(window_->commands().run(QStringLiteral("filter.apply"), {{QStringLiteral("page"), QStringLiteral("messages")},
                                                                     {QStringLiteral("topic"), QString::fromLatin1(kTopic)},
                                                                     {QStringLiteral("text"), QStringLiteral("value.n < 1000")}}));
    QVERIFY(page_->isVisible());
    QCOMPARE(page_->filterBox()->appliedText(), QStringLiteral("value.n < 1000"));
    QTRY_VERIFY_WITH_TIMEOUT(scanned(), 20'000);
    QTemporaryDir folder;
    QSignalSpy finished(page_->exporter(), &RecordExport::finished);
    QVERIFY(page_->exportTo(folder.filePath(QStringLiteral("many.ndjson")), RecordExport::Format::ndjson));
    QTRY_COMPARE_WITH_TIMEOUT(finished.size(), 1, 20'000);
    QFile file(folder.filePath(QStringLiteral("many.ndjson")));
    QVERIFY(file.open(QIODevice::ReadOnly));
    std::set<int> seen;
    while (!file.atEnd()) {
      const QJsonDocument line = QJsonDocument::fromJson(file.readLine());
      QVERIFY(line.isObject());
      seen.insert(QJsonDocument::fromJson(line[QStringLiteral("value")].toString().toUtf8())[QStringLiteral("n")].toInt());
      QCOMPARE(line[QStringLiteral("headers")][0][QStringLiteral("value")].toString(), QStringLiteral("ab12"));
    }
    QCOMPARE(seen.size(), std::size_t{1'000});
    QCOMPARE(*seen.rbegin(), 999);
  }

  void aRecordIsSentAgain() {
    page_->filterBox()->setText(QStringLiteral("key == \"key-17\""));
    QTRY_VERIFY_WITH_TIMEOUT(scanned() && page_->records()->rowCount() == 1, 20'000);
    page_->table()->selectRow(0);
    const RecordRow row = page_->records()->row(0);
    QTRY_VERIFY_WITH_TIMEOUT(page_->detail()->anatomy() != nullptr, 10'000);
    QMenu menu;
    page_->fillRecordMenu(menu);
    QAction* resend = nullptr;
    for (QAction* action : menu.actions()) {
      resend = action->text().startsWith(QLatin1String("Edit and resend")) ? action : resend;
    }
    QVERIFY(resend != nullptr);
    resend->trigger();
    auto* panel = window_->findChild<RecordPanel*>();
    QVERIFY(panel != nullptr && panel->isVisible() && panel->valid());
    panel->send();
    // It arrives in the filtered list, behind, and is selected there.
    QTRY_COMPARE_WITH_TIMEOUT(page_->records()->rowCount(), 2, 20'000);
    const RecordRow again = page_->records()->row(1);
    QCOMPARE(again.partition, row.partition);
    QVERIFY(again.offset > row.offset);
    QVERIFY(again.key == row.key && again.value == row.value && again.headers == row.headers);
    QTRY_COMPARE(page_->table()->currentIndex().row(), 1);
  }
};

QTEST_MAIN(TestLiveMessages)
#include "tst_live_messages.moc"
