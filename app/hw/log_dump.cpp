// SPDX-License-Identifier: Apache-2.0
#include "app/hw/log_dump.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/hw/log_files.h"
#include "app/hw/output.h"
#include "app/hw/text.h"
#include "engine/env/posix_disk.h"
#include "engine/log/checkpoint_file.h"
#include "engine/log/file_batch_reader.h"
#include "engine/log/producer_state.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::app {
namespace {

constexpr std::uint64_t kMostIndexBytes = 1U << 30U;

std::string control_name(const wire::RecordView& record) {
  if (!record.key || record.key->size() < 4) {
    return "control";
  }
  switch (wire::load_u16(record.key->data() + 2)) {
    case 0:
      return "ABORT";
    case 1:
      return "COMMIT";
    case 2:
      return "LEADER_CHANGE";
    case 3:
      return "SNAPSHOT_HEADER";
    case 4:
      return "SNAPSHOT_FOOTER";
    case 5:
      return "KRAFT_VERSION";
    case 6:
      return "KRAFT_VOTERS";
    default:
      return "control";
  }
}

class Dump {
 public:
  Dump(const LogArguments& arguments, const Common& common) : arguments_(arguments), common_(common) {}

  Result<void> path(const std::string& path) {
    if (!disk_.is_directory(path)) {
      return file(path, true);
    }
    HW_TRY(const std::vector<std::string> folders, partition_folders(disk_, path));
    if (folders.empty()) {
      return fail(Errc::not_found, fmt::format("{}: no segment file below it (a name like 00000000000000000000.log)", path));
    }
    for (const std::string& folder : folders) {
      HW_TRY(const std::vector<std::string> names, disk_.list(folder));
      for (const std::string& name : names) {
        if (log_file_kind(name) != LogFile::other) {
          HW_CHECK(file(folder + "/" + name, false));
        }
      }
    }
    return {};
  }
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  Result<void> file(const std::string& path, bool named) {
    if (done_) {
      return {};
    }
    if (!disk_.exists(path)) {
      return fail(Errc::not_found, fmt::format("{}: no such file or folder", path));
    }
    const LogFile kind = log_file_kind(path);
    if (kind == LogFile::other && named) {
      return fail(Errc::invalid, fmt::format("{}: not a file of a log by its name; known are 00000000000000000000.log, .index, "
                                             ".timeindex, .txnindex, .snapshot and the checkpoints",
                                             path));
    }
    path_ = path;
    if (!common_.json) {
      fmt::print("{}{}\n", first_ ? "" : "\n", path);
    }
    first_ = false;
    switch (kind) {
      case LogFile::segment:
      case LogFile::raft_snapshot:
        return segment();
      case LogFile::offset_index:
        return offset_index();
      case LogFile::time_index:
        return time_index();
      case LogFile::transaction_index:
        return transaction_index();
      case LogFile::producer_snapshot:
        return producers();
      case LogFile::epoch_checkpoint:
        return epochs();
      case LogFile::offset_checkpoint:
        return offsets();
      case LogFile::text:
      case LogFile::other:
        break;
    }
    HW_TRY(const Bytes bytes, disk_.read_whole(path));
    if (common_.json) {
      print(entry("text").text("text", bytes.text()));
    } else {
      fmt::print("{}{}", bytes.text(), bytes.text().ends_with('\n') || bytes.empty() ? "" : "\n");
    }
    return {};
  }

  [[nodiscard]] JsonObject entry(std::string_view type) const {
    JsonObject object;
    object.text("type", type).text("file", path_);
    return object;
  }
  static void print(const JsonObject& object) { fmt::print("{}\n", object.str()); }
  void complain(std::uint64_t position, const std::string& what) {
    damaged_ = true;
    if (common_.json) {
      print(entry("damage").number("position", static_cast<std::int64_t>(position)).text("problem", what));
    } else {
      fmt::print("  at {}: {}\n", position, what);
    }
  }

