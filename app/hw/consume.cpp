// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <atomic>
#include <charconv>
#include <limits>
#include <set>

#include "app/hw/output.h"
#include "app/hw/wait.h"
#include "engine/node/client_runner.h"

namespace hw::app {
namespace {

struct Arguments {
  std::string topic;
  std::string group;
  std::string from;
  std::vector<std::int32_t> partitions;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  bool until_end = false;
  bool values = false;
  bool read_committed = false;
  std::int64_t timeout_ms = 0;
};

// Control characters would mix up lines and terminals.
std::string printable(const std::optional<Bytes>& bytes) {
  if (!bytes) {
    return "(null)";
  }
  const std::string_view text = bytes->text();
  if (!is_utf8(text)) {
    return "base64:" + base64(text);
  }
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\\') {
      out += "\\\\";
    } else if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(code));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

void print_json(const node::IncomingRecord& record) {
  std::vector<std::string> headers;
  for (const auto& [name, value] : record.headers) {
    JsonObject header;
    header.text("name", name).bytes("value", value);
    headers.push_back(header.str());
  }
  JsonObject object;
  object.text("topic", record.topic)
      .number("partition", record.partition)
      .number("offset", record.offset)
      .number("timestamp", record.timestamp_ms)
      .text("timestamp_type", record.log_append_time ? "LogAppendTime" : "CreateTime")
      .bytes("key", record.key)
      .bytes("value", record.value)
      .raw("headers", json_array(headers));
  fmt::print("{}\n", object.str());
}

void print_line(const node::IncomingRecord& record) {
  std::string headers;
  for (const auto& [name, value] : record.headers) {
    headers += fmt::format("\t{}={}", name, printable(value));
  }
  fmt::print("{}\t{}\t{}\t{}{}\n", record.partition, record.offset, printable(record.key), printable(record.value),
             headers);
}

// State of the runner's thread, which the main thread reads when it is woken.
struct Progress {
  std::atomic<std::int64_t> printed{0};
  std::atomic<bool> done{false};
  std::atomic<bool> fatal{false};
  std::mutex mutex;
  std::string problem;
  std::set<std::pair<std::string, std::int32_t>> reading;
};

int consume(const Arguments& arguments, const Common& common) {
  Waiter waiter;
  Progress progress;
  node::ClientRunner runner;

  // A topic that is not there is said at once; consuming does not create it.
  const auto topic = await<Result<node::TopicDescription>>(
      waiter, [&](auto done) { runner.describe_topic(common.bootstrap, arguments.topic, std::move(done)); });
  if (!topic) {
    return static_cast<int>(Exit::interrupted);
  }
  if (!*topic) {
    return report(topic->error(), common);
  }
  const auto count = static_cast<std::int32_t>((*topic)->partitions.size());
  for (const std::int32_t partition : arguments.partitions) {
    if (partition >= count) {
      return report(Error{Errc::not_found, fmt::format("topic '{}' has no partition {}; it has {}", arguments.topic,
                                                       partition, count == 1 ? "only 0" : fmt::format("0 to {}", count - 1))},
                    common);
    }
  }

  node::ConsumerOptions options;
  options.bootstrap = common.bootstrap;
  options.client_id = "hw";
  options.read_committed = arguments.read_committed;
  options.auto_create = false;
  options.records_max = arguments.most;
  const bool grouped = !arguments.group.empty();
  std::string from = arguments.from.empty() ? (grouped ? "earliest" : "latest") : arguments.from;
  if (arguments.from.empty() && arguments.until_end) {
    from = "earliest";
  }
  std::int64_t start = from == "latest" ? -1 : -2;
  if (from != "earliest" && from != "latest") {
    const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), start);
    if (error != std::errc{} || end != from.data() + from.size() || start < 0) {
      fmt::print(stderr, "hw: --from {}: write earliest, latest or an offset\n", from);
      return static_cast<int>(Exit::usage);
    }
    if (grouped) {
      fmt::print(stderr, "hw: --from OFFSET goes without --group: a group continues where it committed\n");
      return static_cast<int>(Exit::usage);
    }
  }
  if (grouped) {
    if (!arguments.partitions.empty()) {
      fmt::print(stderr, "hw: --partition goes without --group: a group's partitions are assigned\n");
      return static_cast<int>(Exit::usage);
    }
    options.group_id = arguments.group;
    options.topics = {arguments.topic};
    options.from_earliest = start == -2;
  } else {
    for (std::int32_t partition = 0; partition < count; ++partition) {
      const bool wanted = arguments.partitions.empty() ||
                          std::find(arguments.partitions.begin(), arguments.partitions.end(), partition) !=
                              arguments.partitions.end();
      if (wanted) {
        options.assignment.push_back({arguments.topic, partition, start});
      }
    }
    options.from_earliest = true;
  }

  const auto on_records = [&](std::vector<node::IncomingRecord>& records) {
    for (const node::IncomingRecord& record : records) {
      if (progress.printed.load() >= arguments.most) {
        break;
      }
      if (common.json) {
        print_json(record);
      } else if (arguments.values) {
        if (record.value) {
          std::fwrite(record.value->data(), 1, record.value->size(), stdout);
        }
        std::fputc('\n', stdout);
      } else {
        print_line(record);
      }
      ++progress.printed;
    }
    std::fflush(stdout);
    if (progress.printed.load() >= arguments.most) {
      progress.done = true;
    }
    waiter.wake();
  };
  const auto on_event = [&](const node::ConsumerEvent& event) {
    switch (event.kind) {
      case node::ConsumerEvent::Kind::assigned:
        progress.reading.insert(event.partitions.begin(), event.partitions.end());
        if (arguments.until_end && event.partitions.empty()) {
          progress.done = true;  // nothing is assigned to this member: others have it
        }
        break;
      case node::ConsumerEvent::Kind::revoked:
        for (const auto& partition : event.partitions) {
          progress.reading.erase(partition);
        }
        return;
      case node::ConsumerEvent::Kind::reached_end:
        for (const auto& partition : event.partitions) {
          progress.reading.erase(partition);
        }
        if (arguments.until_end && progress.reading.empty()) {
          progress.done = true;
        }
        break;
      case node::ConsumerEvent::Kind::error: {
        const std::lock_guard lock(progress.mutex);
        progress.problem = event.message;
        if (event.fatal) {
          progress.fatal = true;
        } else {
          fmt::print(stderr, "hw: {}\n", event.message);
        }
        break;
      }
      case node::ConsumerEvent::Kind::committed:
        return;
      case node::ConsumerEvent::Kind::commit_failed:
      case node::ConsumerEvent::Kind::late:
      case node::ConsumerEvent::Kind::truncated:
        fmt::print(stderr, "hw: {}\n", event.message);
        return;
    }
    if (progress.done || progress.fatal) {
      waiter.wake();
    }
  };
  const node::ClientHandle consumer = runner.add_consumer(options, on_records, on_event);

  bool interrupted = false;
  bool timed_out = false;
  while (!progress.done && !progress.fatal && !interrupted && !timed_out) {
    switch (waiter.wait(-1, arguments.timeout_ms > 0 ? static_cast<int>(arguments.timeout_ms) : -1)) {
      case Waiter::Why::interrupted:
        interrupted = true;
        break;
      case Waiter::Why::timed_out:
        timed_out = true;
        break;
      case Waiter::Why::woken:
      case Waiter::Why::readable:
        break;
    }
  }
  // Commits what was printed and leaves the group; Ctrl-C again does not wait for it.
  await<bool>(waiter, [&](auto done) { runner.close(consumer, [done] { done(true); }); });
  if (progress.fatal) {
    const std::lock_guard lock(progress.mutex);
    return report(Error{Errc::invalid, progress.problem}, common);
  }
  if (timed_out && arguments.most != std::numeric_limits<std::int64_t>::max() && progress.printed < arguments.most) {
    fmt::print(stderr, "hw: {} of {} records came within {} ms\n", progress.printed.load(), arguments.most,
               arguments.timeout_ms);
    return static_cast<int>(Exit::failed);
  }
  return 0;  // Ctrl-C is the usual end of reading
}

}  // namespace

void add_consume(CLI::App& cli, Common& common) {
  CLI::App* command =
      cli.add_subcommand("consume", "Print records: partition, offset, key, value and headers, separated by tabs");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("topic", arguments->topic, "what to read")->required();
  command->add_option("--group,-g", arguments->group, "read as a member of this group and commit");
  command->add_option("--from", arguments->from,
                      "earliest, latest or an offset (default: latest; with a group, where it committed, else earliest)");
  command->add_option("--max,-n", arguments->most, "stop after so many records")->check(CLI::PositiveNumber);
  command->add_option("--partition,-p", arguments->partitions, "only these; may be repeated")
      ->check(CLI::NonNegativeNumber)
      ->take_all();
  command->add_flag("--until-end,-e", arguments->until_end, "stop when everything there is has been read (from earliest)");
  command->add_flag("--values", arguments->values, "values only, as they are");
  command->add_flag("--read-committed", arguments->read_committed, "leave out open and aborted transactions");
  command->add_option("--timeout", arguments->timeout_ms, "stop when nothing comes for so many milliseconds")
      ->check(CLI::PositiveNumber);
  command->callback([&common, arguments] { common.run = [&common, arguments] { return consume(*arguments, common); }; });
}

}  // namespace hw::app
