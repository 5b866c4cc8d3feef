// SPDX-License-Identifier: Apache-2.0
// The contrasts that the guide promises, over the tokens themselves; and what glyphs and fonts must be.
#include <QApplication>
#include <QDBusVariant>
#include <QFontInfo>
#include <QImage>
#include <QListWidget>
#include <QPainter>
#include <QScrollBar>
#include <QTest>
#include <set>

#include "ui/theme/glyphs.h"
#include "ui/theme/style.h"
#include "ui/theme/system_scheme.h"
#include "ui/theme/theme.h"

using namespace hw::ui;

class TestTheme : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { Theme::current().install(*qApp); }

  void text_has_4_5_on_every_surface_data() {
    QTest::addColumn<Theme::Mode>("mode");
    QTest::newRow("dark") << Theme::Mode::dark;
    QTest::newRow("light") << Theme::Mode::light;
    QTest::newRow("contrast dark") << Theme::Mode::contrast_dark;
    QTest::newRow("contrast light") << Theme::Mode::contrast_light;
  }
  void text_has_4_5_on_every_surface() {
    QFETCH(Theme::Mode, mode);
    const Colors& c = Theme::colorsOf(mode);
    const std::pair<const char*, QColor> texts[] = {{"text", c.text},         {"text2", c.text2}, {"text3", c.text3},
                                                    {"link", c.link},         {"leader_t", c.leader_t},
                                                    {"ok_t", c.ok_t},         {"warn_t", c.warn_t},
                                                    {"err_t", c.err_t},       {"txn_t", c.txn_t}, {"past", c.past}};
    const std::pair<const char*, QColor> surfaces[] = {{"chrome", c.chrome}, {"canvas", c.canvas}, {"card", c.card},
                                                       {"inset", c.inset},   {"hover", c.hover},   {"pressed", c.pressed},
                                                       {"selected", c.selected}};
    for (const auto& [text, ink] : texts) {
      for (const auto& [surface, ground] : surfaces) {
        const double ratio = contrast_ratio(ink, ground);
        QVERIFY2(ratio >= 4.45, qPrintable(QStringLiteral("%1 on %2: %3").arg(text, surface).arg(ratio)));
      }
    }
    const std::pair<QColor, QColor> on_tint[] = {{c.leader_t, c.leader_tint}, {c.ok_t, c.ok_tint}, {c.warn_t, c.warn_tint},
                                                 {c.err_t, c.err_tint},       {c.txn_t, c.txn_tint}};
    for (const auto& [ink, tint] : on_tint) {
      QVERIFY(contrast_ratio(ink, tint) >= 4.5);
      QVERIFY(contrast_ratio(c.text, tint) >= 4.5);
    }
    QVERIFY(contrast_ratio(c.on_primary, c.leader) >= 4.5);
    QVERIFY(contrast_ratio(c.text, c.leader_soft) >= 4.5);
  }

  void graphics_have_3_data() { text_has_4_5_on_every_surface_data(); }
  void graphics_have_3() {
    QFETCH(Theme::Mode, mode);
    const Colors& c = Theme::colorsOf(mode);
    const QColor graphics[] = {c.leader, c.ok, c.warn_line, c.err, c.txn, c.past, c.edge, c.control, c.ring};
    for (const QColor& graphic : graphics) {
      for (const QColor& ground : {c.chrome, c.canvas, c.card, c.inset}) {
        QVERIFY2(contrast_ratio(graphic, ground) >= 3.0,
                 qPrintable(QStringLiteral("%1 on %2").arg(graphic.name(), ground.name())));
      }
    }
    for (const QColor& hue : c.key_hues) {
      QVERIFY(contrast_ratio(hue, c.canvas) >= 3.0);
      QVERIFY(contrast_ratio(Theme::current().onHue(hue), hue) >= 4.5);
    }
  }

  void no_two_state_colours_are_the_same() {
    for (const Theme::Mode mode : {Theme::Mode::dark, Theme::Mode::light, Theme::Mode::contrast_dark, Theme::Mode::contrast_light}) {
      const Colors& c = Theme::colorsOf(mode);
      std::set<QRgb> seen;
      for (const QColor& color : {c.leader, c.ok, c.warn, c.err, c.txn, c.past}) {
        QVERIFY(seen.insert(color.rgb()).second);
      }
    }
  }

  void high_contrast_has_7_and_no_fills_behind_text() {
    for (const Theme::Mode mode : {Theme::Mode::contrast_dark, Theme::Mode::contrast_light}) {
      const Colors& c = Theme::colorsOf(mode);
      for (const QColor& ink : {c.text, c.text2, c.text3, c.link, c.leader_t, c.ok_t, c.warn_t, c.err_t, c.txn_t, c.past}) {
        for (const QColor& ground : {c.chrome, c.canvas, c.card, c.inset, c.hover, c.selected}) {
          QVERIFY2(contrast_ratio(ink, ground) >= 7.0,
                   qPrintable(QStringLiteral("%1 on %2: %3").arg(ink.name(), ground.name()).arg(contrast_ratio(ink, ground))));
        }
      }
      // What tells by its body keeps one, and what is chosen is neither a warning nor a leader.
      QVERIFY(contrast_ratio(c.leader_fill, c.canvas) >= 4.5);
      QVERIFY(contrast_ratio(c.ok_fill, c.canvas) >= 4.5);
      for (const QColor& other : {c.warn_line, c.leader}) {
        QVERIFY2(std::abs(c.ring.hue() - other.hue()) >= 30, qPrintable(other.name()));
      }
      for (const QColor& fill : {c.leader_tint, c.leader_soft, c.ok_tint, c.ok_soft, c.warn_tint, c.err_tint, c.txn_tint, c.past_tint}) {
        QCOMPARE(fill, c.canvas);
      }
    }
  }

  void the_portal_decides_where_nobody_chose() {
    Theme& theme = Theme::current();
    theme.setChoice(Theme::Choice::system);
    SystemScheme scheme;
    connect(&scheme, &SystemScheme::darkChanged, &theme, &Theme::setSystemDark);
    scheme.take(QVariant::fromValue(QDBusVariant(QVariant::fromValue(QDBusVariant(2U)))));
    QVERIFY(!theme.dark());
    scheme.take(QVariant(1U));
    QVERIFY(theme.dark());
    scheme.take(QVariant(0U));  // no preference: as it is
    QVERIFY(theme.dark());
    scheme.take(QVariant(QStringLiteral("nonsense")));
    QVERIFY(theme.dark());
  }

  void the_mode_changes_palette_and_tells() {
    Theme& theme = Theme::current();
    theme.setMode(Theme::Mode::dark);
    int changes = 0;
    const auto connection = connect(&theme, &Theme::changed, this, [&] { ++changes; });
    theme.toggleMode();
    QVERIFY(!theme.dark());
    QCOMPARE(changes, 1);
    QCOMPARE(qApp->palette().color(QPalette::Window), Theme::colorsOf(Theme::Mode::light).chrome);
    theme.toggleMode();
    QVERIFY(theme.dark());
    disconnect(connection);
  }

  void embedded_fonts_are_used() {
    const QFontInfo words(Theme::current().font(FontRole::body));
    const QFontInfo data(Theme::current().font(FontRole::data));
    QVERIFY2(words.family().startsWith(QLatin1String("Inter")), qPrintable(words.family()));
    QVERIFY2(data.family().startsWith(QLatin1String("JetBrains Mono")), qPrintable(data.family()));
    QVERIFY(data.fixedPitch());
  }

  void a_bar_without_anything_to_scroll_has_no_handle() {
    QListWidget list;
    list.setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    list.resize(120, 200);
    list.addItem(QStringLiteral("one"));
    list.show();
    QVERIFY(QTest::qWaitForWindowExposed(&list));
    QScrollBar* bar = list.verticalScrollBar();
    const auto colors = [bar] {
      std::set<QRgb> seen;
      const QImage image = bar->grab().toImage();
      for (int y = 0; y < image.height(); ++y) {
        seen.insert(image.pixel(image.width() / 2, y));
      }
      return seen.size();
    };
    QCOMPARE(bar->maximum(), 0);
    QCOMPARE(colors(), std::size_t{1});
    for (int i = 0; i < 100; ++i) {
      list.addItem(QString::number(i));
    }
    QTRY_VERIFY(bar->maximum() > 0);
    QVERIFY(colors() > 1);
    list.clear();
    QTRY_COMPARE(bar->maximum(), 0);
    QCOMPARE(colors(), std::size_t{1});
  }

  void no_text_is_smaller_than_11() {
    for (std::size_t i = 0; i < kFontRoles; ++i) {
      const auto role = static_cast<FontRole>(i);
      if (role != FontRole::record_letter) {
        QVERIFY(Theme::current().font(role).pixelSize() >= 11);
      }
    }
  }

  void every_glyph_paints_and_has_a_name() {
    std::set<QByteArray> pictures;
    for (int i = 1; i <= static_cast<int>(Glyph::check); ++i) {
      const auto glyph = static_cast<Glyph>(i);
      QImage image(24, 24, QImage::Format_ARGB32);
      image.fill(Qt::transparent);
      QPainter painter(&image);
      paint_glyph(painter, glyph, QPointF(12, 12), 24, Qt::black);
      painter.end();
      QVERIFY(!glyph_name(glyph).isEmpty());
      // Different even without colour: that is what glyphs are for.
      const QByteArray bits(reinterpret_cast<const char*>(image.constBits()), image.sizeInBytes());
      QVERIFY2(pictures.insert(bits).second, qPrintable(glyph_name(glyph)));
    }
  }

  void neighbouring_keys_get_different_hues() {
    std::set<int> hues;
    for (const char* key : {"A", "B", "C", "D", "E", "F"}) {
      hues.insert(Theme::current().keyHueIndex(hw::as_bytes(key)));
    }
    QCOMPARE(hues.size(), std::size_t{6});
  }

  void the_sheet_has_no_unknown_token() {
    const QString sheet = make_style_sheet(Theme::colorsOf(Theme::Mode::dark), 1.0, {});
    QVERIFY(!sheet.contains(QLatin1Char('@')));
    QCOMPARE(sheet.count(QLatin1Char('{')), sheet.count(QLatin1Char('}')));
  }
};

QTEST_MAIN(TestTheme)
#include "tst_theme.moc"