  Result<void> segment() {
    HW_TRY(const std::shared_ptr<env::File> file, disk_.open(path_, env::OpenMode::read));
    log::FileBatchReader reader(*file, 0, file->size());
    wire::BatchView batch;
    while (reader.next(batch)) {
      if (batch.last_offset().value() < arguments_.from_offset) {
        continue;
      }
      if (arguments_.most >= 0 && shown_ >= arguments_.most) {
        done_ = true;
        return {};
      }
      print_batch(batch, reader.position());
      shown_ += arguments_.records ? 0 : 1;
      if (arguments_.records) {
        print_records(batch, reader.position());
      }
    }
    if (reader.read_failed()) {
      return fail(Errc::io, fmt::format("{}: reading failed at {}", path_, reader.position_after()));
    }
    if (!reader.clean_end()) {
      complain(reader.position_after(),
               fmt::format("{} that are no whole batch", counted(static_cast<std::int64_t>(file->size() - reader.position_after()), "byte")));
    }
    return {};
  }

  void print_batch(const wire::BatchView& batch, std::uint64_t position) {
    const bool crc_ok = batch.crc_ok();
    damaged_ = damaged_ || !crc_ok;
    const std::string codec = batch.known_compression() ? wire::compression_name(batch.compression())
                                                        : fmt::format("unknown-{}", batch.compression_bits());
    const bool append_time = batch.timestamp_type() == wire::TimestampType::log_append_time;
    if (common_.json) {
      JsonObject object = entry("batch");
      object.number("position", static_cast<std::int64_t>(position))
          .number("size", static_cast<std::int64_t>(batch.size()))
          .number("base_offset", batch.base_offset().value())
          .number("last_offset", batch.last_offset().value())
          .number("count", batch.count())
          .number("leader_epoch", batch.leader_epoch().value())
          .number("magic", batch.magic())
          .text("crc", fmt::format("{:08x}", batch.crc()))
          .boolean("crc_ok", crc_ok)
          .text("compression", codec)
          .text("timestamp_type", append_time ? "LogAppendTime" : "CreateTime")
          .number("base_timestamp", batch.base_timestamp())
          .number("max_timestamp", batch.max_timestamp())
          .number("producer_id", batch.producer_id().value())
          .number("producer_epoch", batch.producer_epoch().value())
          .number("base_sequence", batch.base_sequence())
          .boolean("transactional", batch.transactional())
          .boolean("control", batch.control());
      if (const auto horizon = batch.delete_horizon_ms()) {
        object.number("delete_horizon", *horizon);
      }
      return print(object);
    }
    std::string more;
    if (batch.has_producer_id()) {
      more += fmt::format("  producer {} epoch {} sequence {}–{}", batch.producer_id().value(), batch.producer_epoch().value(),
                          batch.base_sequence(), batch.last_sequence());
    }
    more += batch.transactional() ? "  transactional" : "";
    more += batch.control() ? "  control" : "";
    if (const auto horizon = batch.delete_horizon_ms()) {
      more += fmt::format("  tombstones stay until {}", time_text(*horizon));
    }
    fmt::print("  batch {}–{}  at {}  {} in {} bytes  {}  epoch {}  {}{}  crc {:08x} {}{}\n", batch.base_offset().value(),
               batch.last_offset().value(), position, counted(batch.count(), "record"), batch.size(), codec,
               batch.leader_epoch().value(), time_text(batch.max_timestamp()), append_time ? " (append time)" : "", batch.crc(),
               crc_ok ? "ok" : fmt::format("WRONG, computed {:08x}", batch.computed_crc()), more);
  }

