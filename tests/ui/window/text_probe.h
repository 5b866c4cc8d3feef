// SPDX-License-Identifier: Apache-2.0
// TextProbe: a paint device that keeps every piece of text that is painted into it, with its place, colour and size.
// Rendering a widget into it tells what a person could read there, and in which colour.
#pragma once

#include <QColor>
#include <QFontMetricsF>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainterPath>
#include <QRectF>
#include <QString>
#include <vector>

namespace hw::test {

struct TextRun {
  QString text;
  QRectF rect;  // in device pixels
  QColor color;
  double pixel_size = 0;
};

class TextProbe : public QPaintDevice {
 public:
  explicit TextProbe(QSize size) : size_(size), engine_(this) {}
  [[nodiscard]] const std::vector<TextRun>& runs() const { return runs_; }
  QPaintEngine* paintEngine() const override { return &engine_; }

 protected:
  int metric(PaintDeviceMetric metric) const override {
    switch (metric) {
      case PdmWidth:
        return size_.width();
      case PdmHeight:
        return size_.height();
      case PdmWidthMM:
        return size_.width() * 254 / 960;
      case PdmHeightMM:
        return size_.height() * 254 / 960;
      case PdmDepth:
        return 32;
      case PdmDpiX:
      case PdmDpiY:
      case PdmPhysicalDpiX:
      case PdmPhysicalDpiY:
        return 96;
      case PdmDevicePixelRatio:
        return 1;
      case PdmDevicePixelRatioScaled:
        return static_cast<int>(devicePixelRatioFScale());
      default:
        return QPaintDevice::metric(metric);
    }
  }

 private:
  class Engine : public QPaintEngine {
   public:
    explicit Engine(TextProbe* probe) : QPaintEngine(AllFeatures), probe_(probe) {}
    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    Type type() const override { return User; }
    void updateState(const QPaintEngineState& now) override {
      if (now.state() & DirtyPen) {
        pen_ = now.pen();
      }
      if (now.state() & DirtyTransform) {
        transform_ = now.transform();
      }
    }
    void drawTextItem(const QPointF& at, const QTextItem& item) override {
      // Word by word: a line of a hex view is painted in several runs, each blank where the others write.
      const double scale = transform_.m22() == 0 ? 1.0 : std::abs(transform_.m22());
      const QString text = item.text();
      const QFontMetricsF metrics(item.font());
      for (qsizetype begin = 0; begin < text.size();) {
        qsizetype end = begin;
        while (end < text.size() && !text[end].isSpace()) {
          ++end;
        }
        if (end > begin) {
          const QRectF local(at.x() + metrics.horizontalAdvance(text.left(begin)), at.y() - item.ascent(),
                             metrics.horizontalAdvance(text.mid(begin, end - begin)), item.ascent() + item.descent());
          probe_->runs_.push_back({text.mid(begin, end - begin), transform_.mapRect(local), pen_.color(),
                                   item.font().pixelSize() * scale});
        }
        begin = end + 1;
      }
    }
    void drawPath(const QPainterPath&) override {}
    void drawRects(const QRectF*, int) override {}
    void drawRects(const QRect*, int) override {}
    void drawLines(const QLineF*, int) override {}
    void drawLines(const QLine*, int) override {}
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
    void drawPolygon(const QPoint*, int, PolygonDrawMode) override {}
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
    void drawTiledPixmap(const QRectF&, const QPixmap&, const QPointF&) override {}
    void drawImage(const QRectF&, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {}

   private:
    TextProbe* probe_;
    QPen pen_;
    QTransform transform_;
  };
  QSize size_;
  std::vector<TextRun> runs_;
  mutable Engine engine_;
};

}  // namespace hw::test
