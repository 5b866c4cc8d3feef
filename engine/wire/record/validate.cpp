// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/record/validate.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "engine/wire/record/batch_builder.h"
#include "engine/wire/record/detail/walk.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::wire {

struct RecordScratch::Impl {
  static constexpr std::size_t kWindow = 64 * 1024;
  std::array<std::unique_ptr<Decompressor>, 5> decompressors;
  std::vector<std::byte> window;

  Decompressor& decompressor(Compression codec) {
    std::unique_ptr<Decompressor>& slot = decompressors[static_cast<std::size_t>(codec)];
    if (slot == nullptr) {
      slot = make_decompressor(codec);
    }
    return *slot;
  }
};

RecordScratch::RecordScratch() : impl_(std::make_unique<Impl>()) {}
RecordScratch::~RecordScratch() = default;
RecordScratch::RecordScratch(RecordScratch&&) noexcept = default;
RecordScratch& RecordScratch::operator=(RecordScratch&&) noexcept = default;

namespace {

constexpr std::int16_t kFirstProduceVersionWithZstd = 7;

void refuse(RecordsVerdict& verdict, ErrorCode error, std::string detail) {
  verdict.error = error;
  verdict.detail = std::move(detail);
  // Kafka tells the log start offset with these answers of the log, except the ones below.
  verdict.log_start_in_answer = error != ErrorCode::corrupt_message && error != ErrorCode::message_too_large;
}

// Sees every record once, in order, and keeps what the leader needs of them.
class RecordRules {
 public:
  RecordRules(const BatchView& batch, const ProduceRules& rules, WallTime now) noexcept
      : rules_(rules),
        now_ms_(now.ms),
        base_timestamp_(batch.base_timestamp()),
        batch_max_timestamp_(batch.max_timestamp()),
        client_set_append_time_(batch.timestamp_type() == TimestampType::log_append_time),
        check_window_(rules.timestamp_type == TimestampType::create_time) {}

  // False where the offset is not the next one.
  bool see(const detail::RecordParts& parts) {
    if (parts.offset_delta != index_) {
      return false;
    }
    const std::int64_t timestamp = client_set_append_time_
                                       ? batch_max_timestamp_
                                       : detail::wrapping_add(base_timestamp_, parts.timestamp_delta);
    if (rules_.compacted && parts.key_size < 0) [[unlikely]] {
      fault(ErrorCode::invalid_record, "a compacted topic takes no record without a key");
    } else if (check_window_ && timestamp != kNoTimestamp) {
      const std::int64_t age = detail::wrapping_subtract(now_ms_, timestamp);
      if (age > rules_.before_max_ms || detail::wrapping_subtract(0, age) > rules_.after_max_ms) [[unlikely]] {
        fault(ErrorCode::invalid_timestamp,
              fmt::format("the timestamp {} of the record with offset {} is outside [{}, {}]", timestamp, index_,
                          detail::wrapping_subtract(now_ms_, rules_.before_max_ms),
                          detail::wrapping_add(now_ms_, rules_.after_max_ms)));
      }
    } else if (client_set_append_time_) [[unlikely]] {
      fault(ErrorCode::invalid_timestamp,
            fmt::format("the record with offset {} comes with LogAppendTime, which only a broker may set", index_));
    }
    if (timestamp > max_timestamp_) {
      max_timestamp_ = timestamp;
      index_of_max_ = index_;
    }
    ++index_;
    return true;
  }

  [[nodiscard]] std::int32_t index() const noexcept { return index_; }

  void finish(ClientBatchCheck& check) {
    check.max_timestamp = max_timestamp_;
    check.offset_delta_of_max = index_of_max_;
    if (faults_.empty()) {
      return;
    }
    std::string text =
        timestamp_fault_
            ? fmt::format("{} records are refused, timestamps among the reasons", faults_.size())
            : fmt::format("{} records are refused; the first: [{}] {}", faults_.size(), faults_.front().index,
                          faults_.front().message);
    refuse(check.verdict, timestamp_fault_ ? ErrorCode::invalid_timestamp : ErrorCode::invalid_record,
           std::move(text));
    check.verdict.message_in_answer = true;
    check.verdict.record_faults = std::move(faults_);
  }

