// SPDX-License-Identifier: Apache-2.0
// FrameMeter: what the window costs the UI thread, per frame: models and layout in the frame, then painting.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hw::ui {

class FrameMeter {
 public:
  void addWork(std::int64_t ns) { open_ns_ += ns; }
  // Painting ends a frame.
  void addPaint(std::int64_t ns);
  // The worst frame since the last call, in ms; 0: none was painted.
  [[nodiscard]] double takeWorst();
  // Over the last 512 frames, in ms.
  [[nodiscard]] double percentile(double p) const;
  [[nodiscard]] std::int64_t frames() const { return frames_; }

 private:
  std::int64_t open_ns_ = 0;
  std::int64_t worst_ns_ = 0;
  std::int64_t frames_ = 0;
  std::array<std::int64_t, 512> last_{};
};

}  // namespace hw::ui
