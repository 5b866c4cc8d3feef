// SPDX-License-Identifier: Apache-2.0
#include "engine/log/file_batch_reader.h"

#include <algorithm>

namespace hw::log {
namespace {

constexpr std::size_t kPiece = 128U * 1024;

}  // namespace

// Makes the buffer begin at at_ and hold `wanted` bytes, or what the file has.
bool FileBatchReader::fill(std::size_t wanted) {
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(wanted, kPiece), end_ - at_));
  if (buffer_.size() < size) {
    buffer_.resize(size);
  }
  const std::ptrdiff_t got = file_.read_at(at_, {buffer_.data(), size});
  if (got < 0) {
    read_failed_ = true;
    return false;
  }
  buffer_at_ = at_;
  buffered_ = static_cast<std::size_t>(got);
  return buffered_ >= std::min(wanted, size);
}

bool FileBatchReader::next(wire::BatchView& batch) {
  if (at_ >= end_ || read_failed_) {
    return false;
  }
  for (int attempt = 0;; ++attempt) {
    const bool inside = buffered_ > 0 && at_ >= buffer_at_ && at_ < buffer_at_ + buffered_;
    const ByteSpan bytes = inside ? ByteSpan(buffer_.data() + (at_ - buffer_at_), buffered_ - (at_ - buffer_at_)) : ByteSpan{};
    const wire::BatchRead read = wire::read_batch(bytes);
    switch (read.status) {
      case wire::BatchStatus::ok:
        batch = read.view;
        batch_at_ = at_;
        at_ += read.size;
        return true;
      case wire::BatchStatus::end:
      case wire::BatchStatus::truncated: {
        // Either the buffer ends here, or the file does. A whole batch is needed at most twice: once for its header.
        if (read.size > end_ - at_ || attempt == 2 || end_ - at_ < wire::kBatchHeaderSize) {
          return false;
        }
        if (!fill(std::max(read.size, wire::kBatchHeaderSize))) {
          return false;
        }
        continue;
      }
      case wire::BatchStatus::corrupt:
      case wire::BatchStatus::old_magic:
        return false;
    }
    return false;
  }
}

}  // namespace hw::log
