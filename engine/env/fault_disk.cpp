// SPDX-License-Identifier: Apache-2.0
#include "engine/env/fault_disk.h"

#include <algorithm>
#include <utility>

#include "engine/base/trial.h"

namespace hw::env {

class FaultFile final : public File {
 public:
  FaultFile(FaultDisk& disk, std::string path, std::shared_ptr<File> inner)
      : disk_(disk), path_(std::move(path)), inner_(std::move(inner)), generation_(disk.generation_) {}

  Result<void> append(std::span<const ByteSpan> pieces) override {
    std::uint64_t total = 0;
    for (const ByteSpan piece : pieces) {
      total += piece.size();
    }
    HW_CHECK(alive());
    const bool no_room = disk_.full(total);
    if (disk_.strikes() || no_room) {
      // Part of the bytes arrived, as with a real writev.
      std::uint64_t part = total == 0 ? 0 : disk_.prng_.below(total);
      for (const ByteSpan piece : pieces) {
        const ByteSpan head = piece.first(static_cast<std::size_t>(std::min<std::uint64_t>(part, piece.size())));
        if (!head.empty()) {
          HW_CHECK(inner_->append({&head, 1}));
        }
        part -= head.size();
      }
      return no_room ? fail(Errc::no_space, "no space left for " + path_) : fail(Errc::io, "injected: append to " + path_);
    }
    disk_.written_ += total;
    return inner_->append(pieces);
  }

  Result<void> append_shared(const Bytes& bytes) override {
    HW_CHECK(alive());
    const ByteSpan piece = bytes.span();
    if (disk_.fail_countdown_ != 0 || disk_.capacity_ != 0) {
      return append({&piece, 1});
    }
    ++disk_.operations_;
    disk_.written_ += bytes.size();
    return inner_->append_shared(bytes);
  }

  Result<void> write_at(std::uint64_t position, ByteSpan bytes) override {
    HW_CHECK(alive());
    if (disk_.strikes()) {
      return fail(Errc::io, "injected: write to " + path_);
    }
    return inner_->write_at(position, bytes);
  }

  Result<void> truncate(std::uint64_t size) override {
    HW_CHECK(alive());
    if (disk_.strikes()) {
      return fail(Errc::io, "injected: truncate " + path_);
    }
    if (size < inner_->size()) {
      disk_.written_ -= std::min(disk_.written_, inner_->size() - size);
    }
    HW_CHECK(inner_->truncate(size));
    FaultDisk::Fate& fate = disk_.fates_[path_];
    fate.synced = std::min(fate.synced, size);
    return {};
  }

  Result<void> sync() override {
    HW_CHECK(alive());
    if (disk_.strikes()) {
      return fail(Errc::io, "injected: sync " + path_);
    }
    if (trial::has_bug(trial::Canary::syncs_nothing)) {
      return {};
    }
    // Only noted: what stable storage holds is decided here, not below.
    FaultDisk::Fate& fate = disk_.fates_[path_];
    fate.synced = inner_->size();
    fate.name_synced = true;  // as the usual journaling file systems do for a new file
    return {};
  }

  std::uint64_t size() const override { return inner_->size(); }
  BytesChain slices(std::uint64_t position, std::uint64_t size) const override {
    return inner_->slices(position, size);
  }
  std::ptrdiff_t read_at(std::uint64_t position, MutableByteSpan into) const override {
    return generation_ == disk_.generation_ ? inner_->read_at(position, into) : -1;
  }
  int descriptor() const noexcept override { return inner_->descriptor(); }

 private:
  Result<void> alive() const {
    if (generation_ != disk_.generation_) {
      return fail(Errc::closed, path_ + " was open when the machine crashed");
    }
    return {};
  }

  FaultDisk& disk_;
  std::string path_;
  std::shared_ptr<File> inner_;
  std::uint64_t generation_;
};

namespace {

class FaultLock final : public Lock {
 public:
  FaultLock(std::shared_ptr<std::set<std::string>> locks, std::string path)
      : locks_(std::move(locks)), path_(std::move(path)) {}
  ~FaultLock() override { locks_->erase(path_); }

