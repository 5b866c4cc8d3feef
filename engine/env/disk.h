// SPDX-License-Identifier: Apache-2.0
// Disk and File: the file system as logs need it (LevelDB's Env, smaller). PosixDisk is the real one, MemoryDisk keeps
// shared immutable blocks, FaultDisk wraps any other for tests and the simulator.
//
// Paths are UTF-8, separated by '/'. Errors are Results with the operating system's words in `detail`.
// Thread rule: a Disk may be used from any thread; a File by one thread at a time, except read_at(), which any may call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/result.h"

namespace hw::env {

enum class OpenMode : std::uint8_t { read, create_or_open, create_new };

class File : public RegionSource {
 public:
  // Appends in one go (writev); on error the file may end in part of the bytes.
  virtual Result<void> append(std::span<const ByteSpan> pieces) = 0;
  // Appends without copying where the disk can keep the bytes themselves (memory disk); same effect as append().
  virtual Result<void> append_shared(const Bytes& bytes) = 0;
  virtual Result<void> write_at(std::uint64_t position, ByteSpan bytes) = 0;
  virtual Result<void> truncate(std::uint64_t size) = 0;
  virtual Result<void> sync() = 0;  // disk pool only
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  // The bytes of a range without copying where the disk holds them in memory; otherwise empty (use a FileRegion).
  [[nodiscard]] virtual BytesChain slices(std::uint64_t position, std::uint64_t size) const = 0;
};

// Held for the life of the object; released by the operating system when the process dies.
class Lock {
 public:
  virtual ~Lock() = default;
};

class Disk {
 public:
  virtual ~Disk() = default;
  virtual Result<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
  virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;  // names, sorted; not recursive
  [[nodiscard]] virtual bool exists(const std::string& path) = 0;
  [[nodiscard]] virtual bool is_directory(const std::string& path) = 0;
  virtual Result<std::uint64_t> file_size(const std::string& path) = 0;
  virtual Result<void> make_directories(const std::string& path) = 0;
  virtual Result<void> remove(const std::string& path) = 0;            // a file
  virtual Result<void> remove_tree(const std::string& path) = 0;       // a directory with all it holds
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;  // replaces a file atomically
  virtual Result<void> sync_directory(const std::string& path) = 0;
  virtual Result<std::unique_ptr<Lock>> lock(const std::string& path) = 0;  // Errc::locked when somebody holds it
  virtual Result<std::uint64_t> free_bytes(const std::string& path) = 0;
  virtual Result<std::uint64_t> total_bytes(const std::string& path) = 0;  // of the file system that holds it
  // When the file was last written, wall milliseconds; Errc::unsupported where the disk does not remember.
  virtual Result<std::int64_t> modified_ms(const std::string& path) = 0;

  // Small files, whole. write_whole goes through a temporary name, sync and rename, so that a reader sees old or new.
  Result<Bytes> read_whole(const std::string& path, std::uint64_t max_bytes = 64U << 20U);
  Result<void> write_whole(const std::string& path, ByteSpan bytes, bool sync = true);
};

}  // namespace hw::env
