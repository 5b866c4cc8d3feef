// SPDX-License-Identifier: Apache-2.0
#include "engine/env/posix_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

namespace hw::env {
namespace {

Unexpected<Error> os_error(int code, const std::string& what) {
  Errc errc = Errc::io;
  std::string hint;
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      errc = Errc::not_found;
      break;
    case EEXIST:
    case ENOTEMPTY:
      errc = Errc::exists;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      errc = Errc::permission;
      break;
    case ENOSPC:
    case EDQUOT:
      errc = Errc::no_space;
      break;
    case EMFILE:
    case ENFILE:
      hint = " (the limit of open files is reached: raise it with `ulimit -n`)";
      break;
    default:
      break;
  }
  return fail(errc, what + ": " + std::generic_category().message(code) + hint);
}

// An open descriptor; closed with its last user.
struct Descriptor {
  explicit Descriptor(int number) noexcept : fd(number) {}
  ~Descriptor() {
    if (fd >= 0) {
      ::close(fd);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd = -1;
};

int open_retrying(const std::string& path, int flags) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

}  // namespace

class PosixFile;

struct PosixDisk::Cache {
  explicit Cache(std::size_t limit) : max_descriptors(limit < 1 ? 1 : limit) {}

  mutable std::mutex mutex;
  std::size_t max_descriptors;
  std::list<const PosixFile*> recent;                    // front: used last
  std::deque<std::shared_ptr<Descriptor>> grace;         // evicted, not closed yet
  std::multimap<std::string, PosixFile*> files;          // every File alive, by path

  void evict_one();  // REQUIRES: mutex held
};

class PosixFile final : public File {
 public:
  PosixFile(std::shared_ptr<PosixDisk::Cache> cache, std::string path, int flags, std::uint64_t size)
      : cache_(std::move(cache)), path_(std::move(path)), flags_(flags), size_(size) {}

  ~PosixFile() override {
    std::shared_ptr<Descriptor> last;  // closed outside the mutex
    const std::lock_guard guard(cache_->mutex);
    if (descriptor_) {
      cache_->recent.erase(place_);
      last = std::move(descriptor_);
    }
    unregister();
  }

  // REQUIRES for the three below: the cache's mutex is held.
  void install(std::shared_ptr<Descriptor> descriptor) const {
    descriptor_ = std::move(descriptor);
    cache_->recent.push_front(this);
    place_ = cache_->recent.begin();
    while (cache_->recent.size() > cache_->max_descriptors) {
      cache_->evict_one();
    }
  }
  void evict() const {
    cache_->recent.erase(place_);
    cache_->grace.push_back(std::move(descriptor_));
    descriptor_ = nullptr;
    while (cache_->grace.size() > PosixDisk::kGrace) {
      cache_->grace.pop_front();
    }
  }
  void enlist() { registered_ = cache_->files.emplace(path_, this); }
  void unregister() {
    if (registered_) {
      cache_->files.erase(*registered_);
      registered_.reset();
    }
  }
  void set_path(std::string path) {
    unregister();
    path_ = std::move(path);
    enlist();
  }

  Result<std::shared_ptr<Descriptor>> acquire() const {
    const std::lock_guard guard(cache_->mutex);
    if (descriptor_) {
      if (cache_->recent.front() != this) {
        cache_->recent.splice(cache_->recent.begin(), cache_->recent, place_);
      }
      return descriptor_;
    }
    int fd = open_retrying(path_, flags_);
    while (fd < 0 && (errno == EMFILE || errno == ENFILE) && (!cache_->recent.empty() || !cache_->grace.empty())) {
      cache_->grace.clear();
      if (!cache_->recent.empty()) {
        cache_->evict_one();
        cache_->grace.clear();
      }
      fd = open_retrying(path_, flags_);
    }
    if (fd < 0) {
      return os_error(errno, "cannot open " + path_);
    }
    install(std::make_shared<Descriptor>(fd));
    return descriptor_;
  }

