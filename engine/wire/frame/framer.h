// SPDX-License-Identifier: Apache-2.0
// Framer: cuts a byte stream into Kafka's frames (int32 length, then that many bytes). Sans-I/O.
//
// The caller reads from its socket straight into prepare() and says commit(n); next() hands out whole frames as slices
// of what was read, so the bytes of a frame are copied once, from the kernel. Small frames share a block; a large one
// gets a block of exactly its size. Memory is bounded by max_frame_bytes plus one small block.
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/base/bytes.h"
#include "engine/base/result.h"

namespace hw::wire {

class Framer {
 public:
  explicit Framer(std::int32_t max_frame_bytes) noexcept : max_frame_bytes_(max_frame_bytes) {}
  ~Framer();
  Framer(const Framer&) = delete;
  Framer& operator=(const Framer&) = delete;

  // Where the next bytes of the stream go; never empty.
  [[nodiscard]] MutableByteSpan prepare();
  // REQUIRES: size <= prepare().size().
  void commit(std::size_t size) noexcept;
  // The next whole frame without its length; nullopt: more bytes are needed.
  // Errc::invalid: a negative length; Errc::too_large: beyond the limit. Both are final: close the connection.
  Result<std::optional<Bytes>> next();
  [[nodiscard]] std::size_t buffered() const noexcept { return end_ - begin_; }

 private:
  static constexpr std::size_t kSmallBlock = 64 * 1024;
  static constexpr std::size_t kFirstLook = 4 * 1024;
  static constexpr std::size_t kRoom = 8 * 1024;  // less free room than this asks for a new block

  // Moves what is not handed out yet into a fresh block of at least `capacity`.
  void renew(std::size_t capacity);

  std::int32_t max_frame_bytes_;
  Block* block_ = nullptr;
  std::size_t begin_ = 0;  // first byte not handed out
  std::size_t end_ = 0;    // I1: begin_ <= end_ <= capacity
  bool large_before_ = false;  // the previous frame was large: read little first, so that little is moved
};

}  // namespace hw::wire
