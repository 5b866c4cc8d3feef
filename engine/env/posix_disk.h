// SPDX-License-Identifier: Apache-2.0
// PosixDisk: the real file system, with a bounded number of open descriptors.
//
// A File is a path and a size; its descriptor is opened when it is needed and closed again when more than
// `max_descriptors` are open, least recently used first. So 10,000 partitions need 10,000 Files but few descriptors.
// A File that was opened keeps working after its directory is renamed through this Disk. One whose path was removed works
// only as long as its descriptor stays open.
// descriptor() of a File is good until `kGrace` more files had to be closed after it was the newest: use it at once
// (sendfile) and ask again for the next call.
// Thread rule: as Disk and File say; the cache has one mutex, held for list operations and open(), never for reads or writes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "engine/env/disk.h"

namespace hw::env {

class PosixDisk final : public Disk {
 public:
  static constexpr std::size_t kGrace = 32;
  explicit PosixDisk(std::size_t max_descriptors = 1024);
  ~PosixDisk() override;

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

  // Descriptors open now (those in their grace time included): for tests and the status of a node.
  [[nodiscard]] std::size_t open_descriptors() const;

  struct Cache;  // shared with the Files, which may outlive the Disk

 private:
  std::shared_ptr<Cache> cache_;
};

}  // namespace hw::env
