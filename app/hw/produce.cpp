// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>

#include "app/hw/json_read.h"
#include "app/hw/output.h"
#include "app/hw/partitioners.h"
#include "app/hw/session.h"
#include "app/hw/text.h"
#include "engine/node/client_runner.h"

namespace hw::app {
namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string topic;
  std::string value;
  std::string key;
  std::string separator;
  std::string null_marker;
  std::string input = "lines";
  std::string partitioner = "murmur2";
  std::string timestamp;
  std::string file;
  std::vector<std::string> headers;
  std::int32_t partition = -1;
  bool null_value = false;
  bool quiet = false;
  double rate = 0;
  std::int64_t count = 1;
  std::string compression = "none";
  std::string acks = "all";
  std::int64_t linger_ms = 0;
  bool no_create = false;
  const CLI::Option* key_option = nullptr;
  const CLI::Option* value_option = nullptr;
  const CLI::Option* partition_option = nullptr;
};

// What came of the records, counted on the runner's thread, read by the main one.
struct Tally {
  std::mutex mutex;
  std::int64_t waiting = 0;
  std::size_t waiting_bytes = 0;
  std::int64_t delivered = 0;
  std::int64_t failed = 0;
  std::map<std::int32_t, std::int64_t> per_partition;
  std::optional<Error> first_error;
};

constexpr std::int64_t kMostWaiting = 20'000;
constexpr std::size_t kMostWaitingBytes = 32 * 1024 * 1024;
constexpr std::int64_t kErrorsShown = 5;

class Sender {
 public:
  Sender(const Arguments& arguments, const Common& common, Waiter& waiter, node::ClientRunner& runner,
         node::ClientHandle producer)
      : arguments_(arguments), common_(common), waiter_(waiter), runner_(runner), producer_(producer), start_(Clock::now()) {}

