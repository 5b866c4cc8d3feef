// SPDX-License-Identifier: Apache-2.0
// The bytes pane: a batch taken apart byte by byte, and both panes in step.
#include <QScrollBar>
#include <QTest>
#include <QTreeWidget>
#include <QTreeWidgetItemIterator>
#include <set>

#include "engine/wire/record/batch.h"
#include "engine/wire/record/batch_builder.h"
#include "ui/session/batch_anatomy.h"
#include "ui/theme/theme.h"
#include "ui/views/hex_view.h"
#include "ui/views/record_detail.h"

using namespace hw;      // NOLINT(google-build-using-namespace): a test
using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

namespace {

Bytes batch_of(wire::Compression codec, int records) {
  wire::BatchOptions options;
  options.compression = codec;
  options.base_offset = Offset(1'036);
  options.leader_epoch = LeaderEpoch(7);
  options.producer_id = ProducerId(4'005);
  options.producer_epoch = ProducerEpoch(7);
  options.base_sequence = 118;
  wire::BatchBuilder builder(options);
  for (int i = 0; i < records; ++i) {
    const std::string key = "tenant-" + std::to_string(i);
    const std::string value = "{\"id\":9007199254740993,\"amt\":12.40,\"text\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}";
    const wire::HeaderIn headers[] = {{"trace", as_bytes("ab12")}, {"gone", std::nullopt}};
    wire::RecordIn record;
    record.key = as_bytes(key);
    record.value = i == 1 ? std::nullopt : std::optional<ByteSpan>(as_bytes(value));
    record.headers = headers;
    record.timestamp_ms = 1'764'417'810'000 + i;
    builder.append(record);
  }
  return builder.finish();
}

// All leaves of a space: they must lie end to end.
void leaves(const BytesField& field, std::vector<std::pair<std::int64_t, std::int64_t>>& out) {
  if (field.children.empty()) {
    out.emplace_back(field.begin, field.end);
    return;
  }
  for (const BytesField& child : field.children) {
    leaves(child, out);
  }
}

}  // namespace

class TestBytes : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { Theme::current().install(*qApp); }

  void everyByteBelongsToAField_data() {
    QTest::addColumn<int>("codec");
    for (const auto codec : {wire::Compression::none, wire::Compression::gzip, wire::Compression::snappy, wire::Compression::lz4, wire::Compression::zstd}) {
      QTest::newRow(wire::compression_name(codec)) << static_cast<int>(codec);
    }
  }
  void everyByteBelongsToAField() {
    QFETCH(int, codec);
    const BatchAnatomy a = anatomy_of(batch_of(static_cast<wire::Compression>(codec), 3), 2, 1'037);
    QVERIFY2(a.error.isEmpty(), qPrintable(a.error));
    QVERIFY(a.crc_ok && a.found);
    QCOMPARE(a.compressed, codec != 0);
    QCOMPARE(a.row.offset, 1'037);
    QVERIFY(!a.row.value.has_value());
    std::int64_t at = 0;
    for (const BytesField& f : a.header) {
      QCOMPARE(f.begin, at);
      at = f.end;
    }
    QCOMPARE(at, 61);
    QCOMPARE(a.all_records.begin, 61);
    QCOMPARE(a.all_records.end, static_cast<std::int64_t>(a.stored.size()));
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    for (const BytesField& record : a.all_records.children) {
      leaves(record, all);
    }
    at = 0;
    for (const auto& [begin, end] : all) {
      QCOMPARE(begin, at);
      at = end;
    }
    QCOMPARE(at, a.recordsSize());
  }

  void whatIsBrokenIsSaid() {
    const Bytes good = batch_of(wire::Compression::zstd, 3);
    std::string bytes(good.text());
    bytes[30] = static_cast<char>(bytes[30] + 1);
    const BatchAnatomy wrong = anatomy_of(Bytes::copy_of(bytes), 0, 1'036);
    QVERIFY(!wrong.crc_ok);
    bytes = std::string(good.text());
    bytes.resize(bytes.size() - 4);
    bytes[11] = static_cast<char>(static_cast<unsigned char>(bytes[11]) - 4);
    QVERIFY(!anatomy_of(Bytes::copy_of(bytes), 0, 1'036).error.isEmpty());
    QVERIFY(!anatomy_of(Bytes(), 0, 1'036).error.isEmpty());
    QVERIFY(!anatomy_of(good, 0, 5).found);
    // Any single byte may be wrong: never a crash, and a wrong CRC wherever it is covered.
    for (std::size_t i = 21; i < good.size(); ++i) {
      std::string one(good.text());
      one[i] = static_cast<char>(one[i] ^ 0x55);
      QVERIFY(!anatomy_of(Bytes::copy_of(one), 0, 1'036).crc_ok);
    }
  }

  void theCountIsBounded() {
    const BatchAnatomy a = anatomy_of(batch_of(wire::Compression::none, 3'000), 0, 1'036 + 2'500);
    QVERIFY(a.found);
    QCOMPARE(a.all_records.children.size(), static_cast<std::size_t>(BatchAnatomy::kListed + 1));
    QVERIFY(!a.all_records.children.back().children.empty());
  }

  void panesAreInStep_data() { everyByteBelongsToAField_data(); }
  void panesAreInStep() {
    QFETCH(int, codec);
    const auto anatomy = std::make_shared<BatchAnatomy>(anatomy_of(batch_of(static_cast<wire::Compression>(codec), 2), 2, 1'036));
    RecordDetail detail;
    detail.resize(1'000, 420);
    detail.QWidget::show();
    detail.show(QStringLiteral("orders"), QStringLiteral("localhost:9092"), 3, anatomy->row);
    detail.setAnatomy(anatomy);
    // A field lights up its bytes …
    detail.selectField(BytesField::Kind::crc);
    QCOMPARE(detail.hex()->selected(), (HexView::Range{17, 21}));
    QCOMPARE(detail.hex()->bytes().size(), anatomy->stored.size());
    QVERIFY(detail.fieldText(BytesField::Kind::crc).contains(QStringLiteral("valid")));
    QVERIFY(detail.fieldText(BytesField::Kind::attributes).contains(QString::fromLatin1(wire::compression_name(static_cast<wire::Compression>(codec)))));
    const auto ring_at = [&detail](std::int64_t at) {
      const QRect rect = detail.hex()->byteRect(at);
      const QImage image = detail.hex()->viewport()->grab().toImage();
      return image.pixelColor(rect.left() - 1, rect.center().y()) == Theme::current().colors().ring;
    };
    QVERIFY(ring_at(18));
    QVERIFY(!ring_at(24));
    // … a field of the records too, decompressed where they are compressed …
    detail.selectField(BytesField::Kind::key);
    const HexView::Range key = detail.hex()->selected();
    QCOMPARE(key.end - key.begin, 8);
    QCOMPARE(as_text(detail.hex()->bytes().span().subspan(static_cast<std::size_t>(key.begin), 8)), std::string_view("tenant-0"));
    QCOMPARE(detail.form(), codec == 0 ? RecordDetail::Form::stored : RecordDetail::Form::decompressed);
    // … and a byte selects the smallest field that has it.
    QTest::mouseClick(detail.hex()->viewport(), Qt::LeftButton, {}, detail.hex()->byteRect(key.begin - 1).center());
    QCOMPARE(detail.tree()->currentItem()->text(0), QStringLiteral("length"));
    QTest::mouseClick(detail.hex()->viewport(), Qt::LeftButton, {}, detail.hex()->byteRect(key.begin + 3).center());
    QCOMPARE(detail.tree()->currentItem()->text(0), QStringLiteral("key"));
    QCOMPARE(detail.hex()->selected(), key);
    // By keyboard from field to field.
    std::set<QString> seen;
    for (int i = 0; i < 12; ++i) {
      QTest::keyClick(detail.hex(), Qt::Key_Right);
      seen.insert(detail.tree()->currentItem()->text(0));
    }
    QVERIFY(seen.size() >= 4);
    detail.setForm(RecordDetail::Form::stored);
    detail.selectField(BytesField::Kind::base_offset);
    QCOMPARE(detail.hex()->selected(), (HexView::Range{0, 8}));
  }

  void narrowPanesKeepEight() {
    HexView view;
    view.resize(300, 200);
    view.show();
    view.setBytes(batch_of(wire::Compression::none, 2));
    const std::int64_t narrow = view.rowCount();
    view.resize(700, 200);
    QCoreApplication::processEvents();
    QVERIFY(narrow > view.rowCount());
    view.select({100, 120}, {80, 160});
    view.grab();
    QVERIFY(view.accessibleDescription().contains(QStringLiteral("bytes 100 to 119")));
  }
};

QTEST_MAIN(TestBytes)
#include "tst_bytes.moc"
