// SPDX-License-Identifier: Apache-2.0
#include "engine/env/disk.h"

#include <array>
#include <utility>

namespace hw::env {

Result<Bytes> Disk::read_whole(const std::string& path, std::uint64_t max_bytes) {
  HW_TRY(const std::shared_ptr<File> file, open(path, OpenMode::read));
  const std::uint64_t size = file->size();
  if (size > max_bytes) {
    return fail(Errc::too_large, path + " is larger than anything that belongs there");
  }
  if (size == 0) {
    return Bytes{};
  }
  ByteBuilder builder(static_cast<std::size_t>(size));
  std::byte* at = builder.extend(static_cast<std::size_t>(size));
  const std::ptrdiff_t got = file->read_at(0, {at, static_cast<std::size_t>(size)});
  if (got < 0) {
    return fail(Errc::io, "cannot read " + path);
  }
  builder.truncate(static_cast<std::size_t>(got));
  return builder.finish();
}

Result<void> Disk::write_whole(const std::string& path, ByteSpan bytes, bool sync) {
  const std::string temporary = path + ".tmp";
  {
    HW_TRY(const std::shared_ptr<File> file, open(temporary, OpenMode::create_or_open));
    HW_CHECK(file->truncate(0));  // what a crash may have left
    const std::array<ByteSpan, 1> pieces{bytes};
    HW_CHECK(file->append(pieces));
    if (sync) {
      HW_CHECK(file->sync());
    }
  }
  HW_CHECK(rename(temporary, path));
  if (sync) {
    const std::size_t slash = path.find_last_of('/');
    HW_CHECK(sync_directory(slash == std::string::npos ? std::string(".") : path.substr(0, slash)));
  }
  return {};
}

}  // namespace hw::env