  // What every record begins with: topic, and what the arguments say of partition, timestamp and headers.
  [[nodiscard]] node::OutgoingRecord blank() const {
    node::OutgoingRecord record;
    record.topic = arguments_.topic;
    record.timestamp_ms = timestamp_ms_;
    if (arguments_.partition_option->count() > 0) {
      record.partition = arguments_.partition;
    }
    for (const std::string& header : arguments_.headers) {
      if (auto pair = split_pair(header)) {
        record.headers.emplace_back(std::move(pair->first), Bytes::copy_of(pair->second));
      } else {
        record.headers.emplace_back(header, std::nullopt);
      }
    }
    return record;
  }
  bool send(std::optional<Bytes> key, std::optional<Bytes> value) {
    node::OutgoingRecord record = blank();
    record.key = std::move(key);
    record.value = std::move(value);
    return send(std::move(record));
  }
  // False after Ctrl-C.
  bool send(node::OutgoingRecord record) {
    if (!pace() || !make_room()) {
      return false;
    }
    if (!record.partition && partitioner_) {
      record.partition = partitioner_->choose(record.key);
    }
    const std::size_t size = (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
    {
      const std::lock_guard lock(tally_->mutex);
      ++tally_->waiting;
      tally_->waiting_bytes += size;
    }
    ++sent_;
    runner_.produce(producer_, std::move(record), [this, tally = tally_, size](const Result<node::Delivery>& delivery) {
      delivered(*tally, size, delivery);
    });
    return true;
  }

  // Waits until everything is answered; prints what came of it. The exit code.
  int finish(bool interrupted) {
    runner_.flush(producer_, [this] { waiter_.wake(); });
    for (;;) {
      {
        const std::lock_guard lock(tally_->mutex);
        if (tally_->waiting == 0) {
          break;
        }
      }
      if (waiter_.wait() == Waiter::Why::interrupted && std::exchange(interrupted, true)) {
        break;  // Ctrl-C a second time: do not wait
      }
    }
    const std::lock_guard lock(tally_->mutex);
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (!arguments_.quiet && (sent_ != 1 || tally_->failed > 0) && !common_.json) {
      std::string where;
      for (const auto& [partition, records] : tally_->per_partition) {
        where += fmt::format("{}{}: {}", where.empty() ? "" : ", ", partition, records);
      }
      fmt::print(stderr, "{} record{} delivered to {} in {:.2f} s{}{}\n", tally_->delivered,
                 tally_->delivered == 1 ? "" : "s", arguments_.topic, seconds,
                 where.empty() ? "" : fmt::format("  (partition {})", where),
                 tally_->failed > 0 ? fmt::format(", {} failed", tally_->failed) : "");
    }
    if (tally_->first_error) {
      return static_cast<int>(exit_of(*tally_->first_error));
    }
    return interrupted ? static_cast<int>(Exit::interrupted) : 0;
  }
  void use(Partitioner partitioner) { partitioner_.emplace(std::move(partitioner)); }
  void stamp(std::int64_t timestamp_ms) { timestamp_ms_ = timestamp_ms; }

 private:
  void delivered(Tally& tally, std::size_t size, const Result<node::Delivery>& delivery) {
    const std::lock_guard lock(tally.mutex);
    const bool full = tally.waiting >= kMostWaiting || tally.waiting_bytes >= kMostWaitingBytes;
    --tally.waiting;
    tally.waiting_bytes -= size;
    if (delivery) {
      ++tally.delivered;
      ++tally.per_partition[delivery->partition];
      if (common_.json) {
        JsonObject object;
        object.text("topic", arguments_.topic).number("partition", delivery->partition);
        object.number("offset", delivery->offset).number("timestamp", delivery->timestamp_ms);
        fmt::print("{}\n", object.str());
      } else if (arguments_.count == 1 && arguments_.value_option->count() + (arguments_.null_value ? 1U : 0U) > 0 &&
                 !arguments_.quiet) {
        fmt::print("{} partition {} offset {}\n", arguments_.topic, delivery->partition, delivery->offset);
      }
    } else {
      if (++tally.failed <= kErrorsShown) {
        report(delivery.error(), common_);
      } else if (tally.failed == kErrorsShown + 1) {
        fmt::print(stderr, "hw: more failed; only the first {} errors are shown\n", kErrorsShown);
      }
      if (!tally.first_error) {
        tally.first_error = delivery.error();
      }
    }
    if (tally.waiting == 0 || full) {
      waiter_.wake();
    }
  }
  bool make_room() {
    for (;;) {
      {
        const std::lock_guard lock(tally_->mutex);
        if (tally_->waiting < kMostWaiting && tally_->waiting_bytes < kMostWaitingBytes) {
          return true;
        }
      }
      if (waiter_.wait() == Waiter::Why::interrupted) {
        return false;
      }
    }
  }
  bool pace() {
    if (arguments_.rate <= 0) {
      return true;
    }
    const auto due = start_ + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(static_cast<double>(sent_) / arguments_.rate));
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now()).count();
      if (left <= 0) {
        return true;
      }
      if (waiter_.wait(-1, static_cast<int>(std::min<std::int64_t>(left, 1'000'000))) == Waiter::Why::interrupted) {
        return false;
      }
    }
  }

  const Arguments& arguments_;
  const Common& common_;
  Waiter& waiter_;
  node::ClientRunner& runner_;
  node::ClientHandle producer_;
  std::shared_ptr<Tally> tally_ = std::make_shared<Tally>();
  Clock::time_point start_;
  std::int64_t sent_ = 0;
  std::int64_t timestamp_ms_ = -1;
  std::optional<Partitioner> partitioner_;
};