  std::ptrdiff_t read_at(std::uint64_t position, MutableByteSpan into) const override {
    const Result<std::shared_ptr<Descriptor>> descriptor = acquire();
    if (!descriptor) {
      return -1;
    }
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t got = ::pread(descriptor.value()->fd, into.data() + done, into.size() - done,
                                  static_cast<off_t>(position + done));
      if (got < 0) {
        if (errno == EINTR) {
          continue;
        }
        return -1;
      }
      if (got == 0) {
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    return static_cast<std::ptrdiff_t>(done);
  }

  int descriptor() const noexcept override {
    const Result<std::shared_ptr<Descriptor>> descriptor = acquire();
    return descriptor ? descriptor.value()->fd : -1;
  }

  Result<void> append(std::span<const ByteSpan> pieces) override {
    HW_TRY(const std::shared_ptr<Descriptor> descriptor, acquire());
    std::array<iovec, 16> vectors{};
    std::size_t next = 0;  // first piece that is not wholly written
    std::size_t skip = 0;  // bytes of it that are
    while (next < pieces.size()) {
      std::size_t count = 0;
      for (std::size_t i = next; i < pieces.size() && count < vectors.size(); ++i) {
        const std::size_t from = i == next ? skip : 0;
        if (pieces[i].size() > from) {
          vectors[count].iov_base = const_cast<std::byte*>(pieces[i].data() + from);  // NOLINT: pwritev reads only
          vectors[count].iov_len = pieces[i].size() - from;
          ++count;
        }
      }
      if (count == 0) {
        break;
      }
      const std::uint64_t at = size_.load(std::memory_order_relaxed);
      const ssize_t wrote =
          ::pwritev(descriptor->fd, vectors.data(), static_cast<int>(count), static_cast<off_t>(at));
      if (wrote < 0) {
        if (errno == EINTR) {
          continue;
        }
        return os_error(errno, "cannot write " + path_);
      }
      size_.store(at + static_cast<std::uint64_t>(wrote), std::memory_order_release);
      std::size_t left = static_cast<std::size_t>(wrote);
      while (next < pieces.size() && left >= pieces[next].size() - skip) {
        left -= pieces[next].size() - skip;
        skip = 0;
        ++next;
      }
      skip += left;
    }
    return {};
  }

  Result<void> append_shared(const Bytes& bytes) override {
    const std::array<ByteSpan, 1> pieces{bytes.span()};
    return append(pieces);
  }

  Result<void> write_at(std::uint64_t position, ByteSpan bytes) override {
    HW_TRY(const std::shared_ptr<Descriptor> descriptor, acquire());
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t wrote = ::pwrite(descriptor->fd, bytes.data() + done, bytes.size() - done,
                                     static_cast<off_t>(position + done));
      if (wrote < 0) {
        if (errno == EINTR) {
          continue;
        }
        return os_error(errno, "cannot write " + path_);
      }
      done += static_cast<std::size_t>(wrote);
    }
    const std::uint64_t end = position + bytes.size();
    if (end > size_.load(std::memory_order_relaxed)) {
      size_.store(end, std::memory_order_release);
    }
    return {};
  }

  Result<void> truncate(std::uint64_t size) override {
    if (size == size_.load(std::memory_order_relaxed)) {
      return {};
    }
    HW_TRY(const std::shared_ptr<Descriptor> descriptor, acquire());
    if (::ftruncate(descriptor->fd, static_cast<off_t>(size)) != 0) {
      return os_error(errno, "cannot truncate " + path_);
    }
    size_.store(size, std::memory_order_release);
    return {};
  }

  Result<void> sync() override {
    HW_TRY(const std::shared_ptr<Descriptor> descriptor, acquire());
    if (::fdatasync(descriptor->fd) != 0) {
      return os_error(errno, "cannot sync " + path_);
    }
    return {};
  }

  std::uint64_t size() const override { return size_.load(std::memory_order_acquire); }
  BytesChain slices(std::uint64_t /*position*/, std::uint64_t /*size*/) const override { return {}; }

