// SPDX-License-Identifier: Apache-2.0
// VolumeStrip: how many records came when, as bars over a time axis; drag to select a span, drag its ends, Escape or a
// double click to let go. By keyboard: arrows move, with Shift they widen, Return selects what is shown as a cursor.
// Thread rule: UI thread only.
#pragma once

#include <QWidget>
#include <optional>
#include <utility>
#include <vector>

#include "ui/session/volume.h"

namespace hw::ui {

class VolumeStrip : public QWidget {
  Q_OBJECT

 public:
  explicit VolumeStrip(QWidget* parent = nullptr);
  void setVolume(const Volume& volume);
  void setUtc(bool utc);
  // The span that is selected, both ends included; nullopt: none. No signal.
  void setSelected(std::optional<std::pair<std::int64_t, std::int64_t>> span);
  [[nodiscard]] const std::optional<std::pair<std::int64_t, std::int64_t>>& selected() const { return selected_; }
  [[nodiscard]] const Volume& volume() const { return volume_; }
  [[nodiscard]] const std::vector<double>& bars() const { return bars_; }
  // Where a time is drawn, in widget coordinates.
  [[nodiscard]] double xOf(std::int64_t time_ms) const;
  [[nodiscard]] std::int64_t timeAt(double x) const;

 signals:
  void spanSelected(std::int64_t from_ms, std::int64_t to_ms);
  void spanCleared();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  enum class Drag : std::uint8_t { none, span, left, right };
  void rebin();
  void describe();
  [[nodiscard]] double plotLeft() const;
  [[nodiscard]] double plotRight() const;
  [[nodiscard]] Drag handleAt(double x) const;

  Volume volume_;
  std::vector<double> bars_;
  std::int64_t from_ms_ = 0;
  std::int64_t to_ms_ = 0;
  std::optional<std::pair<std::int64_t, std::int64_t>> selected_;
  std::optional<std::pair<std::int64_t, std::int64_t>> dragged_;
  Drag drag_ = Drag::none;
  double press_x_ = 0;
  double hover_x_ = -1;
  bool utc_ = false;
};

}  // namespace hw::ui
