// SPDX-License-Identifier: Apache-2.0
// The files of a log directory as `hw log` meets them: what each is by its name, and how its bytes are read. Opens files for
// reading only; a broker may be using them meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/env/disk.h"

namespace hw::app {

enum class LogFile : std::uint8_t {
  segment,           // <20 digits>.log
  raft_snapshot,     // <20 digits>-<10 digits>.checkpoint: record batches as well
  offset_index,
  time_index,
  transaction_index,
  producer_snapshot,
  epoch_checkpoint,
  offset_checkpoint,
  text,              // partition.metadata, meta.properties, quorum-state: shown as they are
  other,
};
[[nodiscard]] LogFile log_file_kind(std::string_view path);
[[nodiscard]] std::string_view file_name(std::string_view path);     // behind the last '/'
[[nodiscard]] std::string_view folder_name(std::string_view path);   // "orders-0" of "/data/orders-0/000….log", else ""
// The offset that the file's name says, 0 where it says none.
[[nodiscard]] Offset file_base_offset(std::string_view path);

// Folders that hold segments: `path` itself, or those up to three levels below it, in order.
[[nodiscard]] Result<std::vector<std::string>> partition_folders(env::Disk& disk, const std::string& path);

struct OffsetIndexEntry {
  Offset offset;
  std::uint32_t position = 0;
};
struct TimeIndexEntry {
  std::int64_t timestamp_ms = -1;
  Offset offset;
};
// An index without the zeros that Kafka preallocates. `left_over`: bytes behind the last whole entry.
template <class Entry>
struct IndexContent {
  std::vector<Entry> entries;
  std::size_t left_over = 0;
};
[[nodiscard]] IndexContent<OffsetIndexEntry> parse_offset_index(ByteSpan bytes, Offset base);
[[nodiscard]] IndexContent<TimeIndexEntry> parse_time_index(ByteSpan bytes, Offset base);

struct TransactionIndexEntry {
  std::int64_t producer_id = -1;
  Offset first_offset;
  Offset last_offset;
  Offset last_stable_offset;
};
[[nodiscard]] IndexContent<TransactionIndexEntry> parse_transaction_index(ByteSpan bytes);

// What a coordinator's or the controller's record means, in one line; nullopt where the topic is no such topic or the bytes are not
// understood. `folder` is "__consumer_offsets-3" and alike.
[[nodiscard]] std::optional<std::string> explain_record(std::string_view folder, const std::optional<ByteSpan>& key,
                                                        const std::optional<ByteSpan>& value);

}  // namespace hw::app