 private:
  std::shared_ptr<std::set<std::string>> locks_;
  std::string path_;
};

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

}  // namespace

FaultDisk::FaultDisk(Disk& base, Prng prng) : base_(base), prng_(prng) {}
FaultDisk::~FaultDisk() = default;

bool FaultDisk::strikes() {
  ++operations_;
  if (fail_countdown_ == 0) {
    return false;
  }
  return --fail_countdown_ == 0;
}

bool FaultDisk::full(std::uint64_t more) { return capacity_ != 0 && written_ + more > capacity_; }

Result<std::shared_ptr<File>> FaultDisk::open(const std::string& path, OpenMode mode) {
  const bool is_new = mode != OpenMode::read && !base_.exists(path);
  if (is_new && strikes()) {
    return fail(Errc::io, "injected: create " + path);
  }
  HW_TRY(std::shared_ptr<File> inner, base_.open(path, mode));
  if (is_new) {
    fates_[path] = Fate{};
  } else if (fates_.count(path) == 0) {
    fates_[path] = Fate{inner->size(), true};  // was there before us
  }
  return std::shared_ptr<File>(std::make_shared<FaultFile>(*this, path, std::move(inner)));
}

Result<std::vector<std::string>> FaultDisk::list(const std::string& directory) { return base_.list(directory); }
bool FaultDisk::exists(const std::string& path) { return base_.exists(path); }
bool FaultDisk::is_directory(const std::string& path) { return base_.is_directory(path); }
Result<std::uint64_t> FaultDisk::file_size(const std::string& path) { return base_.file_size(path); }

Result<void> FaultDisk::make_directories(const std::string& path) {
  if (strikes()) {
    return fail(Errc::io, "injected: make " + path);
  }
  return base_.make_directories(path);
}

Result<void> FaultDisk::remove(const std::string& path) {
  if (strikes()) {
    return fail(Errc::io, "injected: remove " + path);
  }
  fates_.erase(path);
  return base_.remove(path);
}

Result<void> FaultDisk::remove_tree(const std::string& path) {
  if (strikes()) {
    return fail(Errc::io, "injected: remove " + path);
  }
  const std::string prefix = path + "/";
  for (auto it = fates_.lower_bound(prefix); it != fates_.end() && it->first.compare(0, prefix.size(), prefix) == 0;) {
    it = fates_.erase(it);
  }
  return base_.remove_tree(path);
}

Result<void> FaultDisk::rename(const std::string& from, const std::string& to) {
  if (strikes()) {
    return fail(Errc::io, "injected: rename " + from);
  }
  HW_CHECK(base_.rename(from, to));
  std::vector<std::pair<std::string, Fate>> moved;
  if (const auto it = fates_.find(from); it != fates_.end()) {
    moved.emplace_back(to, it->second);
    fates_.erase(it);
  }
  const std::string prefix = from + "/";
  for (auto it = fates_.lower_bound(prefix); it != fates_.end() && it->first.compare(0, prefix.size(), prefix) == 0;) {
    moved.emplace_back(to + "/" + it->first.substr(prefix.size()), it->second);
    it = fates_.erase(it);
  }
  for (auto& [path, fate] : moved) {
    fate.name_synced = true;
    fates_[path] = fate;
  }
  return {};
}

Result<void> FaultDisk::sync_directory(const std::string& path) {
  if (strikes()) {
    return fail(Errc::io, "injected: sync " + path);
  }
  for (auto& [file, fate] : fates_) {
    if (parent_of(file) == path) {
      fate.name_synced = true;
    }
  }
  return {};
}

Result<std::unique_ptr<Lock>> FaultDisk::lock(const std::string& path) {
  if (!locks_->insert(path).second) {
    return fail(Errc::locked, path + " is held by another user of this disk");
  }
  return std::unique_ptr<Lock>(std::make_unique<FaultLock>(locks_, path));
}

Result<std::uint64_t> FaultDisk::free_bytes(const std::string& path) {
  if (capacity_ != 0) {
    return capacity_ > written_ ? capacity_ - written_ : 0;
  }
  return base_.free_bytes(path);
}

Result<std::uint64_t> FaultDisk::total_bytes(const std::string& path) {
  return capacity_ != 0 ? Result<std::uint64_t>(capacity_) : base_.total_bytes(path);
}

Result<std::int64_t> FaultDisk::modified_ms(const std::string& path) { return base_.modified_ms(path); }

void FaultDisk::kill() {
  ++generation_;
  fail_countdown_ = 0;
  locks_ = std::make_shared<std::set<std::string>>();
}

Result<void> FaultDisk::crash() {
  kill();
  std::map<std::string, Fate> fates;
  fates.swap(fates_);
  for (const auto& [path, fate] : fates) {
    if (!base_.exists(path)) {
      continue;
    }
    HW_TRY(const std::shared_ptr<File> file, base_.open(path, OpenMode::create_or_open));
    const std::uint64_t size = file->size();
    if (!fate.name_synced && prng_.chance({1, 3})) {
      HW_CHECK(base_.remove(path));
      continue;
    }
    if (size <= fate.synced) {
      continue;
    }
    const std::uint64_t tail = size - fate.synced;
    switch (prng_.below(6)) {
      case 0:  // all of it happened to reach the disk
        break;
      case 1:
        HW_CHECK(file->truncate(fate.synced));
        break;
      case 2:
        HW_CHECK(file->truncate(fate.synced + prng_.below(tail)));
        break;
      case 3: {  // a page in the middle did not reach it
        constexpr std::uint64_t kPage = 4096;
        const std::uint64_t from = fate.synced + prng_.below(tail);
        const std::vector<std::byte> zeros(static_cast<std::size_t>(std::min(kPage, size - from)));
        HW_CHECK(file->write_at(from, zeros));
        break;
      }
      case 4: {  // a sector holds anything
        constexpr std::uint64_t kSector = 512;
        const std::uint64_t at = std::max(fate.synced, (fate.synced + prng_.below(tail)) / kSector * kSector);
        std::vector<std::byte> garbage(static_cast<std::size_t>(std::min(kSector, size - at)));
        for (std::byte& one : garbage) {
          one = static_cast<std::byte>(prng_.below(256));
        }
        HW_CHECK(file->write_at(at, garbage));
        break;
      }
      default: {
        const std::uint64_t kept = prng_.below(tail);
        const std::vector<std::byte> zeros(static_cast<std::size_t>(tail - kept));
        HW_CHECK(file->truncate(fate.synced + kept));
        const ByteSpan piece(zeros);
        HW_CHECK(file->append({&piece, 1}));
        break;
      }
    }
  }
  return {};
}

}  // namespace hw::env
