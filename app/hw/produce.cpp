// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>

#include "app/hw/output.h"
#include "app/hw/wait.h"
#include "engine/node/client_runner.h"

namespace hw::app {
namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string topic;
  std::string value;
  std::string key;
  std::string separator;
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
  std::int64_t timeout_ms = 30'000;
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

  // False after Ctrl-C.
  bool send(std::optional<Bytes> key, std::optional<Bytes> value) {
    if (!pace() || !make_room()) {
      return false;
    }
    node::OutgoingRecord record;
    record.topic = arguments_.topic;
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
    const std::size_t size = (key ? key->size() : 0) + (value ? value->size() : 0);
    record.key = std::move(key);
    record.value = std::move(value);
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
  [[nodiscard]] bool any_failed() const {
    const std::lock_guard lock(tally_->mutex);
    return tally_->failed > 0;
  }

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

int produce(const Arguments& arguments, const Common& common) {
  const bool given = arguments.value_option->count() > 0 || arguments.null_value;
  if (arguments.value_option->count() > 0 && arguments.null_value) {
    fmt::print(stderr, "hw: give a value or --null, not both\n");
    return static_cast<int>(Exit::usage);
  }
  if (given && !arguments.file.empty()) {
    fmt::print(stderr, "hw: give a value or --file, not both\n");
    return static_cast<int>(Exit::usage);
  }
  int descriptor = STDIN_FILENO;
  if (!given && !arguments.file.empty() && arguments.file != "-") {
    descriptor = open(arguments.file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
      fmt::print(stderr, "hw: {}: {}\n", arguments.file, std::strerror(errno));
      return static_cast<int>(Exit::usage);
    }
  }
  Waiter waiter;
  node::ClientRunner runner;
  node::ProducerOptions options;
  options.bootstrap = common.bootstrap;
  options.client_id = "hw";
  options.acks = static_cast<std::int16_t>(arguments.acks == "all" ? -1 : std::stoi(arguments.acks));
  options.compression = arguments.compression;
  options.linger_ms = arguments.linger_ms;
  options.delivery_timeout_ms = arguments.timeout_ms;
  const node::ClientHandle producer = runner.add_producer(options);
  Sender sender(arguments, common, waiter, runner, producer);

  const auto key = [&]() -> std::optional<Bytes> {
    return arguments.key_option->count() > 0 ? std::optional(Bytes::copy_of(arguments.key)) : std::nullopt;
  };
  bool going = true;
  int exit = 0;
  if (given) {
    for (std::int64_t i = 0; going && i < arguments.count; ++i) {
      going = sender.send(key(), arguments.null_value ? std::nullopt : std::optional(Bytes::copy_of(arguments.value)));
    }
    const int finished = sender.finish(!going);
    return finished;
  }
  if (descriptor == STDIN_FILENO && isatty(STDIN_FILENO) != 0) {
    fmt::print(stderr, "one record a line{}; Ctrl-D ends\n",
               arguments.separator.empty() ? "" : fmt::format(", key{}value", arguments.separator));
  }
  Lines lines(descriptor, waiter);
  std::string line;
  for (std::int64_t number = 1; going; ++number) {
    const Lines::Got got = lines.next(line);
    if (got != Lines::Got::line) {
      going = got != Lines::Got::interrupted;
      if (got == Lines::Got::failed) {
        fmt::print(stderr, "hw: reading failed: {}\n", std::strerror(errno));
        exit = static_cast<int>(Exit::failed);
      }
      break;
    }
    if (arguments.separator.empty()) {
      going = sender.send(key(), Bytes::copy_of(line));
      continue;
    }
    const std::size_t at = line.find(arguments.separator);
    if (at == std::string::npos) {
      fmt::print(stderr, "hw: line {} has no '{}' between key and value; it and what follows is not sent\n", number,
                 arguments.separator);
      exit = static_cast<int>(Exit::failed);
      break;
    }
    going = sender.send(Bytes::copy_of(std::string_view(line).substr(0, at)),
                        Bytes::copy_of(std::string_view(line).substr(at + arguments.separator.size())));
  }
  const int finished = sender.finish(!going);
  if (descriptor != STDIN_FILENO) {
    close(descriptor);
  }
  return finished != 0 ? finished : exit;
}

}  // namespace

void add_produce(CLI::App& cli, Common& common) {
  CLI::App* command = cli.add_subcommand("produce", "Send records: one value, or the lines of a file or of stdin");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("topic", arguments->topic, "where to")->required();
  arguments->value_option = command->add_option("value", arguments->value, "the value; without it lines are read");
  arguments->key_option = command->add_option("--key,-k", arguments->key, "key of every record (default: null; '' is an empty key)");
  arguments->partition_option = command->add_option("--partition,-p", arguments->partition, "this partition, whatever the key")
                                    ->check(CLI::NonNegativeNumber);
  command->add_option("--header,-H", arguments->headers, "name=value; a name alone has a null value; may be repeated")->take_all();
  command->add_flag("--null", arguments->null_value, "a null value (a tombstone on compacted topics)");
  command->add_option("--file,-f", arguments->file, "read lines from this file ('-': stdin)");
  command->add_option("--key-separator,-s", arguments->separator, "lines are key, separator, value");
  command->add_option("--rate", arguments->rate, "records per second")->check(CLI::PositiveNumber);
  command->add_option("--count,-n", arguments->count, "send the value so many times")->check(CLI::PositiveNumber);
  command->add_option("--compression,-z", arguments->compression, "none, gzip, snappy, lz4 or zstd")
      ->check(CLI::IsMember({"none", "gzip", "snappy", "lz4", "zstd"}));
  command->add_option("--acks", arguments->acks, "all, 1 or 0")->check(CLI::IsMember({"all", "-1", "1", "0"}));
  command->add_option("--linger", arguments->linger_ms, "milliseconds to wait for a fuller batch")->check(CLI::NonNegativeNumber);
  command->add_option("--timeout", arguments->timeout_ms, "milliseconds until an unanswered record counts as failed")
      ->check(CLI::PositiveNumber);
  command->add_flag("--quiet,-q", arguments->quiet, "print errors only");
  command->callback([&common, arguments] { common.run = [&common, arguments] { return produce(*arguments, common); }; });
}

}  // namespace hw::app
