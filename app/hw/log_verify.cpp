// SPDX-License-Identifier: Apache-2.0
// `hw log verify`: walks every segment of a partition once, in order, and holds everything beside it against what it saw.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "app/hw/log_dump.h"
#include "app/hw/log_files.h"
#include "app/hw/output.h"
#include "app/hw/text.h"
#include "engine/env/posix_disk.h"
#include "engine/log/checkpoint_file.h"
#include "engine/log/file_batch_reader.h"
#include "engine/log/producer_state.h"
#include "engine/log/segment.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::app {
namespace {

constexpr std::uint64_t kMostIndexBytes = 1U << 30U;
constexpr std::int64_t kFaultsShown = 20;  // of one file; damage often repeats

class Verify {
 public:
  Verify(env::PosixDisk& disk, std::string folder, const Common& common, Progress& progress)
      : disk_(disk), folder_(std::move(folder)), common_(common), progress_(progress) {}

  // Errors are those of the operating system; damage is counted.
  Result<void> run() {
    HW_TRY(names_, disk_.list(folder_));
    HW_CHECK(load_epochs());
    for (const std::string& name : names_) {
      if (log::parse_segment_name(name, ".log")) {
        HW_CHECK(segment(name));
      }
    }
    for (const std::string& name : names_) {
      const LogFile kind = log_file_kind(name);
      if (kind == LogFile::producer_snapshot) {
        HW_CHECK(snapshot(name));
      } else if ((kind == LogFile::offset_index || kind == LogFile::time_index) && !has(stem(name) + ".log")) {
        fault(name, -1, "an index without its segment");
      }
    }
    return {};
  }

  void print_summary() const {
    const std::string name(file_name(folder_));
    if (common_.json) {
      JsonObject object;
      object.text("type", "partition").text("folder", folder_).number("segments", segments_).number("batches", batches_);
      object.number("records", records_).number("bytes", bytes_);
      object.number("first_offset", first_).number("last_offset", last_).number("faults", faults_).boolean("sound", faults_ == 0);
      fmt::print("{}\n", object.str());
      return;
    }
    fmt::print("{}  {}, {}, {}{}  {}\n", name, counted(segments_, "segment"), counted(records_, "record"), size_text(bytes_),
               first_ < 0 ? "" : fmt::format(", offsets {}–{}", first_, last_),
               faults_ == 0 ? "sound" : fmt::format("{} FOUND", counted(faults_, "fault")));
  }
  [[nodiscard]] std::int64_t faults() const { return faults_; }
  [[nodiscard]] std::int64_t records() const { return records_; }

 private:
  [[nodiscard]] bool has(const std::string& name) const { return std::binary_search(names_.begin(), names_.end(), name); }
  static std::string stem(const std::string& name) { return name.substr(0, name.find('.')); }

  void fault(const std::string& name, std::int64_t position, const std::string& what, std::int64_t offset = -1) {
    ++faults_;
    if (++faults_of_[name] > kFaultsShown) {
      if (faults_of_[name] == kFaultsShown + 1 && !common_.json) {
        fmt::print("{}/{}: more faults follow; only the first {} are shown\n", folder_, name, kFaultsShown);
      }
      return;
    }
    if (common_.json) {
      JsonObject object;
      object.text("type", "fault").text("file", folder_ + "/" + name);
      if (position >= 0) {
        object.number("position", position);
      }
      if (offset >= 0) {
        object.number("offset", offset);
      }
      object.text("problem", what);
      fmt::print("{}\n", object.str());
      return;
    }
    fmt::print("{}/{}{}{}: {}\n", folder_, name, position >= 0 ? fmt::format(" at {}", position) : "",
               offset >= 0 ? fmt::format(" (offset {})", offset) : "", what);
  }

  Result<void> load_epochs() {
    if (!has(log::kLeaderEpochCheckpoint)) {
      return {};
    }
    HW_TRY(const Bytes bytes, disk_.read_whole(folder_ + "/" + log::kLeaderEpochCheckpoint));
    const Result<std::vector<log::EpochEntry>> parsed = log::parse_epochs(bytes.text());
    if (!parsed) {
      fault(log::kLeaderEpochCheckpoint, -1, parsed.error().detail);
      return {};
    }
    epochs_ = *parsed;
    for (std::size_t i = 1; i < epochs_.size(); ++i) {
      if (epochs_[i].epoch <= epochs_[i - 1].epoch || epochs_[i].start_offset <= epochs_[i - 1].start_offset) {
        fault(log::kLeaderEpochCheckpoint, -1,
              fmt::format("epoch {} from offset {} does not ascend", epochs_[i].epoch.value(), epochs_[i].start_offset.value()));
      }
    }
    return {};
  }