  void print_records(const wire::BatchView& batch, std::uint64_t position) {
    Result<wire::RecordIterator> records = wire::RecordIterator::open(batch);
    if (!records) {
      complain(position, fmt::format("records cannot be read: {}", records.error().detail));
      return;
    }
    const std::string_view folder = folder_name(path_);
    wire::RecordView record;
    while (records->next(record)) {
      if (record.offset.value() < arguments_.from_offset || (arguments_.most >= 0 && shown_ >= arguments_.most)) {
        continue;
      }
      ++shown_;
      std::vector<std::pair<std::string, std::optional<Bytes>>> headers;
      wire::HeaderView header;
      for (wire::HeaderCursor cursor = record.headers(); cursor.next(header);) {
        headers.emplace_back(std::string(header.key), header.value ? std::optional(Bytes::copy_of(*header.value)) : std::nullopt);
      }
      const auto bytes = [&](const std::optional<ByteSpan>& span) { return span ? std::optional(records->share(*span)) : std::nullopt; };
      std::optional<std::string> meaning;
      if (batch.control()) {
        meaning = control_name(record);
      } else if (arguments_.decode) {
        meaning = explain_record(folder, record.key, record.value);
      }
      if (common_.json) {
        JsonObject object = entry("record");
        object.number("offset", record.offset.value()).number("timestamp", record.timestamp_ms).number("size", record.size_bytes);
        object.bytes("key", bytes(record.key)).bytes("value", bytes(record.value)).raw("headers", json_headers(headers));
        if (meaning) {
          object.text("meaning", *meaning);
        }
        print(object);
        continue;
      }
      std::string of_headers;
      for (const auto& [name, value] : headers) {
        of_headers += fmt::format("  {}={}", printable(name), printable(value));
      }
      if (meaning) {
        fmt::print("    {}  {}  {}\n", record.offset.value(), time_text(record.timestamp_ms), *meaning);
      } else {
        fmt::print("    {}  {}  key {}  value {}{}\n", record.offset.value(), time_text(record.timestamp_ms), printable(bytes(record.key)),
                   printable(bytes(record.value)), of_headers.empty() ? "" : "  headers" + of_headers);
      }
    }
    if (records->failed()) {
      complain(position, fmt::format("records cannot be read: {}", records->problem()));
    }
  }

  void note_left_over(std::size_t left_over) {
    if (left_over != 0) {
      complain(0, fmt::format("{} at the end that are no whole entry", counted(static_cast<std::int64_t>(left_over), "byte")));
    }
  }

  Result<void> offset_index() {
    HW_TRY(const Bytes bytes, disk_.read_whole(path_, kMostIndexBytes));
    const auto index = parse_offset_index(bytes.span(), file_base_offset(path_));
    for (const OffsetIndexEntry& at : index.entries) {
      if (common_.json) {
        print(entry("index").number("offset", at.offset.value()).number("position", at.position));
      } else {
        fmt::print("  offset {}  position {}\n", at.offset.value(), at.position);
      }
    }
    note_left_over(index.left_over);
    return {};
  }
  Result<void> time_index() {
    HW_TRY(const Bytes bytes, disk_.read_whole(path_, kMostIndexBytes));
    const auto index = parse_time_index(bytes.span(), file_base_offset(path_));
    for (const TimeIndexEntry& at : index.entries) {
      if (common_.json) {
        print(entry("timeindex").number("timestamp", at.timestamp_ms).number("offset", at.offset.value()));
      } else {
        fmt::print("  {}  offset {}\n", time_text(at.timestamp_ms), at.offset.value());
      }
    }
    note_left_over(index.left_over);
    return {};
  }
  Result<void> transaction_index() {
    HW_TRY(const Bytes bytes, disk_.read_whole(path_, kMostIndexBytes));
    const auto index = parse_transaction_index(bytes.span());
    for (const TransactionIndexEntry& at : index.entries) {
      if (common_.json) {
        print(entry("aborted")
                  .number("producer_id", at.producer_id)
                  .number("first_offset", at.first_offset.value())
                  .number("last_offset", at.last_offset.value())
                  .number("last_stable_offset", at.last_stable_offset.value()));
      } else {
        fmt::print("  aborted: producer {}  offsets {}–{}  last stable offset {}\n", at.producer_id, at.first_offset.value(),
                   at.last_offset.value(), at.last_stable_offset.value());
      }
    }
    note_left_over(index.left_over);
    return {};
  }
  Result<void> producers() {
    HW_TRY(const Bytes bytes, disk_.read_whole(path_, kMostIndexBytes));
    log::ProducerState state;
    const Result<void> loaded = state.load_snapshot(bytes.span(), file_base_offset(path_), WallTime{0}, INT64_MAX);
    if (!loaded) {
      complain(0, loaded.error().detail);
      return {};
    }
    for (const auto& [id, producer] : state.entries()) {
      const bool open = producer.current_txn_first_offset.value() >= 0;
      if (common_.json) {
        print(entry("producer")
                  .number("producer_id", id.value())
                  .number("producer_epoch", producer.epoch.value())
                  .number("last_sequence", producer.last_sequence())
                  .number("last_offset", producer.last_offset().value())
                  .number("last_timestamp", producer.last_timestamp_ms)
                  .number("coordinator_epoch", producer.coordinator_epoch)
                  .number("transaction_start_offset", open ? producer.current_txn_first_offset.value() : -1));
      } else {
        fmt::print("  producer {} epoch {}  last sequence {}  last offset {}  last seen {}{}\n", id.value(), producer.epoch.value(),
                   producer.last_sequence(), producer.last_offset().value(), time_text(producer.last_timestamp_ms),
                   open ? fmt::format("  transaction open since offset {}", producer.current_txn_first_offset.value()) : "");
      }
    }
    return {};
  }
  Result<void> epochs() {
    HW_TRY(const Bytes bytes, disk_.read_whole(path_));
    const Result<std::vector<log::EpochEntry>> parsed = log::parse_epochs(bytes.text());
    if (!parsed) {
      complain(0, parsed.error().detail);
      return {};
    }
    for (const log::EpochEntry& at : *parsed) {
      if (common_.json) {
        print(entry("epoch").number("epoch", at.epoch.value()).number("start_offset", at.start_offset.value()));
      } else {
        fmt::print("  epoch {}  from offset {}\n", at.epoch.value(), at.start_offset.value());
      }
    }
    return {};
  }
  Result<void> offsets() {
    HW_TRY(const Bytes bytes, disk_.read_whole(path_));
    const Result<log::OffsetCheckpoint> parsed = log::parse_offsets(bytes.text());
    if (!parsed) {
      complain(0, parsed.error().detail);
      return {};
    }
    for (const auto& [partition, offset] : *parsed) {
      if (common_.json) {
        print(entry("offset").text("topic", partition.first).number("partition", partition.second.value()).number("offset", offset.value()));
      } else {
        fmt::print("  {}-{}  {}\n", partition.first, partition.second.value(), offset.value());
      }
    }
    return {};
  }

