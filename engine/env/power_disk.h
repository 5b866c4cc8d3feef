// SPDX-License-Identifier: Apache-2.0
// PowerDisk: another Disk that remembers what reached stable storage, so that power can be cut in a program that runs.
//
// cut() takes away what a machine without power may lose, all of it: the bytes of each file behind its last sync(). Names, renames,
// removals and what was cut off a file stay, as with the usual journaling file systems; a file that was never synced is there, and
// empty. What lay on the disk before this object was made counts as stable.
// Only files with unsynced bytes are remembered. An append costs one uncontended lock more than the disk below.
// Thread rule: as Disk and File; cut() while nobody uses the disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/env/disk.h"

namespace hw::env {

class PowerDisk final : public Disk {
 public:
  explicit PowerDisk(std::shared_ptr<Disk> base);
  ~PowerDisk() override;

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

  struct Loss {
    std::uint64_t files = 0;  // that lost something
    std::uint64_t bytes = 0;
  };
  // Goes on after an error, which is of the first file that could not be cut.
  Result<Loss> cut();
  [[nodiscard]] std::size_t remembered() const;  // files with bytes that were not synced
  [[nodiscard]] Disk& base() noexcept { return *base_; }

  struct State;  // shared with the Files

 private:
  std::shared_ptr<Disk> base_;
  std::shared_ptr<State> state_;
};

// Whether what is written there stays in this process's memory: nothing on it ever waits.
[[nodiscard]] bool keeps_in_memory(Disk& disk) noexcept;

}  // namespace hw::env