 private:
  void fault(ErrorCode error, std::string message) {
    timestamp_fault_ = timestamp_fault_ || error == ErrorCode::invalid_timestamp;
    faults_.push_back({index_, std::move(message)});
  }

  const ProduceRules& rules_;
  const std::int64_t now_ms_;
  const std::int64_t base_timestamp_;
  const std::int64_t batch_max_timestamp_;
  const bool client_set_append_time_;
  const bool check_window_;
  std::int32_t index_ = 0;
  std::int64_t max_timestamp_ = kNoTimestamp;
  std::int32_t index_of_max_ = 0;
  bool timestamp_fault_ = false;
  std::vector<RecordFault> faults_;
};

constexpr const char* kNotSequential = "the offsets inside the batch are not 0, 1, 2, …";
constexpr const char* kTooFew = "the batch has fewer records than it counts";
constexpr const char* kTooMany = "bytes are left behind the last record";
constexpr const char* kBadLength = "the length of a record is wrong";

// Records in memory. Null when all are good.
const char* walk_plain(ByteSpan records, std::int32_t count, RecordRules& rules) {
  const std::byte* p = records.data();
  const std::byte* const end = p + records.size();
  for (; rules.index() != count;) {
    if (p == end) {
      return kTooFew;
    }
    std::int32_t length = 0;
    if (!detail::read_varint(p, end, length) || length <= 0 || length > end - p) {
      return kBadLength;
    }
    detail::RecordParts parts;
    if (const char* problem = detail::walk_record(p, p + length, parts); problem != nullptr) {
      return problem;
    }
    if (!rules.see(parts)) {
      return kNotSequential;
    }
    p += length;
  }
  return p == end ? nullptr : kTooMany;
}

// Records behind a decompressor, seen through a window. A record that fits the window is walked in place; of a longer one the
// fields are read and keys, values and headers skipped as they stream by.
class StreamWalker {
 public:
  StreamWalker(Decompressor& stream, std::vector<std::byte>& window) : stream_(stream), window_(window) {
    if (window_.empty()) {
      window_.resize(RecordScratch::Impl::kWindow);
    }
  }

  // Null when all records are good. After a failed read error() says why.
  const char* walk(std::int32_t count, RecordRules& rules) {
    while (rules.index() != count) {
      if (available() == 0 && !fill()) {
        return kTooFew;
      }
      std::int32_t length = 0;
      if (!varint(length) || length <= 0) {
        return kBadLength;
      }
      detail::RecordParts parts;
      const char* problem = nullptr;
      const auto size = static_cast<std::size_t>(length);
      if (size <= window_.size()) {
        if (!want(size)) {
          return kTooFew;
        }
        problem = detail::walk_record(at(), at() + size, parts);
        position_ += size;
      } else {
        problem = walk_long(size, parts);
      }
      if (problem != nullptr) {
        return problem;
      }
      if (!rules.see(parts)) {
        return kNotSequential;
      }
    }
    return available() == 0 && !fill() ? nullptr : kTooMany;
  }
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

 private:
  [[nodiscard]] const std::byte* at() const noexcept { return window_.data() + position_; }
  [[nodiscard]] std::size_t available() const noexcept { return end_ - position_; }

  // Moves what is left to the front and reads more; false at the end of the data or after an error.
  bool fill() {
    if (error_ || ended_) {
      return false;
    }
    const std::size_t kept = available();
    std::memmove(window_.data(), at(), kept);
    window_begin_ += position_;
    end_ = kept;
    position_ = 0;
    Result<std::size_t> got = stream_.read({window_.data() + end_, window_.size() - end_});
    if (!got) {
      error_ = std::move(got.error());
      return false;
    }
    ended_ = *got == 0;
    end_ += *got;
    return !ended_;
  }
  bool want(std::size_t size) {
    while (available() < size) {
      if (!fill()) {
        return false;
      }
    }
    return true;
  }
  bool varint(std::int32_t& value) {
    constexpr std::size_t kLongest = 5;
    want(kLongest);  // fewer at the end of the data
    const std::byte* p = at();
    const bool good = detail::read_varint(p, window_.data() + end_, value);
    position_ = static_cast<std::size_t>(p - window_.data());
    return good;
  }
  bool varlong(std::int64_t& value) {
    constexpr std::size_t kLongest = 10;
    want(kLongest);
    const std::byte* p = at();
    const bool good = detail::read_varlong(p, window_.data() + end_, value);
    position_ = static_cast<std::size_t>(p - window_.data());
    return good;
  }
  bool skip(std::size_t size) {
    while (size > available()) {
      size -= available();
      position_ = end_;
      if (!fill()) {
        return false;
      }
    }
    position_ += size;
    return true;
  }
  // Where in the decompressed data the next byte is.
  [[nodiscard]] std::uint64_t consumed() const noexcept { return window_begin_ + position_; }

