// SPDX-License-Identifier: Apache-2.0
// MemoryDisk: a file system of shared immutable blocks. append_shared() keeps the Bytes themselves, so a fetch hands out
// slices of what a producer sent: the record bytes are never copied again.
//
// Bounded: an append beyond `max_bytes` (of all files together) is Errc::no_space and writes nothing. Small appends, and slices
// of much larger blocks, are copied into chunks of the file, so that no file holds far more memory than it has bytes.
// Removed files live on for those who hold them open; their bytes count until then.
// Thread rule: as Disk and File say.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/env/disk.h"

namespace hw::env {

class MemoryDisk final : public Disk {
 public:
  explicit MemoryDisk(std::uint64_t max_bytes);
  ~MemoryDisk() override;

  Result<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
  bool exists(const std::string& path) override;
  bool is_directory(const std::string& path) override;
  Result<std::uint64_t> file_size(const std::string& path) override;
  Result<void> make_directories(const std::string& path) override;
  Result<void> remove(const std::string& path) override;
  Result<void> remove_tree(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> sync_directory(const std::string& path) override;
  Result<std::unique_ptr<Lock>> lock(const std::string& path) override;
  Result<std::uint64_t> free_bytes(const std::string& path) override;
  Result<std::uint64_t> total_bytes(const std::string& path) override;
  Result<std::int64_t> modified_ms(const std::string& path) override;

  [[nodiscard]] std::uint64_t used_bytes() const;

  struct State;  // shared with the Files

 private:
  std::shared_ptr<State> state_;
};

}  // namespace hw::env
