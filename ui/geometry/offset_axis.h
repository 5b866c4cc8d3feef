// SPDX-License-Identifier: Apache-2.0
// OffsetAxis: a partition's offsets along x.
//
// Offsets are 64-bit and may be far beyond 2^53, so the axis holds an integer origin plus a fraction and works on
// differences: x() and offset_at() are exact inverses at every origin and zoom. x is in pixels from the left edge of the
// plot. A value type: zooming and panning return a new axis.
#pragma once

#include <cstdint>
#include <vector>

namespace hw::ui::geometry {

class OffsetAxis {
 public:
  // The steps of the zoom: pixels per offset. Above 3 they are whole, so that every cell of a lane is equally wide.
  static constexpr double kMinPitch = 1e-6;
  static constexpr double kMaxPitch = 40;
  static constexpr double kRecordPitch = 9;   // width 8, gap 1
  static constexpr double kHeatBelow = 3;     // cells merge

  OffsetAxis() = default;
  OffsetAxis(std::int64_t origin, double fraction, double pitch);

  // The axis on which [from, to) fills `width`, at most kRecordPitch wide per offset. An empty range shows one offset.
  [[nodiscard]] static OffsetAxis fit(std::int64_t from, std::int64_t to, double width);
  // The axis at `pitch` whose right edge `width` lies at offset `to` (exclusive), as when following the tail.
  [[nodiscard]] static OffsetAxis ending_at(std::int64_t to, double width, double pitch);

  [[nodiscard]] std::int64_t origin() const noexcept { return origin_; }
  [[nodiscard]] double fraction() const noexcept { return fraction_; }
  [[nodiscard]] double pitch() const noexcept { return pitch_; }  // pixels per offset

  // Left edge of an offset's cell.
  [[nodiscard]] double x(std::int64_t offset) const noexcept;
  // The same on the pixel grid; monotonic, and cells never overlap.
  [[nodiscard]] int pixel(std::int64_t offset) const noexcept;
  // The offset whose cell covers x.
  [[nodiscard]] std::int64_t offset_at(double x) const noexcept;
  // The offset whose cell covers the middle of pixel column `px`: the inverse of pixel() where cells are ≥ 1 wide.
  [[nodiscard]] std::int64_t offset_at_pixel(int px) const noexcept;

  // The next step of the zoom ladder, in or out, with the offset under `anchor_x` staying there.
  [[nodiscard]] OffsetAxis zoomed(int steps, double anchor_x) const;
  [[nodiscard]] OffsetAxis with_pitch(double pitch, double anchor_x) const;
  // Moves the contents by dx pixels: positive shows smaller offsets.
  [[nodiscard]] OffsetAxis panned(double dx) const;

  struct Tick {
    std::int64_t offset = 0;
    double x = 0;
  };
  // Labelled positions: multiples of 1, 2 or 5 × 10^n inside [0, width], at least `min_spacing` apart; at most 64.
  [[nodiscard]] std::vector<Tick> ticks(double width, double min_spacing) const;

  friend bool operator==(const OffsetAxis&, const OffsetAxis&) = default;

 private:
  std::int64_t origin_ = 0;  // the offset whose cell holds x = 0 …
  double fraction_ = 0;      // … and how much of that cell lies left of it, [0, 1)
  double pitch_ = kRecordPitch;
};

// Smallest of 1, 2, 5 × 10^n that is ≥ `least`; saturates below 2^62.
[[nodiscard]] std::int64_t nice_step(double least) noexcept;
// The nearest step of the ladder, and the one `steps` further in (+) or out (-).
[[nodiscard]] double ladder_pitch(double pitch, int steps) noexcept;

}  // namespace hw::ui::geometry
