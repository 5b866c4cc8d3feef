// SPDX-License-Identifier: Apache-2.0
#include "app/hw/log_files.h"

#include <algorithm>

#include "engine/log/checkpoint_file.h"
#include "engine/log/log_directory.h"
#include "engine/log/segment.h"
#include "engine/wire/msg/messages.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/runtime/reader.h"

namespace hw::app {
namespace {

constexpr int kLevels = 3;
constexpr std::size_t kOffsetEntry = 8;
constexpr std::size_t kTimeEntry = 12;
constexpr std::size_t kTransactionEntry = 34;

// Entries that are nothing but zeros behind the last written one are room that was made beforehand. The very first entry may be
// zeros and real (offset 0 of a segment, at position 0).
std::size_t used_bytes(ByteSpan bytes, std::size_t entry) {
  std::size_t used = bytes.size();
  while (used > 0 && bytes[used - 1] == std::byte{0}) {
    --used;
  }
  return std::min(bytes.size(), (used + entry - 1) / entry * entry);
}

bool is_raft_snapshot(std::string_view name) {
  constexpr std::size_t kName = 20 + 1 + 10;
  return name.size() == kName + 11 && name.ends_with(".checkpoint") && name[20] == '-' &&
         std::all_of(name.begin(), name.begin() + kName, [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
}

Result<void> find(env::Disk& disk, const std::string& path, int levels, std::vector<std::string>& out) {
  HW_TRY(const std::vector<std::string> names, disk.list(path));
  const bool holds = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return log::parse_segment_name(name, ".log").has_value();
  });
  if (holds) {
    out.push_back(path);
    return {};
  }
  for (const std::string& name : names) {
    const std::string below = path + "/" + name;
    if (levels > 0 && disk.is_directory(below)) {
      HW_CHECK(find(disk, below, levels - 1, out));
    }
  }
  return {};
}

std::optional<std::string> explained(const wire::MessageInfo* message, std::int16_t version, const Bytes& body) {
  if (message == nullptr) {
    return std::nullopt;
  }
  const wire::Dissection dissection = wire::dissect(*message, version, body);
  if (!dissection.complete) {
    return std::nullopt;
  }
  return std::string(message->name) + " " + wire::print_line(dissection.root);
}

std::optional<std::string> explain_metadata(const Bytes& value) {
  wire::Reader reader(value);
  const std::uint32_t frame = reader.uvarint();
  const std::uint32_t type = reader.uvarint();
  const std::uint32_t version = reader.uvarint();
  if (!reader.ok() || frame != 1) {
    return std::nullopt;
  }
  for (const wire::MessageInfo& message : wire::all_messages()) {
    // Tiered storage numbers its records anew, in a topic of its own.
    if (message.kind == wire::MessageKind::metadata && message.key == static_cast<std::int16_t>(type) && !message.name.starts_with("Remote")) {
      return explained(&message, static_cast<std::int16_t>(version),
                       value.slice(value.size() - reader.remaining(), reader.remaining()));
    }
  }
  return std::nullopt;
}

// Keys begin with the record's type, values with their version.
std::optional<std::string> explain_coordinator(std::string_view topic, const Bytes& key, const std::optional<Bytes>& value) {
  if (key.size() < 2) {
    return std::nullopt;
  }
  const auto type = static_cast<std::int16_t>(wire::load_u16(key.data()));
  const std::string_view of_topic = topic == "__transaction_state" ? "Transaction" : topic == "__share_group_state" ? "Share" : "";
  const auto fits = [&](const wire::MessageInfo& message, wire::MessageKind kind) {
    if (message.kind != kind || message.key != type) {
      return false;
    }
    const bool transaction = message.name.starts_with("TransactionLog");
    const bool share = message.name.starts_with("ShareSnapshot") || message.name.starts_with("ShareUpdate");
    return of_topic == "Transaction" ? transaction : of_topic == "Share" ? share : !transaction && !share;
  };
  std::optional<std::string> text;
  for (const wire::MessageInfo& message : wire::all_messages()) {
    if (fits(message, wire::MessageKind::coordinator_key)) {
      text = explained(&message, 0, key.slice(2, key.size() - 2));
    }
  }
  if (!text) {
    return std::nullopt;
  }
  if (!value) {
    return *text + " = null";
  }
  if (value->size() < 2) {
    return text;
  }
  const auto version = static_cast<std::int16_t>(wire::load_u16(value->data()));
  for (const wire::MessageInfo& message : wire::all_messages()) {
    if (fits(message, wire::MessageKind::coordinator_value) && message.versions.contains(version)) {
      if (const auto of_value = explained(&message, version, value->slice(2, value->size() - 2))) {
        return *text + " = " + *of_value;
      }
    }
  }
  return text;
}

}  // namespace

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view folder_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : file_name(path.substr(0, slash));
}