  struct Seen {
    std::int64_t base_offset = 0;
    std::int64_t last_offset = 0;
    std::int64_t max_timestamp = -1;
    std::int64_t max_timestamp_so_far = -1;  // of this batch and those before it
  };

  Result<void> segment(const std::string& name) {
    HW_TRY(const std::shared_ptr<env::File> file, disk_.open(folder_ + "/" + name, env::OpenMode::read));
    const Offset base = file_base_offset(name);
    ++segments_;
    bytes_ += static_cast<std::int64_t>(file->size());
    std::map<std::uint64_t, Seen> batches;  // by position
    std::int64_t max_timestamp = -1;
    const std::uint64_t size = file->size();
    log::FileBatchReader reader(*file, 0, size);
    wire::BatchView batch;
    if (base.value() <= last_) {
      fault(name, -1, fmt::format("begins at offset {}, but the segment before it ends with {}", base.value(), last_));
    }
    while (reader.next(batch)) {
      progress_.at(reader.position_after() - reader.position());
      check_batch(name, base, batch, reader.position());
      max_timestamp = std::max(max_timestamp, batch.max_timestamp());
      batches[reader.position()] = {batch.base_offset().value(), batch.last_offset().value(), batch.max_timestamp(), max_timestamp};
    }
    if (reader.read_failed()) {
      return fail(Errc::io, fmt::format("{}/{}: reading failed at {}", folder_, name, reader.position_after()));
    }
    if (!reader.clean_end() && !zeros(*file, reader.position_after(), size)) {
      fault(name, static_cast<std::int64_t>(reader.position_after()),
            fmt::format("{} that are no whole batch; a broker cuts them off when it starts after a crash",
                        counted(static_cast<std::int64_t>(size - reader.position_after()), "byte")));
    }
    HW_CHECK(offset_index(stem(name), base, batches));
    HW_CHECK(time_index(stem(name), base, batches));
    return {};
  }

  // Kafka may preallocate segments.
  static bool zeros(const env::File& file, std::uint64_t from, std::uint64_t to) {
    std::vector<std::byte> buffer(64 * 1024);
    while (from < to) {
      const std::ptrdiff_t got = file.read_at(from, {buffer.data(), std::min<std::uint64_t>(buffer.size(), to - from)});
      if (got <= 0 || !std::all_of(buffer.begin(), buffer.begin() + got, [](std::byte b) { return b == std::byte{0}; })) {
        return false;
      }
      from += static_cast<std::uint64_t>(got);
    }
    return true;
  }

  void check_batch(const std::string& name, Offset base, const wire::BatchView& batch, std::uint64_t at) {
    const auto position = static_cast<std::int64_t>(at);
    const std::int64_t offset = batch.base_offset().value();
    ++batches_;
    if (!batch.crc_ok()) {
      return fault(name, position, fmt::format("the checksum does not hold: stored {:08x}, computed {:08x}", batch.crc(), batch.computed_crc()),
                   offset);
    }
    if (batch.last_offset_delta() < 0 || batch.count() < 0 || (!batch.control() && batch.count() > batch.last_offset_delta() + 1)) {
      fault(name, position, fmt::format("{} cannot have {} and {} offsets", "a batch", counted(batch.count(), "record"),
                                        std::int64_t{batch.last_offset_delta()} + 1),
            offset);
    }
    if (offset < base.value()) {
      fault(name, position, fmt::format("offset {} is below the segment's first, {}", offset, base.value()), offset);
    } else if (offset <= last_) {
      fault(name, position, fmt::format("offset {} does not ascend: {} was there before", offset, last_), offset);
    }
    first_ = first_ < 0 ? offset : first_;
    last_ = std::max(last_, batch.last_offset().value());
    if (!batch.known_compression()) {
      fault(name, position, fmt::format("unknown compression {}", batch.compression_bits()), offset);
    } else {
      check_records(name, position, batch);
    }
    check_epoch(name, position, batch);
  }

