// SPDX-License-Identifier: Apache-2.0
// BrokenDisk: another disk, of which one folder can no longer be written from some moment on.
// Thread rule: as Disk and File; fail_below() from any thread, once.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/env/disk.h"

namespace hw::test {

class BrokenDisk final : public env::Disk {
 public:
  explicit BrokenDisk(std::shared_ptr<env::Disk> base) : base_(std::move(base)) {}

  // From now on every write below this folder fails, as on a disk that is full or gone.
  void fail_below(std::string folder, Errc how = Errc::no_space) {
    folder_ = std::move(folder);
    how_ = how;
    broken_.store(true, std::memory_order_release);
  }
  void mend() { broken_.store(false); }

  Result<std::shared_ptr<env::File>> open(const std::string& path, env::OpenMode mode) override {
    if (mode != env::OpenMode::read && !base_->exists(path)) {
      HW_CHECK(check(path));
    }
    HW_TRY(std::shared_ptr<env::File> file, base_->open(path, mode));
    return std::shared_ptr<env::File>(std::make_shared<BrokenFile>(*this, path, std::move(file)));
  }
  Result<std::vector<std::string>> list(const std::string& directory) override { return base_->list(directory); }
  bool exists(const std::string& path) override { return base_->exists(path); }
  bool is_directory(const std::string& path) override { return base_->is_directory(path); }
  Result<std::uint64_t> file_size(const std::string& path) override { return base_->file_size(path); }
  Result<void> make_directories(const std::string& path) override {
    HW_CHECK(check(path));
    return base_->make_directories(path);
  }
  Result<void> remove(const std::string& path) override {
    HW_CHECK(check(path));
    return base_->remove(path);
  }
  Result<void> remove_tree(const std::string& path) override {
    HW_CHECK(check(path));
    return base_->remove_tree(path);
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    HW_CHECK(check(to));
    return base_->rename(from, to);
  }
  Result<void> sync_directory(const std::string& path) override { return base_->sync_directory(path); }
  Result<std::unique_ptr<env::Lock>> lock(const std::string& path) override { return base_->lock(path); }
  Result<std::uint64_t> free_bytes(const std::string& path) override { return base_->free_bytes(path); }
  Result<std::uint64_t> total_bytes(const std::string& path) override { return base_->total_bytes(path); }
  Result<std::int64_t> modified_ms(const std::string& path) override { return base_->modified_ms(path); }

 private:
  class BrokenFile final : public env::File {
   public:
    BrokenFile(BrokenDisk& disk, std::string path, std::shared_ptr<env::File> inner)
        : disk_(disk), path_(std::move(path)), inner_(std::move(inner)) {}
    Result<void> append(std::span<const ByteSpan> pieces) override {
      HW_CHECK(disk_.check(path_));
      return inner_->append(pieces);
    }
    Result<void> append_shared(const Bytes& bytes) override {
      HW_CHECK(disk_.check(path_));
      return inner_->append_shared(bytes);
    }
    Result<void> write_at(std::uint64_t position, ByteSpan bytes) override {
      HW_CHECK(disk_.check(path_));
      return inner_->write_at(position, bytes);
    }
    Result<void> truncate(std::uint64_t size) override { return inner_->truncate(size); }
    Result<void> sync() override {
      HW_CHECK(disk_.check(path_));
      return inner_->sync();
    }
    std::uint64_t size() const override { return inner_->size(); }
    BytesChain slices(std::uint64_t position, std::uint64_t size) const override { return inner_->slices(position, size); }
    std::ptrdiff_t read_at(std::uint64_t position, MutableByteSpan into) const override { return inner_->read_at(position, into); }
    int descriptor() const noexcept override { return inner_->descriptor(); }

   private:
    BrokenDisk& disk_;
    const std::string path_;
    std::shared_ptr<env::File> inner_;
  };

  [[nodiscard]] Result<void> check(const std::string& path) const {
    if (broken_.load(std::memory_order_acquire) && path.starts_with(folder_)) {
      return fail(how_, "no space left for " + path);
    }
    return {};
  }

  std::shared_ptr<env::Disk> base_;
  std::string folder_;
  Errc how_ = Errc::no_space;
  std::atomic<bool> broken_{false};
};

}  // namespace hw::test
