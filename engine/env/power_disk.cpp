// SPDX-License-Identifier: Apache-2.0
#include "engine/env/power_disk.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/env/memory_disk.h"

namespace hw::env {

struct PowerDisk::State {
  mutable std::mutex mutex;
  std::map<std::string, std::uint64_t> synced;  // of files that have more: how much of them is stable
  std::atomic<std::uint64_t> forgotten = 0;     // counts what left the map: a File notes itself again

  // P1: of a file that is not in the map every byte is stable.
  std::uint64_t note(const std::string& path, std::uint64_t stable) {
    const std::lock_guard guard(mutex);
    synced.try_emplace(path, stable);
    return forgotten;
  }
};

namespace {

using State = PowerDisk::State;

class PowerFile final : public File {
 public:
  PowerFile(std::shared_ptr<State> state, std::string path, std::shared_ptr<File> inner)
      : state_(std::move(state)), path_(std::move(path)), inner_(std::move(inner)) {}

  Result<void> append(std::span<const ByteSpan> pieces) override {
    const std::lock_guard guard(mutex_);
    note(inner_->size());
    return inner_->append(pieces);
  }
  Result<void> append_shared(const Bytes& bytes) override {
    const std::lock_guard guard(mutex_);
    note(inner_->size());
    return inner_->append_shared(bytes);
  }
  Result<void> write_at(std::uint64_t position, ByteSpan bytes) override {
    const std::lock_guard guard(mutex_);
    note(std::min(position, inner_->size()));
    return inner_->write_at(position, bytes);
  }
  Result<void> truncate(std::uint64_t size) override {
    const std::lock_guard guard(mutex_);
    HW_CHECK(inner_->truncate(size));
    const std::lock_guard states(state_->mutex);
    if (const auto at = state_->synced.find(path_); at != state_->synced.end()) {
      at->second = std::min(at->second, size);
    }
    return {};
  }
  Result<void> sync() override {
    std::uint64_t size = 0;
    {
      const std::lock_guard guard(mutex_);
      size = inner_->size();
    }
    HW_CHECK(inner_->sync());  // may take long: appends go on meanwhile, and are not part of it
    const std::lock_guard guard(mutex_);
    const std::lock_guard states(state_->mutex);
    const auto at = state_->synced.find(path_);
    if (at == state_->synced.end()) {
      return {};
    }
    if (inner_->size() <= size) {
      state_->synced.erase(at);
      ++state_->forgotten;
    } else {
      at->second = std::max(at->second, size);
    }
    return {};
  }

  std::uint64_t size() const override { return inner_->size(); }
  BytesChain slices(std::uint64_t position, std::uint64_t size) const override { return inner_->slices(position, size); }
  std::ptrdiff_t read_at(std::uint64_t position, MutableByteSpan into) const override { return inner_->read_at(position, into); }
  int descriptor() const noexcept override { return inner_->descriptor(); }

 private:
  void note(std::uint64_t stable) {  // REQUIRES: mutex_ held
    if (!noted_ || state_->forgotten.load(std::memory_order_acquire) != noted_at_) {
      noted_at_ = state_->note(path_, stable);
      noted_ = true;
    }
  }