  void check_records(const std::string& name, std::int64_t position, const wire::BatchView& batch) {
    const std::int64_t offset = batch.base_offset().value();
    Result<wire::RecordIterator> records = wire::RecordIterator::open(batch);
    if (!records) {
      return fault(name, position, fmt::format("records cannot be read: {}", records.error().detail), offset);
    }
    wire::RecordView record;
    std::int64_t before = offset - 1;
    std::int64_t newest = -1;
    bool ascending = true;
    while (records->next(record)) {
      ++records_;
      ascending = ascending && record.offset.value() > before && record.offset <= batch.last_offset();
      before = record.offset.value();
      newest = std::max(newest, record.timestamp_ms);
    }
    if (records->failed()) {
      fault(name, position, fmt::format("records cannot be read: {}", records->problem()), offset);
    } else if (!ascending) {
      fault(name, position, "the records' offsets do not ascend within the batch", offset);
    } else if (newest > batch.max_timestamp()) {
      fault(name, position, fmt::format("a record is newer ({}) than the batch says ({})", time_text(newest), time_text(batch.max_timestamp())),
            offset);
    }
  }

  void check_epoch(const std::string& name, std::int64_t position, const wire::BatchView& batch) {
    if (epochs_.empty() || batch.leader_epoch().value() < 0) {
      return;
    }
    LeaderEpoch covering = kNoLeaderEpoch;
    for (const log::EpochEntry& entry : epochs_) {
      if (entry.start_offset <= batch.base_offset()) {
        covering = entry.epoch;
      }
    }
    if (covering != batch.leader_epoch()) {
      fault(name, position,
            covering == kNoLeaderEpoch
                ? fmt::format("leader epoch {}: {} begins behind it", batch.leader_epoch().value(), log::kLeaderEpochCheckpoint)
                : fmt::format("leader epoch {}, but {} says {}", batch.leader_epoch().value(), log::kLeaderEpochCheckpoint, covering.value()),
            batch.base_offset().value());
    }
  }

  // An entry leads to a batch, and no record at or below its offset lies behind that batch's beginning except in it or later ones: so
  // the batch may not end behind the entry's offset.
  Result<void> offset_index(const std::string& stem, Offset base, const std::map<std::uint64_t, Seen>& batches) {
    const std::string name = stem + ".index";
    if (!has(name)) {
      return {};
    }
    HW_TRY(const Bytes bytes, disk_.read_whole(folder_ + "/" + name, kMostIndexBytes));
    const auto index = parse_offset_index(bytes.span(), base);
    left_over(name, index.left_over);
    for (std::size_t i = 0; i < index.entries.size(); ++i) {
      const OffsetIndexEntry& entry = index.entries[i];
      const auto place = static_cast<std::int64_t>(i * 8);
      if (i > 0 && (entry.offset <= index.entries[i - 1].offset || entry.position <= index.entries[i - 1].position)) {
        fault(name, place, fmt::format("entries do not ascend (offset {}, position {})", entry.offset.value(), entry.position));
        continue;
      }
      const auto found = batches.find(entry.position);
      if (found == batches.end()) {
        fault(name, place, fmt::format("no batch begins at position {}", entry.position), entry.offset.value());
      } else if (found->second.last_offset > entry.offset.value() || batches.rbegin()->second.last_offset < entry.offset.value()) {
        fault(name, place, fmt::format("the batch at position {} ends with offset {}", entry.position, found->second.last_offset),
              entry.offset.value());
      }
    }
    return {};
  }

  // An entry says that no record up to its offset is newer, and that its own batch is as new.
  Result<void> time_index(const std::string& stem, Offset base, const std::map<std::uint64_t, Seen>& batches) {
    const std::string name = stem + ".timeindex";
    if (!has(name)) {
      return {};
    }
    HW_TRY(const Bytes bytes, disk_.read_whole(folder_ + "/" + name, kMostIndexBytes));
    const auto index = parse_time_index(bytes.span(), base);
    left_over(name, index.left_over);
    std::vector<const Seen*> in_order;
    for (const auto& [position, seen] : batches) {
      in_order.push_back(&seen);
    }
    for (std::size_t i = 0; i < index.entries.size(); ++i) {
      const TimeIndexEntry& entry = index.entries[i];
      const auto place = static_cast<std::int64_t>(i * 12);
      if (i > 0 && (entry.timestamp_ms <= index.entries[i - 1].timestamp_ms || entry.offset < index.entries[i - 1].offset)) {
        fault(name, place, fmt::format("entries do not ascend (time {}, offset {})", time_text(entry.timestamp_ms), entry.offset.value()));
        continue;
      }
      if (entry.timestamp_ms < 0) {
        continue;  // a segment without timestamps
      }
      // The first batch that ends at or behind the entry's offset, and what came before it.
      const auto holds = std::lower_bound(in_order.begin(), in_order.end(), entry.offset.value(),
                                          [](const Seen* seen, std::int64_t offset) { return seen->last_offset < offset; });
      if (holds == in_order.end()) {
        fault(name, place, "the offset is behind the segment's end", entry.offset.value());
        continue;
      }
      const std::int64_t before = holds == in_order.begin() ? -1 : (*(holds - 1))->max_timestamp_so_far;
      if (before > entry.timestamp_ms || ((*holds)->base_offset <= entry.offset.value() && (*holds)->max_timestamp < entry.timestamp_ms)) {
        fault(name, place, fmt::format("time {} does not agree with the segment's {}", time_text(entry.timestamp_ms),
                                       time_text(std::max(before, (*holds)->max_timestamp))),
              entry.offset.value());
      }
    }
    return {};
  }

