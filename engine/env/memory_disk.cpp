// SPDX-License-Identifier: Apache-2.0
#include "engine/env/memory_disk.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace hw::env {
namespace {

constexpr std::size_t kCopyBelow = 2048;       // shorter appends go into a chunk
constexpr std::size_t kChunkMin = 256;
constexpr std::size_t kChunkMax = 64U * 1024;
constexpr std::size_t kMaxBlockShare = 8;      // a kept slice is at least 1/8 of its block

}  // namespace

struct MemoryDisk::State {
  std::mutex mutex;
  std::uint64_t max_bytes = 0;
  std::atomic<std::uint64_t> used{0};
  std::map<std::string, std::shared_ptr<File>> files;
  std::set<std::string> directories;
  std::set<std::string> locks;

  bool charge(std::uint64_t bytes) {
    std::uint64_t now = used.load(std::memory_order_relaxed);
    do {
      if (bytes > max_bytes - now) {
        return false;
      }
    } while (!used.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
    return true;
  }
  void refund(std::uint64_t bytes) { used.fetch_sub(bytes, std::memory_order_relaxed); }
};

namespace {

using State = MemoryDisk::State;

class MemoryFile final : public File {
 public:
  explicit MemoryFile(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~MemoryFile() override { state_->refund(size_); }

  Result<void> append(std::span<const ByteSpan> pieces) override {
    std::uint64_t total = 0;
    for (const ByteSpan piece : pieces) {
      total += piece.size();
    }
    HW_CHECK(charge(total));
    const std::lock_guard guard(mutex_);
    for (const ByteSpan piece : pieces) {
      append_copy(piece);
    }
    return {};
  }

  Result<void> append_shared(const Bytes& bytes) override {
    HW_CHECK(charge(bytes.size()));
    const std::lock_guard guard(mutex_);
    if (bytes.size() < kCopyBelow || bytes.block() == nullptr ||
        bytes.block()->capacity / kMaxBlockShare > bytes.size()) {
      append_copy(bytes.span());
      return {};
    }
    size_ += bytes.size();
    pieces_.push_back({bytes, size_});
    chunk_ = nullptr;
    return {};
  }

  Result<void> write_at(std::uint64_t position, ByteSpan bytes) override {
    const std::uint64_t end = position + bytes.size();
    if (end > size()) {
      HW_CHECK(charge(end - size()));
    }
    const std::lock_guard guard(mutex_);
    // Rare (nothing of a log is rewritten in place), so simply: the file becomes one new piece.
    const std::uint64_t total = std::max(end, size_);
    ByteBuilder builder(static_cast<std::size_t>(total));
    std::byte* at = builder.extend(static_cast<std::size_t>(total));
    std::memset(at, 0, static_cast<std::size_t>(total));
    copy_out(0, {at, static_cast<std::size_t>(size_)});
    if (!bytes.empty()) {
      std::memcpy(at + position, bytes.data(), bytes.size());
    }
    pieces_.clear();
    chunk_ = nullptr;
    size_ = total;
    if (total > 0) {
      pieces_.push_back({builder.finish(), total});
    }
    return {};
  }

  Result<void> truncate(std::uint64_t new_size) override {
    if (new_size > size()) {
      const std::vector<std::byte> zeros(static_cast<std::size_t>(new_size - size()));
      const ByteSpan piece(zeros);
      return append({&piece, 1});
    }
    const std::lock_guard guard(mutex_);
    while (!pieces_.empty() && start_of(pieces_.size() - 1) >= new_size) {
      pieces_.pop_back();
    }
    if (!pieces_.empty() && pieces_.back().end > new_size) {
      Piece& last = pieces_.back();
      last.bytes = last.bytes.slice(0, static_cast<std::size_t>(new_size - start_of(pieces_.size() - 1)));
      last.end = new_size;
    }
    chunk_ = nullptr;  // readers may still look at what was cut: never write there again
    state_->refund(size_ - new_size);
    size_ = new_size;
    return {};
  }

  Result<void> sync() override { return {}; }

  std::uint64_t size() const override {
    const std::lock_guard guard(mutex_);
    return size_;
  }

  BytesChain slices(std::uint64_t position, std::uint64_t size) const override {
    const std::lock_guard guard(mutex_);
    BytesChain chain;
    const std::uint64_t end = std::min(size_, position + size);
    for (std::size_t i = find(position); i < pieces_.size() && start_of(i) < end; ++i) {
      const std::uint64_t start = start_of(i);
      const std::uint64_t from = std::max(position, start);
      const std::uint64_t to = std::min(end, pieces_[i].end);
      chain.append(pieces_[i].bytes.slice(static_cast<std::size_t>(from - start), static_cast<std::size_t>(to - from)));
    }
    return chain;
  }

  std::ptrdiff_t read_at(std::uint64_t position, MutableByteSpan into) const override {
    const std::lock_guard guard(mutex_);
    if (position >= size_) {
      return 0;
    }
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - position));
    copy_out(position, into.first(wanted));
    return static_cast<std::ptrdiff_t>(wanted);
  }

