// SPDX-License-Identifier: Apache-2.0
// FaultDisk: another Disk that fails on purpose, and remembers what reached stable storage.
//
// crash() loses what was not synced: per file, by the Prng, the tail behind the last sync() is kept, dropped, torn at any
// byte, zeroed (a length that reached the disk without its data), zeroed in the middle, or holds garbage in one sector.
// Files never synced, in directories never synced, may vanish. Renames and removals survive. Handles of before the crash
// answer Errc::closed.
// Faults: fail_after() makes the n-th write operation from now fail (once, after part of its bytes); set_capacity() makes
// appends beyond it Errc::no_space.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/base/prng.h"
#include "engine/env/disk.h"

namespace hw::env {

class FaultDisk final : public Disk {
 public:
  // `base` outlives this.
  FaultDisk(Disk& base, Prng prng);
  ~FaultDisk() override;

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

  // The machine lost power: unsynced data suffers. Every File opened before is dead, every Lock is free.
  Result<void> crash();
  // The process died: data stays, handles are dead.
  void kill();

  void fail_after(std::uint64_t operations) { fail_countdown_ = operations + 1; }  // 0: the very next one
  void stop_failing() { fail_countdown_ = 0; }
  // Appends that would make all files together larger fail; 0: no limit.
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  [[nodiscard]] std::uint64_t write_operations() const { return operations_; }
  [[nodiscard]] std::uint64_t written_bytes() const { return written_; }

  struct Fate {
    std::uint64_t synced = 0;       // bytes that are on stable storage
    bool name_synced = false;       // the file's name is
  };

 private:
  friend class FaultFile;
  // True: this write operation fails.
  bool strikes();
  bool full(std::uint64_t more);

  Disk& base_;
  Prng prng_;
  std::map<std::string, Fate> fates_;  // of files created or written since they were last wholly synced
  std::uint64_t generation_ = 0;
  std::uint64_t fail_countdown_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t capacity_ = 0;
  std::uint64_t written_ = 0;
  std::shared_ptr<std::set<std::string>> locks_ = std::make_shared<std::set<std::string>>();
};

}  // namespace hw::env
