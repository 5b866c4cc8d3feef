// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <limits>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "app/hw/groups.h"
#include "app/hw/output.h"
#include "app/hw/pattern.h"
#include "app/hw/session.h"
#include "app/hw/text.h"

namespace hw::app {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

struct Arguments {
  std::vector<std::string> topics;
  std::string group;
  std::string from;
  std::vector<std::int32_t> partitions;
  std::int64_t most = kNoLimit;
  bool until_end = false;
  bool values = false;
  bool quiet = false;
  bool read_committed = false;
  std::string isolation = "read_uncommitted";
  std::string format;
  std::string key_match;
  std::string value_match;
  std::string commit = "auto";
  std::string protocol = "classic";
  std::vector<std::string> assignors;
  std::string instance;
  std::string idle;
};

void print_json(const node::IncomingRecord& record, std::string& into) {
  JsonObject object;
  object.text("topic", record.topic)
      .number("partition", record.partition)
      .number("offset", record.offset)
      .number("timestamp", record.timestamp_ms)
      .text("timestamp_type", record.log_append_time ? "LogAppendTime" : "CreateTime")
      .bytes("key", record.key)
      .bytes("value", record.value)
      .raw("headers", json_headers(record.headers));
  into += object.str() + "\n";
}

void print_line(const node::IncomingRecord& record, bool topic, std::string& into) {
  if (topic) {
    into += record.topic + "\t";
  }
  into += fmt::format("{}\t{}\t{}\t{}", record.partition, record.offset, printable(record.key), printable(record.value));
  for (const auto& [name, value] : record.headers) {
    into += fmt::format("\t{}={}", printable(name), printable(value));
  }
  into += '\n';
}

// How each record is shown, and which are.
struct Show {
  std::optional<Template> format;
  std::optional<Pattern> key;
  std::optional<Pattern> value;
  bool json = false;
  bool values = false;
  bool quiet = false;
  bool topic = false;