 private:
  struct Piece {
    Bytes bytes;
    std::uint64_t end = 0;  // position behind the last byte
  };

  Result<void> charge(std::uint64_t bytes) {
    if (!state_->charge(bytes)) {
      return fail(Errc::no_space, "the memory disk is full (" + std::to_string(state_->max_bytes) + " bytes)");
    }
    return {};
  }
  std::uint64_t start_of(std::size_t index) const { return index == 0 ? 0 : pieces_[index - 1].end; }
  std::size_t find(std::uint64_t position) const {  // the piece that holds `position`
    const auto it = std::upper_bound(pieces_.begin(), pieces_.end(), position,
                                     [](std::uint64_t at, const Piece& piece) { return at < piece.end; });
    return static_cast<std::size_t>(it - pieces_.begin());
  }
  void copy_out(std::uint64_t position, MutableByteSpan into) const {
    std::size_t done = 0;
    for (std::size_t i = find(position); i < pieces_.size() && done < into.size(); ++i) {
      const std::size_t skip = static_cast<std::size_t>(position + done - start_of(i));
      const std::size_t n = std::min(pieces_[i].bytes.size() - skip, into.size() - done);
      std::memcpy(into.data() + done, pieces_[i].bytes.data() + skip, n);
      done += n;
    }
  }
  // Into the room behind the last piece where that is a chunk of ours; readers hold slices that end before it.
  void append_copy(ByteSpan bytes) {
    if (bytes.empty()) {
      return;
    }
    if (chunk_ != nullptr && chunk_->capacity - chunk_used_ >= bytes.size()) {
      Piece& last = pieces_.back();
      std::memcpy(chunk_->data() + chunk_used_, bytes.data(), bytes.size());
      chunk_used_ += bytes.size();
      size_ += bytes.size();
      chunk_->retain();
      const std::size_t piece_size = last.bytes.size() + bytes.size();
      last.bytes = Bytes::adopt(chunk_, last.bytes.data(), piece_size);
      last.end = size_;
      return;
    }
    const std::size_t room = std::clamp(static_cast<std::size_t>(size_), kChunkMin, kChunkMax);
    Block* block = Block::create(std::max(room, bytes.size()));
    std::memcpy(block->data(), bytes.data(), bytes.size());
    size_ += bytes.size();
    pieces_.push_back({Bytes::adopt(block, block->data(), bytes.size()), size_});
    chunk_ = block;
    chunk_used_ = bytes.size();
  }

  std::shared_ptr<State> state_;
  mutable std::mutex mutex_;
  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
  Block* chunk_ = nullptr;  // held by the last piece; null where that is not a chunk
  std::size_t chunk_used_ = 0;
};

class MemoryLock final : public Lock {
 public:
  MemoryLock(std::shared_ptr<State> state, std::string path) : state_(std::move(state)), path_(std::move(path)) {}
  ~MemoryLock() override {
    const std::lock_guard guard(state_->mutex);
    state_->locks.erase(path_);
  }

 private:
  std::shared_ptr<State> state_;
  std::string path_;
};

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos || slash == 0 ? std::string() : path.substr(0, slash);
}

bool below(const std::string& path, const std::string& prefix) {
  return path.size() > prefix.size() && path.compare(0, prefix.size(), prefix) == 0;
}

}  // namespace

MemoryDisk::MemoryDisk(std::uint64_t max_bytes) : state_(std::make_shared<State>()) { state_->max_bytes = max_bytes; }
MemoryDisk::~MemoryDisk() {
  // Files name the state and the state names files: cut the circle.
  std::map<std::string, std::shared_ptr<File>> files;
  {
    const std::lock_guard guard(state_->mutex);
    files.swap(state_->files);
  }
}

Result<std::shared_ptr<File>> MemoryDisk::open(const std::string& path, OpenMode mode) {
  const std::lock_guard guard(state_->mutex);
  const auto it = state_->files.find(path);
  if (it != state_->files.end()) {
    if (mode == OpenMode::create_new) {
      return fail(Errc::exists, path + " is there already");
    }
    return it->second;
  }
  if (mode == OpenMode::read) {
    return fail(Errc::not_found, path + " is not there");
  }
  const std::string parent = parent_of(path);
  if (!parent.empty() && state_->directories.count(parent) == 0) {
    return fail(Errc::not_found, parent + " is not there");
  }
  std::shared_ptr<File> file = std::make_shared<MemoryFile>(state_);
  state_->files.emplace(path, file);
  return file;
}