// One record of a JSON line, as `hw --json consume` prints them: key and value are strings, null, base64 under key_base64 and
// value_base64, or any other JSON, which is sent as it stands. Headers are an object, or an array of {"name":…,"value":…}.
class JsonRecord {
 public:
  static Result<void> into(std::string_view line, node::OutgoingRecord& record) {
    HW_TRY(const JsonValue value, parse_json(line));
    if (value.kind != JsonValue::Kind::object) {
      return fail(Errc::invalid, "not an object; write {\"key\":…,\"value\":…}");
    }
    for (const auto& [name, member] : value.members) {
      static constexpr std::string_view kKnown[] = {"key",   "key_base64", "value",          "value_base64", "headers", "partition",
                                                    "topic", "timestamp",  "timestamp_type", "offset"};
      if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown)) {
        return fail(Errc::invalid, fmt::format("unknown member '{}'; known are key, value, headers, partition, timestamp, and key_base64, "
                                               "value_base64 for bytes that are no text",
                                               name));
      }
    }
    HW_TRY(record.key, bytes(value, "key"));
    HW_TRY(record.value, bytes(value, "value"));
    if (const JsonValue* partition = value.find("partition"); partition != nullptr && partition->kind != JsonValue::Kind::null) {
      const auto number = parse_number(partition->text);
      if (!number || *number < 0 || *number > INT32_MAX) {
        return fail(Errc::invalid, fmt::format("partition {} is no partition", partition->text));
      }
      record.partition = static_cast<std::int32_t>(*number);
    }
    if (const JsonValue* timestamp = value.find("timestamp"); timestamp != nullptr && timestamp->kind != JsonValue::Kind::null) {
      if (timestamp->kind == JsonValue::Kind::string) {
        HW_TRY(record.timestamp_ms, parse_time_ms(timestamp->text, wall_now_ms()));
      } else if (const auto number = parse_number(timestamp->text)) {
        record.timestamp_ms = *number;
      } else {
        return fail(Errc::invalid, fmt::format("timestamp {}: write milliseconds, or a time such as \"2026-11-29T10:00:00Z\"", timestamp->text));
      }
    }
    return headers(value.find("headers"), record);
  }

 private:
  static Result<std::optional<Bytes>> bytes(const JsonValue& object, const std::string& name) {
    if (const JsonValue* encoded = object.find(name + "_base64")) {
      const auto decoded = decode_base64(encoded->text);
      if (!decoded || encoded->kind != JsonValue::Kind::string) {
        return fail(Errc::invalid, fmt::format("{}_base64 is not base64", name));
      }
      return std::optional(Bytes::copy_of(*decoded));
    }
    const JsonValue* value = object.find(name);
    if (value == nullptr || value->kind == JsonValue::Kind::null) {
      return std::optional<Bytes>();
    }
    return std::optional(Bytes::copy_of(value->text));
  }
  static Result<void> headers(const JsonValue* value, node::OutgoingRecord& record) {
    if (value == nullptr || value->kind == JsonValue::Kind::null) {
      return {};
    }
    for (const auto& [name, member] : value->members) {
      record.headers.emplace_back(name, member.kind == JsonValue::Kind::null ? std::nullopt : std::optional(Bytes::copy_of(member.text)));
    }
    for (const JsonValue& element : value->elements) {
      const JsonValue* name = element.find("name");
      if (name == nullptr) {
        return fail(Errc::invalid, "a header without a name");
      }
      HW_TRY(std::optional<Bytes> content, bytes(element, "value"));
      record.headers.emplace_back(name->text, std::move(content));
    }
    if (value->kind != JsonValue::Kind::object && value->kind != JsonValue::Kind::array) {
      return fail(Errc::invalid, "headers are an object, or an array of {\"name\":…,\"value\":…}");
    }
    return {};
  }
};

// Lines of a descriptor; a last line without an end counts.
class Lines {
 public:
  Lines(int descriptor, Waiter& waiter) : descriptor_(descriptor), waiter_(waiter) {}
  enum class Got { line, end, interrupted, failed };
  Got next(std::string& line) {
    for (;;) {
      const std::size_t newline = buffer_.find('\n', position_);
      if (newline != std::string::npos) {
        line = buffer_.substr(position_, newline - position_);
        position_ = newline + 1;
        return Got::line;
      }
      buffer_.erase(0, position_);
      position_ = 0;
      if (ended_) {
        line = std::exchange(buffer_, {});
        return line.empty() ? Got::end : Got::line;
      }
      Waiter::Why why = Waiter::Why::woken;
      while (why == Waiter::Why::woken) {
        why = waiter_.wait(descriptor_);
      }
      if (why == Waiter::Why::interrupted) {
        return Got::interrupted;
      }
      std::array<char, 64 * 1024> chunk;
      const ssize_t got = read(descriptor_, chunk.data(), chunk.size());
      if (got < 0 && errno != EINTR && errno != EAGAIN) {
        return Got::failed;
      }
      if (got > 0) {
        buffer_.append(chunk.data(), static_cast<std::size_t>(got));
      }
      ended_ = got == 0;
    }
  }

 private:
  int descriptor_;
  Waiter& waiter_;
  std::string buffer_;
  std::size_t position_ = 0;
  bool ended_ = false;
};

// A part of a line: the null marker is null, everything else itself, also when it is empty.
std::optional<Bytes> part(const Arguments& arguments, std::string_view text) {
  if (!arguments.null_marker.empty() && text == arguments.null_marker) {
    return std::nullopt;
  }
  return Bytes::copy_of(text);
}

