// SPDX-License-Identifier: Apache-2.0
#include "ui/views/volume_strip.h"

#include <QDateTime>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/painting/text.h"
#include "ui/theme/theme.h"
#include "ui/views/record_text.h"

namespace hw::ui {

namespace {

constexpr double kHeight = 56;
constexpr double kBars = 32;
constexpr double kTop = 5;
constexpr double kPitch = 14;
constexpr double kHandle = 5;

// Steps of a time axis that a person counts in.
constexpr std::array<std::int64_t, 26> kSteps = {1,         5,         10,         50,         100,         500,        1'000,      2'000,
                                                 5'000,     10'000,    15'000,    30'000,    60'000,     120'000,    300'000,     900'000,    1'800'000,  3'600'000,
                                                 7'200'000, 10'800'000, 21'600'000, 43'200'000, 86'400'000, 172'800'000, 604'800'000, 2'592'000'000};

}  // namespace

VolumeStrip::VolumeStrip(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setProperty("ownFocus", true);
  setMouseTracking(true);
  setAccessibleName(tr("Volume over time"));
  const auto resize = [this] {
    setFixedHeight(Theme::current().px(kHeight));
    update();
  };
  resize();
  connect(&Theme::current(), &Theme::changed, this, resize);
  describe();
}

double VolumeStrip::plotLeft() const { return Theme::current().pxf(Metrics::kPagePadding); }
double VolumeStrip::plotRight() const { return width() - Theme::current().pxf(Metrics::kPagePadding); }

void VolumeStrip::setVolume(const Volume& volume) {
  volume_ = volume;
  rebin();
}

void VolumeStrip::setUtc(bool utc) {
  utc_ = utc;
  update();
}

void VolumeStrip::setSelected(std::optional<std::pair<std::int64_t, std::int64_t>> span) {
  if (span != selected_) {
    selected_ = span;
    describe();
    update();
  }
}

void VolumeStrip::rebin() {
  from_ms_ = volume_.first_ms;
  to_ms_ = volume_.last_ms + (volume_.last_ms > volume_.first_ms ? 1 : 20);  // one moment is no span
  const int count = std::max(8, static_cast<int>((plotRight() - plotLeft()) / Theme::current().pxf(kPitch)));
  bars_ = volume_.empty() ? std::vector<double>() : volume_.bins(from_ms_, to_ms_, count);
  describe();
  update();
}

void VolumeStrip::describe() {
  if (volume_.empty()) {
    setAccessibleDescription(tr("no records"));
    return;
  }
  QString words = tr("from %1 to %2").arg(date_time_text(volume_.first_ms, utc_), date_time_text(volume_.last_ms, utc_));
  if (selected_) {
    words += tr("; selected %1 to %2").arg(date_time_text(selected_->first, utc_), date_time_text(selected_->second, utc_));
  }
  setAccessibleDescription(words);
}

double VolumeStrip::xOf(std::int64_t time_ms) const {
  if (to_ms_ <= from_ms_) {
    return plotLeft();
  }
  return plotLeft() + (plotRight() - plotLeft()) * static_cast<double>(time_ms - from_ms_) / static_cast<double>(to_ms_ - from_ms_);
}

std::int64_t VolumeStrip::timeAt(double x) const {
  const double share = (x - plotLeft()) / std::max(1.0, plotRight() - plotLeft());
  return from_ms_ + static_cast<std::int64_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(to_ms_ - from_ms_));
}

void VolumeStrip::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  const Colors& c = theme.colors();
  QPainter p(this);
  p.fillRect(rect(), c.canvas);
  p.scale(theme.scale(), theme.scale());
  const double s = theme.scale();
  const double left = plotLeft() / s;
  const double right = plotRight() / s;
  const double bottom = kTop + kBars;
  if (volume_.empty()) {
    p.fillRect(QRectF(left, bottom, right - left, 1), c.hair);
    text_left(p, left, bottom + 11, tr("Volume over time appears with the first records"), FontRole::caption, c.text3);
    return;
  }
  const auto& span = dragged_ ? dragged_ : selected_;
  const double span_left = span ? std::clamp(xOf(span->first) / s, left, right) : 0;
  const double span_right = span ? std::clamp(xOf(span->second) / s, left, right) : 0;
  if (span) {
    p.fillRect(QRectF(span_left, kTop - 3, std::max(1.0, span_right - span_left), kBars + 3), c.selected);
  }
  const double most = *std::max_element(bars_.begin(), bars_.end());
  const double pitch = (right - left) / static_cast<double>(bars_.size());
  for (std::size_t i = 0; i < bars_.size() && most > 0; ++i) {
    if (bars_[i] <= 0) {
      continue;
    }
    const double x = std::round(left + static_cast<double>(i) * pitch);
    const double width = std::max(1.0, std::round(left + static_cast<double>(i + 1) * pitch) - x - 1);
    const double height = std::max(1.0, std::round(kBars * bars_[i] / most));
    const double middle = x + width / 2;
    const bool brushed = span && middle >= span_left && middle <= span_right;
    p.fillRect(QRectF(x, bottom - height, width, height), brushed ? c.leader : c.edge);
  }
  p.fillRect(QRectF(left, bottom, right - left, 1), c.hair);
  if (span) {
    for (const double x : {span_left, span_right}) {
      p.fillRect(QRectF(x - 0.5, kTop - 3, 1, kBars + 3), c.ring);
      p.fillRect(QRectF(x - 2, kTop + 8, 4, 12), c.ring);
    }
  }
  // Times below: about one every 140 px, on round values.
  const std::int64_t wanted = static_cast<std::int64_t>(static_cast<double>(to_ms_ - from_ms_) * 140.0 / std::max(1.0, right - left));
  const auto step_at = std::lower_bound(kSteps.begin(), kSteps.end(), std::max<std::int64_t>(1, wanted));
  const std::int64_t step = step_at == kSteps.end() ? kSteps.back() * (wanted / kSteps.back() + 1) : *step_at;
  const bool days = to_ms_ - from_ms_ > 86'400'000;
  const QDateTime first = QDateTime::fromMSecsSinceEpoch(from_ms_);
  const std::int64_t zone = utc_ ? 0 : std::int64_t{first.offsetFromUtc()} * 1'000;
  double free = left;
  for (std::int64_t t = ((from_ms_ + zone + step - 1) / step) * step - zone; t < to_ms_; t += step) {
    const double x = xOf(t) / s;
    QString label = days ? date_time_text(t, utc_).mid(5, step < 86'400'000 ? 11 : 5) : time_text(t, utc_);
    if (!days && step >= 1'000) {
      label = label.left(8);
    }
    const double half = text_width(label, FontRole::small_data) / 2;
    if (x - half < free || x + half > right) {
      continue;
    }
    free = x + half + 8;
    p.fillRect(QRectF(std::round(x), bottom, 1, 3), c.control);
    text_center(p, x, bottom + 11, label, FontRole::small_data, c.text3);
  }
  if (volume_.sampled) {
    text_right(p, right, kTop + 3, tr("about"), FontRole::caption, c.text3);
  }
  if (hasFocus()) {
    p.setPen(QPen(c.ring, 2));
    p.setBrush(Qt::NoBrush);
    p.drawRoundedRect(QRectF(left - 4, 1, right - left + 8, kHeight - 2), 4, 4);
  }
}

void VolumeStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  rebin();
}

VolumeStrip::Drag VolumeStrip::handleAt(double x) const {
  const double near = Theme::current().pxf(kHandle);
  if (selected_ && std::abs(x - xOf(selected_->first)) <= near) {
    return Drag::left;
  }
  return selected_ && std::abs(x - xOf(selected_->second)) <= near ? Drag::right : Drag::none;
}

void VolumeStrip::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || volume_.empty()) {
    return;
  }
  press_x_ = event->position().x();
  drag_ = handleAt(press_x_);
  if (drag_ == Drag::none) {
    drag_ = Drag::span;
  } else {
    dragged_ = selected_;
  }
}

void VolumeStrip::mouseMoveEvent(QMouseEvent* event) {
  const double x = event->position().x();
  if (drag_ == Drag::none) {
    setCursor(handleAt(x) != Drag::none ? Qt::SizeHorCursor : Qt::CrossCursor);
    if (!bars_.empty() && x >= plotLeft() && x < plotRight()) {
      const auto bar = static_cast<std::size_t>((x - plotLeft()) / (plotRight() - plotLeft()) * static_cast<double>(bars_.size()));
      QToolTip::showText(event->globalPosition().toPoint(),
                         tr("%1: about %2 records").arg(time_text(timeAt(x), utc_), format_count(static_cast<std::int64_t>(std::llround(bars_[std::min(bar, bars_.size() - 1)])))),
                         this);
    }
    return;
  }
  if (drag_ == Drag::span && !dragged_ && std::abs(x - press_x_) < 3) {
    return;
  }
  switch (drag_) {
    case Drag::span:
      dragged_ = std::make_pair(timeAt(std::min(press_x_, x)), timeAt(std::max(press_x_, x)));
      break;
    case Drag::left:
      dragged_ = std::make_pair(std::min(timeAt(x), selected_->second), selected_->second);
      break;
    case Drag::right:
      dragged_ = std::make_pair(selected_->first, std::max(timeAt(x), selected_->first));
      break;
    case Drag::none:
      break;
  }
  update();
}

void VolumeStrip::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) {
    return;
  }
  drag_ = Drag::none;
  if (dragged_) {
    const auto span = *std::exchange(dragged_, std::nullopt);
    setSelected(span);
    update();
    Q_EMIT spanSelected(span.first, span.second);
  }
}

void VolumeStrip::mouseDoubleClickEvent(QMouseEvent*) {
  if (selected_) {
    setSelected(std::nullopt);
    Q_EMIT spanCleared();
  }
}

void VolumeStrip::leaveEvent(QEvent*) { unsetCursor(); }

void VolumeStrip::keyPressEvent(QKeyEvent* event) {
  if (volume_.empty() || bars_.empty()) {
    QWidget::keyPressEvent(event);
    return;
  }
  const std::int64_t step = std::max<std::int64_t>(1, (to_ms_ - from_ms_) / static_cast<std::int64_t>(bars_.size()));
  if (event->key() == Qt::Key_Escape && selected_) {
    setSelected(std::nullopt);
    Q_EMIT spanCleared();
    return;
  }
  if (event->key() != Qt::Key_Left && event->key() != Qt::Key_Right) {
    QWidget::keyPressEvent(event);
    return;
  }
  const std::int64_t by = event->key() == Qt::Key_Left ? -step : step;
  auto span = selected_.value_or(std::make_pair(to_ms_ - step, to_ms_ - 1));
  if (event->modifiers().testFlag(Qt::ShiftModifier)) {
    span.second = std::clamp(span.second + by, span.first + 1, to_ms_);
  } else if (selected_) {
    const std::int64_t width = span.second - span.first;
    span.first = std::clamp(span.first + by, from_ms_, std::max(from_ms_, to_ms_ - width));
    span.second = span.first + width;
  }
  setSelected(span);
  Q_EMIT spanSelected(span.first, span.second);
}

}  // namespace hw::ui