LogFile log_file_kind(std::string_view path) {
  const std::string_view name = file_name(path);
  if (log::parse_segment_name(name, ".log")) {
    return LogFile::segment;
  }
  if (log::parse_segment_name(name, ".index")) {
    return LogFile::offset_index;
  }
  if (log::parse_segment_name(name, ".timeindex")) {
    return LogFile::time_index;
  }
  if (log::parse_segment_name(name, ".txnindex")) {
    return LogFile::transaction_index;
  }
  if (log::parse_segment_name(name, ".snapshot")) {
    return LogFile::producer_snapshot;
  }
  if (is_raft_snapshot(name)) {
    return LogFile::raft_snapshot;
  }
  if (name == log::kLeaderEpochCheckpoint) {
    return LogFile::epoch_checkpoint;
  }
  if (name == log::kRecoveryPointCheckpoint || name == log::kHighWatermarkCheckpoint || name == log::kLogStartCheckpoint ||
      name == log::kCleanerCheckpoint) {
    return LogFile::offset_checkpoint;
  }
  if (name == log::kPartitionMetadata || name == log::kMetaProperties || name == log::kCleanShutdown || name == "quorum-state") {
    return LogFile::text;
  }
  return LogFile::other;
}

Offset file_base_offset(std::string_view path) {
  const std::string_view name = file_name(path);
  const std::size_t end = name.find_first_not_of("0123456789");
  return log::parse_segment_name(name, end == std::string_view::npos ? std::string_view{} : name.substr(end)).value_or(Offset(0));
}

Result<std::vector<std::string>> partition_folders(env::Disk& disk, const std::string& path) {
  std::vector<std::string> out;
  HW_CHECK(find(disk, path, kLevels, out));
  return out;
}

IndexContent<OffsetIndexEntry> parse_offset_index(ByteSpan bytes, Offset base) {
  IndexContent<OffsetIndexEntry> out;
  const std::size_t used = used_bytes(bytes, kOffsetEntry);
  for (std::size_t at = 0; at + kOffsetEntry <= used; at += kOffsetEntry) {
    out.entries.push_back({base + wire::load_u32(bytes.data() + at), wire::load_u32(bytes.data() + at + 4)});
  }
  out.left_over = used % kOffsetEntry;
  return out;
}

IndexContent<TimeIndexEntry> parse_time_index(ByteSpan bytes, Offset base) {
  IndexContent<TimeIndexEntry> out;
  const std::size_t used = used_bytes(bytes, kTimeEntry);
  for (std::size_t at = 0; at + kTimeEntry <= used; at += kTimeEntry) {
    out.entries.push_back({static_cast<std::int64_t>(wire::load_u64(bytes.data() + at)), base + wire::load_u32(bytes.data() + at + 8)});
  }
  out.left_over = used % kTimeEntry;
  return out;
}

IndexContent<TransactionIndexEntry> parse_transaction_index(ByteSpan bytes) {
  IndexContent<TransactionIndexEntry> out;
  for (std::size_t at = 0; at + kTransactionEntry <= bytes.size(); at += kTransactionEntry) {
    const auto number = [&](std::size_t offset) { return static_cast<std::int64_t>(wire::load_u64(bytes.data() + at + offset)); };
    out.entries.push_back({number(2), Offset(number(10)), Offset(number(18)), Offset(number(26))});
  }
  out.left_over = bytes.size() % kTransactionEntry;
  return out;
}

std::optional<std::string> explain_record(std::string_view folder, const std::optional<ByteSpan>& key,
                                          const std::optional<ByteSpan>& value) {
  const auto directory = log::parse_partition_directory(folder);
  if (!directory) {
    return std::nullopt;
  }
  const auto copy = [](const std::optional<ByteSpan>& span) {
    return span ? std::optional<Bytes>(Bytes::copy_of(*span)) : std::nullopt;
  };
  if (directory->topic == "__cluster_metadata") {
    return value ? explain_metadata(Bytes::copy_of(*value)) : std::nullopt;
  }
  if ((directory->topic == "__consumer_offsets" || directory->topic == "__transaction_state" ||
       directory->topic == "__share_group_state") &&
      key) {
    return explain_coordinator(directory->topic, Bytes::copy_of(*key), copy(value));
  }
  return std::nullopt;
}

}  // namespace hw::app