  void left_over(const std::string& name, std::size_t bytes) {
    if (bytes != 0) {
      fault(name, -1, fmt::format("{} at the end that are no whole entry", counted(static_cast<std::int64_t>(bytes), "byte")));
    }
  }

  Result<void> snapshot(const std::string& name) {
    HW_TRY(const Bytes bytes, disk_.read_whole(folder_ + "/" + name, kMostIndexBytes));
    log::ProducerState state;
    if (const Result<void> loaded = state.load_snapshot(bytes.span(), file_base_offset(name), WallTime{0}, INT64_MAX); !loaded) {
      fault(name, -1, loaded.error().detail);
      return {};
    }
    for (const auto& [id, producer] : state.entries()) {
      if (producer.last_offset().value() >= file_base_offset(name).value()) {
        fault(name, -1, fmt::format("producer {} wrote offset {}, behind the snapshot", id.value(), producer.last_offset().value()));
      }
    }
    return {};
  }

  env::PosixDisk& disk_;
  std::string folder_;
  const Common& common_;
  Progress& progress_;
  std::vector<std::string> names_;
  std::vector<log::EpochEntry> epochs_;
  std::map<std::string, std::int64_t> faults_of_;
  std::int64_t segments_ = 0;
  std::int64_t batches_ = 0;
  std::int64_t records_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t first_ = -1;
  std::int64_t last_ = -1;
  std::int64_t faults_ = 0;
};

}  // namespace

int verify_logs(const LogArguments& arguments, const Common& common) {
  env::PosixDisk disk;
  std::vector<std::string> folders;
  for (const std::string& path : arguments.paths) {
    if (!disk.exists(path) && !disk.is_directory(path)) {
      return report(Error{Errc::not_found, fmt::format("{}: no such folder", path)}, common);
    }
    if (!disk.is_directory(path)) {
      fmt::print(stderr, "hw: {}: a file alone cannot be held against its indexes; name its folder\n", path);
      return static_cast<int>(Exit::usage);
    }
    Result<std::vector<std::string>> found = partition_folders(disk, path);
    if (!found) {
      return report(found.error(), common);
    }
    if (found->empty()) {
      return report(Error{Errc::not_found, fmt::format("{}: no segment file below it (a name like 00000000000000000000.log)", path)}, common);
    }
    folders.insert(folders.end(), found->begin(), found->end());
  }
  std::uint64_t total = 0;
  for (const std::string& folder : folders) {
    const Result<std::vector<std::string>> names = disk.list(folder);
    for (const std::string& name : names ? *names : std::vector<std::string>{}) {
      if (log::parse_segment_name(name, ".log")) {
        total += disk.file_size(folder + "/" + name).value_or(0);
      }
    }
  }
  Progress progress("verified", total);
  std::int64_t faults = 0;
  std::int64_t records = 0;
  std::int64_t empty = 0;
  for (const std::string& folder : folders) {
    Verify verify(disk, folder, common, progress);
    if (const Result<void> done = verify.run(); !done) {
      progress.clear();
      return report(done.error(), common);
    }
    progress.clear();
    // Fifty empty partitions of __consumer_offsets are no fifty lines for a person.
    const bool nothing = verify.records() == 0 && verify.faults() == 0 && folders.size() > 1 && !common.json;
    empty += nothing ? 1 : 0;
    if (!nothing) {
      verify.print_summary();
    }
    faults += verify.faults();
    records += verify.records();
  }
  if (!common.json && folders.size() > 1) {
    fmt::print("{}{}, {}: {}\n", counted(static_cast<std::int64_t>(folders.size()), "partition"),
               empty > 0 ? fmt::format(" ({} empty)", count_text(empty)) : "", counted(records, "record"),
               faults == 0 ? "all sound" : fmt::format("{} FOUND", counted(faults, "fault")));
  }
  return static_cast<int>(faults == 0 ? Exit::ok : Exit::failed);
}

}  // namespace hw::app