 private:
  std::shared_ptr<PosixDisk::Cache> cache_;
  std::string path_;  // guarded by the cache's mutex
  int flags_;
  std::atomic<std::uint64_t> size_;
  mutable std::shared_ptr<Descriptor> descriptor_;               // guarded by the cache's mutex
  mutable std::list<const PosixFile*>::iterator place_;          // valid where descriptor_ is set
  std::optional<std::multimap<std::string, PosixFile*>::iterator> registered_;
};

void PosixDisk::Cache::evict_one() {
  if (!recent.empty()) {
    recent.back()->evict();
  }
}

namespace {

class PosixLock final : public Lock {
 public:
  explicit PosixLock(int fd) noexcept : descriptor_(fd) {}

 private:
  Descriptor descriptor_;
};

Result<void> remove_tree_at(const std::string& path) {
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) {
    return os_error(errno, "cannot open directory " + path);
  }
  std::vector<std::pair<std::string, bool>> entries;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") {
      continue;
    }
    bool is_folder = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN) {
      struct stat status {};
      is_folder = ::lstat((path + "/" + name).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
    }
    entries.emplace_back(name, is_folder);
  }
  ::closedir(directory);
  for (const auto& [name, is_folder] : entries) {
    const std::string child = path + "/" + name;
    if (is_folder) {
      HW_CHECK(remove_tree_at(child));
    } else if (::unlink(child.c_str()) != 0 && errno != ENOENT) {
      return os_error(errno, "cannot remove " + child);
    }
  }
  if (::rmdir(path.c_str()) != 0 && errno != ENOENT) {
    return os_error(errno, "cannot remove " + path);
  }
  return {};
}

}  // namespace

PosixDisk::PosixDisk(std::size_t max_descriptors) : cache_(std::make_shared<Cache>(max_descriptors)) {}
PosixDisk::~PosixDisk() = default;

Result<std::shared_ptr<File>> PosixDisk::open(const std::string& path, OpenMode mode) {
  int flags = O_RDONLY;
  int extra = 0;
  switch (mode) {
    case OpenMode::read:
      break;
    case OpenMode::create_or_open:
      flags = O_RDWR;
      extra = O_CREAT;
      break;
    case OpenMode::create_new:
      flags = O_RDWR;
      extra = O_CREAT | O_EXCL;
      break;
  }
  int fd = open_retrying(path, flags | extra);
  if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
    {
      const std::lock_guard guard(cache_->mutex);
      cache_->grace.clear();
      for (int i = 0; i < 16; ++i) {
        cache_->evict_one();
      }
      cache_->grace.clear();
    }
    fd = open_retrying(path, flags | extra);
  }
  if (fd < 0) {
    return os_error(errno, "cannot open " + path);
  }
  auto descriptor = std::make_shared<Descriptor>(fd);
  std::uint64_t size = 0;
  if (mode != OpenMode::create_new) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) {
      return os_error(errno, "cannot look at " + path);
    }
    if (!S_ISREG(status.st_mode)) {
      return fail(Errc::invalid, path + " is not a file");
    }
    size = static_cast<std::uint64_t>(status.st_size);
  }
  auto file = std::make_shared<PosixFile>(cache_, path, flags, size);
  const std::lock_guard guard(cache_->mutex);
  file->enlist();
  file->install(std::move(descriptor));
  return std::shared_ptr<File>(std::move(file));
}

Result<std::vector<std::string>> PosixDisk::list(const std::string& directory) {
  DIR* handle = ::opendir(directory.c_str());
  if (handle == nullptr) {
    return os_error(errno, "cannot open directory " + directory);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(handle)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  ::closedir(handle);
  std::sort(names.begin(), names.end());
  return names;
}

bool PosixDisk::exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

bool PosixDisk::is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Result<std::uint64_t> PosixDisk::file_size(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return os_error(errno, "cannot look at " + path);
  }
  return static_cast<std::uint64_t>(status.st_size);
}

Result<void> PosixDisk::make_directories(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) {
    return {};
  }
  if (errno == EEXIST) {
    return is_directory(path) ? Result<void>{} : fail(Errc::exists, path + " is there and is not a directory");
  }
  const std::size_t slash = path.find_last_of('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0) {
    return os_error(errno, "cannot make directory " + path);
  }
  HW_CHECK(make_directories(path.substr(0, slash)));
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return os_error(errno, "cannot make directory " + path);
  }
  return {};
}