  std::shared_ptr<State> state_;
  const std::string path_;
  std::shared_ptr<File> inner_;
  std::mutex mutex_;
  bool noted_ = false;
  std::uint64_t noted_at_ = 0;
};

// Calls `each` with every file of the map that is `path` or lies below it.
template <class Each>
void below(std::map<std::string, std::uint64_t>& files, const std::string& path, Each each) {
  if (const auto at = files.find(path); at != files.end()) {
    each(at);
  }
  const std::string prefix = path + "/";
  for (auto at = files.lower_bound(prefix); at != files.end() && at->first.starts_with(prefix);) {
    each(at++);
  }
}

}  // namespace

PowerDisk::PowerDisk(std::shared_ptr<Disk> base) : base_(std::move(base)), state_(std::make_shared<State>()) {}
PowerDisk::~PowerDisk() = default;

Result<std::shared_ptr<File>> PowerDisk::open(const std::string& path, OpenMode mode) {
  HW_TRY(std::shared_ptr<File> inner, base_->open(path, mode));
  return std::shared_ptr<File>(std::make_shared<PowerFile>(state_, path, std::move(inner)));
}

Result<std::vector<std::string>> PowerDisk::list(const std::string& directory) { return base_->list(directory); }
bool PowerDisk::exists(const std::string& path) { return base_->exists(path); }
bool PowerDisk::is_directory(const std::string& path) { return base_->is_directory(path); }
Result<std::uint64_t> PowerDisk::file_size(const std::string& path) { return base_->file_size(path); }
Result<void> PowerDisk::make_directories(const std::string& path) { return base_->make_directories(path); }

Result<void> PowerDisk::remove(const std::string& path) {
  HW_CHECK(base_->remove(path));
  const std::lock_guard guard(state_->mutex);
  state_->forgotten += state_->synced.erase(path);
  return {};
}

Result<void> PowerDisk::remove_tree(const std::string& path) {
  HW_CHECK(base_->remove_tree(path));
  const std::lock_guard guard(state_->mutex);
  below(state_->synced, path, [&](auto at) {
    state_->synced.erase(at);
    ++state_->forgotten;
  });
  return {};
}

Result<void> PowerDisk::rename(const std::string& from, const std::string& to) {
  HW_CHECK(base_->rename(from, to));
  const std::lock_guard guard(state_->mutex);
  state_->forgotten += state_->synced.erase(to);  // of the file that was replaced
  std::map<std::string, std::uint64_t> moved;
  below(state_->synced, from, [&](auto at) {
    moved.emplace(to + at->first.substr(from.size()), at->second);
    state_->synced.erase(at);
    ++state_->forgotten;
  });
  state_->synced.merge(moved);
  return {};
}

Result<void> PowerDisk::sync_directory(const std::string& path) { return base_->sync_directory(path); }
Result<std::unique_ptr<Lock>> PowerDisk::lock(const std::string& path) { return base_->lock(path); }
Result<std::uint64_t> PowerDisk::free_bytes(const std::string& path) { return base_->free_bytes(path); }
Result<std::uint64_t> PowerDisk::total_bytes(const std::string& path) { return base_->total_bytes(path); }
Result<std::int64_t> PowerDisk::modified_ms(const std::string& path) { return base_->modified_ms(path); }

Result<PowerDisk::Loss> PowerDisk::cut() {
  const std::lock_guard guard(state_->mutex);
  Loss loss;
  std::optional<Error> first;
  for (const auto& [path, stable] : std::exchange(state_->synced, {})) {
    ++state_->forgotten;
    if (!base_->exists(path)) {
      continue;
    }
    const auto cut_one = [&, &path = path, &stable = stable]() -> Result<void> {
      HW_TRY(const std::shared_ptr<File> file, base_->open(path, OpenMode::create_or_open));
      if (const std::uint64_t size = file->size(); size > stable) {
        HW_CHECK(file->truncate(stable));
        ++loss.files;
        loss.bytes += size - stable;
      }
      return {};
    };
    if (const Result<void> done = cut_one(); !done && !first) {
      first = done.error();
    }
  }
  if (first) {
    return fail(first->code, first->detail);
  }
  return loss;
}

std::size_t PowerDisk::remembered() const {
  const std::lock_guard guard(state_->mutex);
  return state_->synced.size();
}

bool keeps_in_memory(Disk& disk) noexcept {
  auto* power = dynamic_cast<PowerDisk*>(&disk);
  return dynamic_cast<MemoryDisk*>(power == nullptr ? &disk : &power->base()) != nullptr;
}

}  // namespace hw::env