// Sends what the lines say. The exit code of reading; `going` is false after Ctrl-C.
int send_lines(const Arguments& arguments, const std::string& separator, Sender& sender, Lines& lines, Progress& progress, bool& going) {
  std::string line;
  for (std::int64_t number = 1; going; ++number) {
    const Lines::Got got = lines.next(line);
    if (got != Lines::Got::line) {
      going = got != Lines::Got::interrupted;
      if (got == Lines::Got::failed) {
        fmt::print(stderr, "hw: reading failed: {}\n", std::strerror(errno));
        return static_cast<int>(Exit::failed);
      }
      return 0;
    }
    progress.at(line.size() + 1);
    if (arguments.input == "json") {
      if (line.find_first_not_of(" \t\r") == std::string::npos) {
        continue;
      }
      node::OutgoingRecord record = sender.blank();
      if (const Result<void> parsed = JsonRecord::into(line, record); !parsed) {
        progress.clear();
        fmt::print(stderr, "hw: line {}: {}; it and what follows is not sent\n", number, parsed.error().detail);
        return static_cast<int>(Exit::failed);
      }
      going = sender.send(std::move(record));
      continue;
    }
    if (separator.empty()) {
      going = sender.send(arguments.key_option->count() > 0 ? part(arguments, arguments.key) : std::nullopt, part(arguments, line));
      continue;
    }
    const std::size_t at = line.find(separator);
    if (at == std::string::npos) {
      progress.clear();
      fmt::print(stderr, "hw: line {} has no '{}' between key and value; it and what follows is not sent\n", number, arguments.separator);
      return static_cast<int>(Exit::failed);
    }
    going = sender.send(part(arguments, std::string_view(line).substr(0, at)),
                        part(arguments, std::string_view(line).substr(at + separator.size())));
  }
  return 0;
}

int produce(const Arguments& arguments, const Common& common) {
  const bool given = arguments.value_option->count() > 0 || arguments.null_value;
  if (arguments.value_option->count() > 0 && arguments.null_value) {
    return wrong("give a value or --null, not both");
  }
  if (given && !arguments.file.empty()) {
    return wrong("give a value or --file, not both");
  }
  const Result<std::string> separator = unescape(arguments.separator);
  if (!separator) {
    return wrong("--key-separator " + separator.error().detail);
  }
  std::int64_t timestamp_ms = -1;
  if (!arguments.timestamp.empty()) {
    const Result<std::int64_t> time = parse_time_ms(arguments.timestamp, wall_now_ms());
    if (!time) {
      return wrong("--timestamp: " + time.error().detail);
    }
    timestamp_ms = *time;
  }
  int descriptor = STDIN_FILENO;
  std::uint64_t file_size = 0;
  if (!given && !arguments.file.empty() && arguments.file != "-") {
    descriptor = open(arguments.file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (descriptor < 0 || fstat(descriptor, &about) != 0) {
      fmt::print(stderr, "hw: {}: {}\n", arguments.file, std::strerror(errno));
      return static_cast<int>(Exit::not_found);
    }
    file_size = static_cast<std::uint64_t>(about.st_size);
  }
  Session session(common);
  std::optional<Partitioner> partitioner;
  if (arguments.partitioner != "murmur2" || arguments.no_create) {
    const auto topic = session.topic(arguments.topic);
    if (!topic) {
      return report(topic.error(), common);
    }
    partitioner = Partitioner::make(arguments.partitioner, static_cast<std::int32_t>(topic->partitions.size()));
  }
  node::ProducerOptions options;
  options.bootstrap = common.bootstrap;
  options.client_id = "hw";
  options.acks = static_cast<std::int16_t>(arguments.acks == "all" ? -1 : std::stoi(arguments.acks));
  options.compression = arguments.compression;
  options.linger_ms = arguments.linger_ms;
  options.auto_create = !arguments.no_create;
  if (common.timeout_ms > 0) {
    options.delivery_timeout_ms = common.timeout_ms;
  }
  const node::ClientHandle producer = session.runner().add_producer(options);
  Sender sender(arguments, common, session.waiter(), session.runner(), producer);
  sender.stamp(timestamp_ms);
  if (partitioner) {
    sender.use(std::move(*partitioner));
  }
  bool going = true;
  if (given) {
    const std::optional<Bytes> key = arguments.key_option->count() > 0 ? part(arguments, arguments.key) : std::nullopt;
    const std::optional<Bytes> value = arguments.null_value ? std::nullopt : part(arguments, arguments.value);
    for (std::int64_t i = 0; going && i < arguments.count; ++i) {
      going = sender.send(key, value);
    }
    return sender.finish(!going);
  }
  if (descriptor == STDIN_FILENO && isatty(STDIN_FILENO) != 0) {
    fmt::print(stderr, "one record a line{}; Ctrl-D ends\n",
               arguments.input == "json"       ? ", as JSON"
               : arguments.separator.empty() ? ""
                                             : fmt::format(", key{}value", arguments.separator));
  }
  Lines lines(descriptor, session.waiter());
  Progress progress("sent", file_size);
  const int exit = send_lines(arguments, *separator, sender, lines, progress, going);
  progress.clear();
  const int finished = sender.finish(!going);
  if (descriptor != STDIN_FILENO) {
    close(descriptor);
  }
  return finished != 0 ? finished : exit;
}

}  // namespace