  // As detail::walk_record, but streaming.
  const char* walk_long(std::uint64_t length, detail::RecordParts& parts) {
    const std::uint64_t record_end = consumed() + length;
    const auto field = [&](std::int32_t& size) {
      return varint(size) && (size <= 0 || (consumed() + static_cast<std::uint64_t>(size) <= record_end &&
                                            skip(static_cast<std::size_t>(size))));
    };
    if (!skip(1) || !varlong(parts.timestamp_delta) || !varint(parts.offset_delta)) {
      return "a record ends inside its timestamp or offset";
    }
    if (!field(parts.key_size)) {
      return "a key is longer than its record";
    }
    if (!field(parts.value_size)) {
      return "a value is longer than its record";
    }
    if (!varint(parts.header_count) || parts.header_count < 0) {
      return "the number of headers is wrong";
    }
    for (std::int32_t left = parts.header_count; left != 0; --left) {
      std::int32_t size = 0;
      if (!field(size) || size < 0 || !field(size)) {
        return "a header is wrong: null key, or longer than its record";
      }
    }
    return consumed() == record_end ? nullptr : "the length of a record differs from its fields";
  }

  Decompressor& stream_;
  std::vector<std::byte>& window_;
  std::uint64_t window_begin_ = 0;
  std::size_t position_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace

ProduceRequestCheck check_produce_request(ByteSpan records, std::int16_t produce_version) {
  ProduceRequestCheck check;
  const auto refuse_early = [&check](ErrorCode error, std::string detail) {
    check.verdict.error = error;
    check.verdict.detail = std::move(detail);
  };
  const BatchRead first = read_batch(records);
  switch (first.status) {
    case BatchStatus::ok:
      break;
    case BatchStatus::end:
    case BatchStatus::truncated:
      refuse_early(ErrorCode::invalid_record, "a produce request carries one whole batch for each partition");
      return check;
    case BatchStatus::old_magic:
      refuse_early(ErrorCode::invalid_record,
                   fmt::format("message format {} is not accepted, only 2", static_cast<int>(records[16])));
      return check;
    case BatchStatus::corrupt: {
      BatchCursor cursor(records);
      BatchView none;
      cursor.next(none);
      refuse_early(ErrorCode::corrupt_message, cursor.problem());
      check.whole_request = true;
      check.verdict.message_in_answer = true;
      return check;
    }
  }
  if (first.view.compression_bits() == static_cast<int>(Compression::zstd) &&
      produce_version < kFirstProduceVersionWithZstd) {
    refuse_early(ErrorCode::unsupported_compression_type,
                 fmt::format("zstd needs version {} of Produce", kFirstProduceVersionWithZstd));
    return check;
  }
  switch (read_batch(records.subspan(first.size)).status) {
    case BatchStatus::end:
    case BatchStatus::truncated:
      break;
    case BatchStatus::ok:
    case BatchStatus::old_magic:
      refuse_early(ErrorCode::invalid_record, "a produce request carries only one batch for each partition");
      return check;
    case BatchStatus::corrupt:
      refuse_early(ErrorCode::corrupt_message, "what follows the batch is no batch");
      return check;
  }
  check.size = first.size;
  return check;
}

ClientBatchCheck check_client_batch(const BatchView& batch, const ProduceRules& rules, WallTime now,
                                    RecordScratch& scratch) {
  ClientBatchCheck check;
  const auto no = [&check](ErrorCode error, std::string detail) {
    refuse(check.verdict, error, std::move(detail));
    return check;
  };
  // The order is Kafka's: what a batch is refused for first is seen by clients.
  if (batch.base_offset() != Offset{0}) {
    return no(ErrorCode::invalid_record,
              fmt::format("the base offset of a produced batch is 0, not {}", batch.base_offset().value()));
  }
  if (batch.size() > static_cast<std::size_t>(std::max(rules.max_message_bytes, 0))) {
    return no(ErrorCode::message_too_large, fmt::format("the batch has {} bytes, max.message.bytes is {}", batch.size(),
                                                        rules.max_message_bytes));
  }
  if (!batch.crc_ok()) {
    return no(ErrorCode::corrupt_message,
              fmt::format("the batch says CRC {:08x}, its bytes give {:08x}", batch.crc(), batch.computed_crc()));
  }
  const std::int64_t span = std::int64_t{batch.last_offset_delta()} + 1;
  if (span <= 0 || batch.count() <= 0 || span != batch.count()) {
    return no(ErrorCode::invalid_record, fmt::format("the batch counts {} records over {} offsets", batch.count(), span));
  }
  if (batch.control()) {
    return no(ErrorCode::invalid_record, "clients may not write control records");
  }
  if (batch.has_producer_id() && batch.base_sequence() < 0) {
    return no(ErrorCode::invalid_record, fmt::format("producer {} sends the sequence {}", batch.producer_id().value(),
                                                     batch.base_sequence()));
  }
  if (!batch.known_compression()) {
    return no(ErrorCode::unknown_server_error,
              fmt::format("compression type {} does not exist", batch.compression_bits()));
  }

  RecordRules records(batch, rules, now);
  const char* problem = nullptr;
  if (batch.compression() == Compression::none) {
    problem = walk_plain(batch.payload(), batch.count(), records);
  } else {
    RecordScratch::Impl& impl = scratch.impl();
    Decompressor& stream = impl.decompressor(batch.compression());
    stream.reset(batch.payload(), rules.max_decompressed_bytes);
    StreamWalker walker(stream, impl.window);
    problem = walker.walk(batch.count(), records);
    if (walker.error()) {
      // Kafka has no error code of its own for data that does not decompress.
      return no(walker.error()->code == Errc::too_large ? ErrorCode::message_too_large
                                                         : ErrorCode::unknown_server_error,
                walker.error()->detail);
    }
  }
  if (problem != nullptr) {
    return no(ErrorCode::invalid_record, fmt::format("record {}: {}", records.index(), problem));
  }
  records.finish(check);
  return check;
}

Offset stamp_batch(MutableByteSpan batch, Offset base, LeaderEpoch epoch, const ProduceRules& rules, WallTime now,
                   const ClientBatchCheck& check) noexcept {
  set_base_offset(batch, base);
  set_leader_epoch(batch, epoch);
  const bool append_time = rules.timestamp_type == TimestampType::log_append_time;
  set_max_timestamp(batch, rules.timestamp_type, append_time ? now.ms : check.max_timestamp);
  return BatchView(batch).last_offset();
}

Result<Bytes> rebuild_batch(const BatchView& batch, Compression codec, std::optional<int> level,
                            std::size_t max_decompressed) {
  HW_TRY(RecordIterator records, RecordIterator::open(batch, max_decompressed));
  BatchOptions options;
  options.compression = codec;
  options.level = level;
  options.base_offset = batch.base_offset();
  options.leader_epoch = batch.leader_epoch();
  options.producer_id = batch.producer_id();
  options.producer_epoch = batch.producer_epoch();
  options.base_sequence = batch.base_sequence();
  options.transactional = batch.transactional();
  options.control = batch.control();
  options.timestamp_type = batch.timestamp_type();
  options.log_append_time_ms = batch.max_timestamp();
  options.delete_horizon_ms = batch.delete_horizon_ms();
  BatchBuilder builder(options, batch.size());
  RecordView record;
  std::vector<HeaderIn> headers;
  while (records.next(record)) {
    headers.clear();
    HeaderCursor cursor = record.headers();
    for (HeaderView header; cursor.next(header);) {
      headers.push_back({header.key, header.value});
    }
    builder.append(RecordIn{record.key, record.value, headers, record.timestamp_ms});
  }
  if (records.failed()) {
    return fail(Errc::corrupt, records.problem());
  }
  return builder.finish();
}

bool batch_intact(const BatchView& batch) noexcept {
  return batch.valid() && batch.length() >= 0 &&
         static_cast<std::size_t>(batch.length()) + kLogOverhead == batch.size() && batch.magic() == kBatchMagic &&
         batch.crc_ok();
}

}  // namespace hw::wire