  const LogArguments& arguments_;
  const Common& common_;
  env::PosixDisk disk_;
  std::string path_;
  std::int64_t shown_ = 0;
  bool first_ = true;
  bool done_ = false;
  bool damaged_ = false;
};

}  // namespace

int dump_logs(const LogArguments& arguments, const Common& common) {
  Dump dump(arguments, common);
  for (const std::string& path : arguments.paths) {
    if (const Result<void> dumped = dump.path(path); !dumped) {
      return report(dumped.error(), common);
    }
  }
  return static_cast<int>(dump.damaged() ? Exit::failed : Exit::ok);
}

void add_log(CLI::App& cli, Common& common) {
  CLI::App* log = add_command(cli, "log", "Look into the files of a log, without a broker and without changing them");
  log->require_subcommand(1);
  const auto arguments = std::make_shared<LogArguments>();

  CLI::App* one = add_command(*log, "dump", "Print segments, indexes, snapshots and checkpoints",
                              {"hw log dump data/orders-0/00000000000000000000.log", "hw log dump --records data/orders-0",
                               "hw log dump --records --decode data/__consumer_offsets-3", "hw --json log dump --records data | jq .value"});
  one->add_option("path", arguments->paths, "files, a partition's folder, or a folder that holds such folders")->required();
  one->add_flag("--records,-r", arguments->records, "also the records of each batch");
  one->add_flag("--decode", arguments->decode, "say what the records of internal topics mean (implies --records)");
  one->add_option("--from-offset", arguments->from_offset, "begin there")->check(CLI::NonNegativeNumber);
  one->add_option("--max,-n", arguments->most, "stop after so many batches, or records with --records")->check(CLI::PositiveNumber);
  one->callback([&common, arguments] {
    arguments->records = arguments->records || arguments->decode;
    common.run = [&common, arguments] { return dump_logs(*arguments, common); };
  });

  one = add_command(*log, "verify",
                    "Check every batch (checksum, structure, ascending offsets) and whether indexes, snapshots and checkpoints agree. "
                    "Exit code 1: damage was found",
                    {"hw log verify data/orders-0", "hw log verify data && echo sound"});
  one->add_option("path", arguments->paths, "partitions' folders, or folders that hold such folders")->required();
  one->callback([&common, arguments] { common.run = [&common, arguments] { return verify_logs(*arguments, common); }; });
}

}  // namespace hw::app