void add_produce(CLI::App& cli, Common& common) {
  CLI::App* command = add_command(cli, "produce", "Send records: one value, or the lines of a file or of stdin. Ends when all are answered",
                                  {"hw produce orders hello --key customer-7", "seq 1000 | hw produce orders --rate 100",
                                   "hw produce orders --file orders.csv --key-separator ';' --null-marker NULL",
                                   "hw --json consume orders --exit-at-end | hw produce copy --input json"});
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("topic", arguments->topic, "where to")->required();
  arguments->value_option = command->add_option("value", arguments->value, "the value; without it lines are read");
  arguments->key_option = command->add_option("--key,-k", arguments->key, "key of every record (default: null; '' is an empty key)");
  arguments->partition_option = command->add_option("--partition,-p", arguments->partition, "this partition, whatever the key")
                                    ->check(CLI::NonNegativeNumber);
  command->add_option("--header,-H", arguments->headers, "name=value; a name alone has a null value; may be repeated")->take_all();
  command->add_flag("--null", arguments->null_value, "a null value (a tombstone on compacted topics)");
  command->add_option("--file,-f", arguments->file, "read lines from this file ('-': stdin)");
  command->add_option("--key-separator,-s", arguments->separator, "lines are key, separator, value; \\t is a tab");
  command->add_option("--null-marker", arguments->null_marker, "a key or value that is this text is null (an empty one is empty)");
  command->add_option("--input,-i", arguments->input,
                      "lines, or json: {\"key\":…,\"value\":…,\"headers\":{…},\"partition\":…,\"timestamp\":…} a line")
      ->check(CLI::IsMember({"lines", "json"}));
  command->add_option("--partitioner", arguments->partitioner,
                      "murmur2 (as Java clients), crc32 (as librdkafka's default), fnv1a (as Sarama's), round-robin or random")
      ->check(CLI::IsMember({"murmur2", "crc32", "fnv1a", "round-robin", "random"}));
  command->add_option("--timestamp", arguments->timestamp, "of every record: 2026-11-29T10:00:00Z, @1764410400000, 2h (so long ago)");
  command->add_flag("--no-create", arguments->no_create, "fail where the topic does not exist, also if the broker would make it");
  command->add_option("--rate", arguments->rate, "records per second")->check(CLI::PositiveNumber);
  command->add_option("--count,-n", arguments->count, "send the value so many times")->check(CLI::PositiveNumber);
  command->add_option("--compression,-z", arguments->compression, "none, gzip, snappy, lz4 or zstd")
      ->check(CLI::IsMember({"none", "gzip", "snappy", "lz4", "zstd"}));
  command->add_option("--acks", arguments->acks, "all, 1 or 0")->check(CLI::IsMember({"all", "-1", "1", "0"}));
  command->add_option("--linger", arguments->linger_ms, "milliseconds to wait for a fuller batch")->check(CLI::NonNegativeNumber);
  command->add_flag("--quiet,-q", arguments->quiet, "print errors only");
  command->callback([&common, arguments] { common.run = [&common, arguments] { return produce(*arguments, common); }; });
}

}  // namespace hw::app