  [[nodiscard]] bool wants(const node::IncomingRecord& record) const {
    return (!key || (record.key && key->found_in(record.key->text()))) && (!value || (record.value && value->found_in(record.value->text())));
  }
  void print(const node::IncomingRecord& record, std::string& into) const {
    if (quiet) {
      return;
    }
    if (json) {
      print_json(record, into);
    } else if (values) {
      into += record.value ? record.value->text() : std::string_view();
      into += '\n';
    } else if (format) {
      format->print(record, into);
    } else {
      print_line(record, topic, into);
    }
  }
};

Result<Show> show_of(const Arguments& arguments, const Common& common) {
  Show show;
  show.json = common.json;
  show.values = arguments.values;
  show.quiet = arguments.quiet;
  if (!arguments.format.empty()) {
    HW_TRY(show.format, Template::parse(arguments.format));
  }
  if (!arguments.key_match.empty()) {
    HW_TRY(show.key, Pattern::make(arguments.key_match));
  }
  if (!arguments.value_match.empty()) {
    HW_TRY(show.value, Pattern::make(arguments.value_match));
  }
  return show;
}

// Where each partition begins: earliest, latest, an offset, "-10" (the last ten), a point in time.
Result<std::vector<node::ConsumerOptions::Position>> positions(Session& session, const std::vector<node::TopicPartitionName>& partitions,
                                                               const std::string& from) {
  std::vector<node::ConsumerOptions::Position> out;
  const std::optional<std::int64_t> number = parse_number(from);
  if (from == "earliest" || from == "latest" || (number && *number >= 0)) {
    const std::int64_t start = from == "earliest" ? -2 : from == "latest" ? -1 : *number;
    for (const node::TopicPartitionName& partition : partitions) {
      out.push_back({partition.topic, partition.partition, start});
    }
    return out;
  }
  if (number) {
    HW_TRY(const std::vector<Session::Range> ranges, session.ranges(partitions));
    for (const Session::Range& range : ranges) {
      out.push_back({range.partition.topic, range.partition.partition, std::max(range.begin, range.end + *number)});
    }
    return out;
  }
  const Result<std::int64_t> time = parse_time_ms(from, wall_now_ms());
  if (!time) {
    return fail(Errc::invalid, fmt::format("--from {}: write earliest, latest, an offset, -10 for the last ten of each partition, or a time: "
                                           "2h (ago), 2026-11-29T10:00:00Z, @1764410400000",
                                           from));
  }
  std::vector<node::OffsetQuery> queries;
  for (const node::TopicPartitionName& partition : partitions) {
    queries.push_back({partition, *time});
  }
  HW_TRY(const std::vector<node::FoundOffset> found, session.offsets(std::move(queries)));
  for (const node::FoundOffset& offset : found) {
    if (offset.error) {
      return Unexpected(Error(*offset.error));
    }
    out.push_back({offset.partition.topic, offset.partition.partition, offset.offset < 0 ? -1 : offset.offset});
  }
  return out;
}

// State of the runner's thread, which the main thread reads when it is woken.
struct Progressed {
  std::atomic<std::int64_t> printed{0};
  std::atomic<std::int64_t> seen{0};
  std::atomic<bool> done{false};
  std::atomic<bool> fatal{false};
  std::mutex mutex;
  std::string problem;
  std::set<std::pair<std::string, std::int32_t>> reading;
};

int run(Session& session, const Arguments& arguments, const Common& common, node::ConsumerOptions options, const Show& show,
        std::int64_t idle_ms) {
  Progressed progress;
  Waiter& waiter = session.waiter();
  std::string text;
  const auto on_records = [&](std::vector<node::IncomingRecord>& records) {
    text.clear();
    for (const node::IncomingRecord& record : records) {
      if (progress.printed.load() >= arguments.most) {
        break;
      }
      ++progress.seen;
      if (show.wants(record)) {
        show.print(record, text);
        ++progress.printed;
      }
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
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
        if (arguments.until_end && progress.reading.empty()) {
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
  const node::ClientHandle consumer = session.runner().add_consumer(std::move(options), on_records, on_event);

  bool interrupted = false;
  bool timed_out = false;
  while (!progress.done && !progress.fatal && !interrupted && !timed_out) {
    switch (waiter.wait(-1, idle_ms > 0 ? static_cast<int>(std::min<std::int64_t>(idle_ms, 1'000'000'000)) : -1)) {
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
  waiter.forget_interrupt();
  if (!await<bool>(waiter, [&](auto done) { session.runner().close(consumer, [done] { done(true); }); })) {
    Session::end_interrupted();
  }
  if (progress.fatal) {
    const std::lock_guard lock(progress.mutex);
    return report(Error{Errc::invalid, progress.problem}, common);
  }
  if (show.key || show.value) {
    fmt::print(stderr, "{} of {} fit\n", count_text(progress.printed), counted(progress.seen, "record"));
  }
  if (timed_out && arguments.most != kNoLimit && progress.printed < arguments.most) {
    fmt::print(stderr, "hw: {} of {} came within {}\n", count_text(progress.printed), counted(arguments.most, "record"), duration_text(idle_ms));
    return static_cast<int>(Exit::unreachable);
  }
  return 0;  // Ctrl-C is the usual end of reading
}

int consume(const Arguments& arguments, const Common& common) {
  const bool grouped = !arguments.group.empty();
  if (grouped && !arguments.partitions.empty()) {
    return wrong("--partition goes without --group: a group's partitions are assigned");
  }
  if (!grouped && (arguments.commit != "auto" || !arguments.assignors.empty() || !arguments.instance.empty() || arguments.protocol != "classic")) {
    return wrong("--commit, --group-protocol, --assignor and --instance-id go with --group");
  }
  const std::vector<std::string> known = arguments.protocol == "consumer"
                                             ? std::vector<std::string>{"uniform", "range"}
                                             : std::vector<std::string>{"range", "roundrobin", "sticky", "cooperative-sticky"};
  for (const std::string& assignor : arguments.assignors) {
    if (std::find(known.begin(), known.end(), assignor) == known.end()) {
      return wrong(fmt::format("with --group-protocol {} --assignor is one of {}", arguments.protocol, fmt::join(known, ", ")));
    }
  }
  if (arguments.protocol == "consumer" && arguments.assignors.size() > 1) {
    return wrong("with --group-protocol consumer the coordinator takes one --assignor");
  }
  const Result<Show> shown = show_of(arguments, common);
  if (!shown) {
    return wrong(shown.error().detail);
  }
  Show show = *shown;
  std::int64_t idle_ms = 0;
  if (!arguments.idle.empty()) {
    const Result<std::int64_t> idle = parse_duration_ms(arguments.idle);
    if (!idle) {
      return wrong("--idle: " + idle.error().detail);
    }
    idle_ms = *idle;
  }
  const std::string from = !arguments.from.empty() ? arguments.from : grouped || arguments.until_end ? "earliest" : "latest";
  if (grouped && from != "earliest" && from != "latest") {
    return wrong("--from with --group is earliest or latest, for what has no committed offset; `hw groups reset` moves a group elsewhere");
  }

  Session session(common);
  // A topic that is not there is said at once; consuming does not create it.
  const auto topics = session.topics_named(arguments.topics);
  if (!topics) {
    return report(topics.error(), common);
  }
  show.topic = topics->size() > 1;
  std::vector<node::TopicPartitionName> partitions;
  for (const node::TopicDescription& topic : *topics) {
    const auto count = static_cast<std::int32_t>(topic.partitions.size());
    for (const std::int32_t partition : arguments.partitions) {
      if (partition >= count) {
        return report(Error{Errc::not_found, fmt::format("topic '{}' has no partition {}; it has {}", topic.name, partition,
                                                         count == 1 ? "only 0" : fmt::format("0 to {}", count - 1))},
                      common);
      }
    }
    for (std::int32_t partition = 0; partition < count; ++partition) {
      if (arguments.partitions.empty() ||
          std::find(arguments.partitions.begin(), arguments.partitions.end(), partition) != arguments.partitions.end()) {
        partitions.push_back({topic.name, partition});
      }
    }
  }
  node::ConsumerOptions options;
  options.bootstrap = common.bootstrap;
  options.client_id = "hw";
  options.read_committed = arguments.read_committed || arguments.isolation == "read_committed";
  options.auto_create = false;
  if (!show.key && !show.value) {
    options.records_max = arguments.most;
  }
  if (grouped) {
    options.group_id = arguments.group;
    for (const node::TopicDescription& topic : *topics) {
      options.topics.push_back(topic.name);
    }
    options.from_earliest = from == "earliest";
    if (arguments.commit == "never") {
      options.commit_interval_ms = 0;
    } else if (arguments.commit != "auto") {
      options.commit_mode = arguments.commit == "after" ? node::CommitMode::after_work : node::CommitMode::before_work;
    }
    options.group_protocol = arguments.protocol;
    options.assignors = arguments.assignors;
    if (!arguments.instance.empty()) {
      options.group_instance_id = arguments.instance;
    }
  } else {
    auto starts = positions(session, partitions, from);
    if (!starts) {
      return starts.error().code == Errc::invalid ? wrong(starts.error().detail) : report(starts.error(), common);
    }
    options.assignment = std::move(*starts);
    options.from_earliest = true;
  }
  return run(session, arguments, common, std::move(options), show, idle_ms);
}

}  // namespace

void add_consume(CLI::App& cli, Common& common) {
  CLI::App* command = add_command(
      cli, "consume", "Print records: partition, offset, key, value and headers, separated by tabs",
      {"hw consume orders --from earliest", "hw consume orders --from -10 --exit-at-end", "hw consume orders --from 2h --key-match '^customer-7$'",
       "hw consume orders --group billing --max 100", "hw consume orders --group billing --group-protocol consumer",
       "hw consume orders --format '{time} {key}: {value}\\n'", "hw --json consume orders --exit-at-end | jq .value"});
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("topic", arguments->topics, "what to read; names or patterns")->required();
  command->add_option("--group,-g", arguments->group, "read as a member of this group and commit");
  command->add_option("--from", arguments->from,
                      "earliest, latest, an offset, -10 (the last ten), a time (2h ago, 2026-11-29T10:00:00Z); default: latest, with "
                      "--exit-at-end earliest, with a group where it committed, else earliest");
  command->add_option("--max,-n", arguments->most, "stop after so many records")->check(CLI::PositiveNumber);
  command->add_option("--partition,-p", arguments->partitions, "only these; may be repeated")->check(CLI::NonNegativeNumber)->take_all();
  command->add_flag("--exit-at-end,-e,--until-end", arguments->until_end, "stop when everything there is has been read");
  command->add_option("--idle", arguments->idle, "stop when nothing comes for so long: 5s (exit code 4 where --max was not reached)");
  command->add_option("--format,-f", arguments->format,
                      "a template: {topic} {partition} {offset} {time} {timestamp} {key} {value} {headers} {header:NAME} {key_size} "
                      "{value_size}, {key:raw} and {value:raw} for the bytes as they are; \\n ends a line");
  command->add_flag("--values", arguments->values, "values only, as they are");
  command->add_flag("--quiet,-q", arguments->quiet, "print no record");
  command->add_option("--key-match", arguments->key_match, "only records whose key fits this regular expression");
  command->add_option("--value-match", arguments->value_match, "only records whose value fits this regular expression");
  command->add_option("--commit", arguments->commit,
                      "auto: what was printed, each second and at the end; after: each batch when it has been printed (at least once); before: each "
                      "batch before it is (at most once); never")
      ->check(CLI::IsMember({"auto", "after", "before", "never"}));
  command
      ->add_option("--group-protocol", arguments->protocol, "classic: the members assign; consumer: the coordinator does (KIP-848) (default classic)")
      ->check(CLI::IsMember({"classic", "consumer"}));
  command
      ->add_option("--assignor", arguments->assignors,
                   "how the group shares partitions. classic: range (default), roundrobin, sticky, cooperative-sticky, by preference, may be "
                   "repeated; consumer: uniform or range (default: what the group has)")
      ->take_all();
  command->add_option("--instance-id", arguments->instance, "a static member: it may come back within the session timeout without a rebalance");
  command->add_option("--isolation", arguments->isolation, "read_committed leaves out open and aborted transactions")
      ->check(CLI::IsMember({"read_uncommitted", "read_committed"}));
  command->add_flag("--read-committed", arguments->read_committed, "short for --isolation read_committed");
  command->callback([&common, arguments] { common.run = [&common, arguments] { return consume(*arguments, common); }; });
}

}  // namespace hw::app
