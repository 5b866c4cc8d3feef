// SPDX-License-Identifier: Apache-2.0
// Walks the batches of a log file, read in large pieces into one buffer that is reused.
//
//   FileBatchReader reader(*file, from, end);
//   wire::BatchView batch;
//   while (reader.next(batch)) { … reader.position() … }
//   if (!reader.clean_end()) …  the rest from position_after() on is no batch
//
// A view lives until the next call. Memory: 128 KiB, or the largest batch of the file (never more than the file holds).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/env/disk.h"
#include "engine/wire/record/batch.h"

namespace hw::log {

class FileBatchReader {
 public:
  FileBatchReader(const env::File& file, std::uint64_t from, std::uint64_t end) : file_(file), at_(from), end_(end) {}
  bool next(wire::BatchView& batch);
  [[nodiscard]] std::uint64_t position() const { return batch_at_; }  // where the batch begins
  [[nodiscard]] std::uint64_t position_after() const { return at_; }  // behind it; where the bad rest begins at the end
  [[nodiscard]] bool clean_end() const { return at_ == end_; }
  [[nodiscard]] bool read_failed() const { return read_failed_; }

 private:
  bool fill(std::size_t wanted);
  const env::File& file_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::uint64_t batch_at_ = 0;
  std::vector<std::byte> buffer_;
  std::uint64_t buffer_at_ = 0;  // file position of buffer_[0]
  std::size_t buffered_ = 0;
  bool read_failed_ = false;
};

}  // namespace hw::log