Result<std::vector<std::string>> MemoryDisk::list(const std::string& directory) {
  const std::lock_guard guard(state_->mutex);
  if (state_->directories.count(directory) == 0) {
    return fail(Errc::not_found, directory + " is not there");
  }
  const std::string prefix = directory + "/";
  std::set<std::string> names;
  for (auto it = state_->files.lower_bound(prefix); it != state_->files.end() && below(it->first, prefix);) {
    const std::string rest = it->first.substr(prefix.size());
    const std::size_t slash = rest.find('/');
    names.insert(rest.substr(0, slash));
    // Past everything of a sub-directory at once: '0' follows '/'.
    it = slash == std::string::npos ? std::next(it) : state_->files.lower_bound(prefix + rest.substr(0, slash) + "0");
  }
  for (auto it = state_->directories.lower_bound(prefix);
       it != state_->directories.end() && below(*it, prefix); ++it) {
    const std::string rest = it->substr(prefix.size());
    names.insert(rest.substr(0, rest.find('/')));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

bool MemoryDisk::exists(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  return state_->files.count(path) != 0 || state_->directories.count(path) != 0;
}

bool MemoryDisk::is_directory(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  return state_->directories.count(path) != 0;
}

Result<std::uint64_t> MemoryDisk::file_size(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  const auto it = state_->files.find(path);
  if (it == state_->files.end()) {
    return fail(Errc::not_found, path + " is not there");
  }
  return it->second->size();
}

Result<void> MemoryDisk::make_directories(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  for (std::string at = path; !at.empty(); at = parent_of(at)) {
    if (state_->files.count(at) != 0) {
      return fail(Errc::exists, at + " is there and is not a directory");
    }
    if (!state_->directories.insert(at).second) {
      break;
    }
  }
  return {};
}

Result<void> MemoryDisk::remove(const std::string& path) {
  std::shared_ptr<File> last;  // destroyed outside the mutex
  const std::lock_guard guard(state_->mutex);
  const auto it = state_->files.find(path);
  if (it == state_->files.end()) {
    return fail(Errc::not_found, path + " is not there");
  }
  last = std::move(it->second);
  state_->files.erase(it);
  return {};
}

Result<void> MemoryDisk::remove_tree(const std::string& path) {
  std::vector<std::shared_ptr<File>> last;
  const std::lock_guard guard(state_->mutex);
  if (state_->directories.erase(path) == 0) {
    return fail(Errc::not_found, path + " is not there");
  }
  const std::string prefix = path + "/";
  for (auto it = state_->files.lower_bound(prefix); it != state_->files.end() && below(it->first, prefix);) {
    last.push_back(std::move(it->second));
    it = state_->files.erase(it);
  }
  for (auto it = state_->directories.lower_bound(prefix);
       it != state_->directories.end() && below(*it, prefix);) {
    it = state_->directories.erase(it);
  }
  return {};
}

Result<void> MemoryDisk::rename(const std::string& from, const std::string& to) {
  std::shared_ptr<File> replaced;
  const std::lock_guard guard(state_->mutex);
  if (const auto it = state_->files.find(from); it != state_->files.end()) {
    std::shared_ptr<File> file = std::move(it->second);
    state_->files.erase(it);
    replaced = std::exchange(state_->files[to], std::move(file));
    return {};
  }
  if (state_->directories.count(from) == 0) {
    return fail(Errc::not_found, from + " is not there");
  }
  if (state_->directories.count(to) != 0 || state_->files.count(to) != 0) {
    return fail(Errc::exists, to + " is there already");
  }
  state_->directories.erase(from);
  state_->directories.insert(to);
  const std::string prefix = from + "/";
  for (auto it = state_->files.lower_bound(prefix); it != state_->files.end() && below(it->first, prefix);) {
    state_->files[to + "/" + it->first.substr(prefix.size())] = std::move(it->second);
    it = state_->files.erase(it);
  }
  std::vector<std::string> inner;
  for (auto it = state_->directories.lower_bound(prefix);
       it != state_->directories.end() && below(*it, prefix);) {
    inner.push_back(it->substr(prefix.size()));
    it = state_->directories.erase(it);
  }
  for (const std::string& name : inner) {
    state_->directories.insert(to + "/" + name);
  }
  return {};
}

Result<void> MemoryDisk::sync_directory(const std::string& /*path*/) { return {}; }

Result<std::unique_ptr<Lock>> MemoryDisk::lock(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  if (!state_->locks.insert(path).second) {
    return fail(Errc::locked, path + " is held by another user of this memory disk");
  }
  return std::unique_ptr<Lock>(std::make_unique<MemoryLock>(state_, path));
}

Result<std::uint64_t> MemoryDisk::free_bytes(const std::string& /*path*/) {
  return state_->max_bytes - state_->used.load(std::memory_order_relaxed);
}

Result<std::uint64_t> MemoryDisk::total_bytes(const std::string& /*path*/) { return state_->max_bytes; }

Result<std::int64_t> MemoryDisk::modified_ms(const std::string& path) {
  return fail(Errc::unsupported, path + " is in memory, which keeps no times");
}

std::uint64_t MemoryDisk::used_bytes() const { return state_->used.load(std::memory_order_relaxed); }

}  // namespace hw::env