Result<void> PosixDisk::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0) {
    return os_error(errno, "cannot remove " + path);
  }
  return {};
}

Result<void> PosixDisk::remove_tree(const std::string& path) { return remove_tree_at(path); }

Result<void> PosixDisk::rename(const std::string& from, const std::string& to) {
  const std::lock_guard guard(cache_->mutex);  // no File may reopen between the rename and the new path
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return os_error(errno, "cannot rename " + from + " to " + to);
  }
  std::vector<std::pair<PosixFile*, std::string>> moved;
  const auto [first, last] = cache_->files.equal_range(from);
  for (auto it = first; it != last; ++it) {
    moved.emplace_back(it->second, to);
  }
  const std::string below = from + "/";
  for (auto it = cache_->files.lower_bound(below); it != cache_->files.end(); ++it) {
    if (it->first.compare(0, below.size(), below) != 0) {
      break;
    }
    moved.emplace_back(it->second, to + "/" + it->first.substr(below.size()));
  }
  for (auto& [file, path] : moved) {
    file->set_path(std::move(path));
  }
  return {};
}

Result<void> PosixDisk::sync_directory(const std::string& path) {
  const int fd = open_retrying(path, O_RDONLY | O_DIRECTORY);
  if (fd < 0) {
    return os_error(errno, "cannot open directory " + path);
  }
  const Descriptor descriptor(fd);
  if (::fsync(fd) != 0) {
    return os_error(errno, "cannot sync directory " + path);
  }
  return {};
}

Result<std::unique_ptr<Lock>> PosixDisk::lock(const std::string& path) {
  const int fd = open_retrying(path, O_RDWR | O_CREAT);
  if (fd < 0) {
    return os_error(errno, "cannot open " + path);
  }
  auto held = std::make_unique<PosixLock>(fd);
  // An open-file-description lock: it conflicts with the record lock that other Kafka brokers take on this file.
  struct flock request {};
  request.l_type = F_WRLCK;
  request.l_whence = SEEK_SET;
  if (::fcntl(fd, F_OFD_SETLK, &request) != 0) {
    if (errno != EACCES && errno != EAGAIN) {
      return os_error(errno, "cannot lock " + path);
    }
    std::array<char, 24> text{};
    const ssize_t got = ::pread(fd, text.data(), text.size() - 1, 0);
    const long holder = got > 0 ? std::strtol(text.data(), nullptr, 10) : 0;
    return fail(Errc::locked, holder > 0 ? path + " is held by process " + std::to_string(holder)
                                         : path + " is held by another process");
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) < 0) {
    return os_error(errno, "cannot write " + path);
  }
  return std::unique_ptr<Lock>(std::move(held));
}

Result<std::uint64_t> PosixDisk::free_bytes(const std::string& path) {
  struct statvfs status {};
  if (::statvfs(path.c_str(), &status) != 0) {
    return os_error(errno, "cannot look at the file system of " + path);
  }
  return static_cast<std::uint64_t>(status.f_bavail) * static_cast<std::uint64_t>(status.f_frsize);
}

Result<std::uint64_t> PosixDisk::total_bytes(const std::string& path) {
  struct statvfs status {};
  if (::statvfs(path.c_str(), &status) != 0) {
    return os_error(errno, "cannot look at the file system of " + path);
  }
  return static_cast<std::uint64_t>(status.f_blocks) * static_cast<std::uint64_t>(status.f_frsize);
}

Result<std::int64_t> PosixDisk::modified_ms(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return os_error(errno, "cannot look at " + path);
  }
  return std::int64_t{status.st_mtim.tv_sec} * 1000 + status.st_mtim.tv_nsec / 1'000'000;
}

std::size_t PosixDisk::open_descriptors() const {
  const std::lock_guard guard(cache_->mutex);
  return cache_->recent.size() + cache_->grace.size();
}

}  // namespace hw::env
