// SPDX-License-Identifier: Apache-2.0
// `hw topics alter`, with the preview of the keys that it moves, and `hw topics delete-records`.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "app/hw/output.h"
#include "app/hw/reading.h"
#include "app/hw/session.h"
#include "app/hw/text.h"
#include "app/hw/topics.h"
#include "engine/client/partitioner.h"
#include "engine/wire/msg/create_partitions.h"

namespace hw::app {
namespace {

constexpr std::size_t kMovesShown = 10;
constexpr std::size_t kMostKeys = 1'000'000;

// What growing does to the keys in the log: Java clients put a key at murmur2(key) modulo the number of partitions.
struct KeyMoves {
  std::int64_t records = 0;
  std::int64_t without_key = 0;
  std::int64_t moved_records = 0;
  std::int64_t elsewhere = 0;  // records whose key belongs to another partition than the one they are in
  std::size_t keys = 0;
  std::size_t moved_keys = 0;
  struct Move {
    std::string key;
    std::int32_t from = 0;
    std::int32_t to = 0;
  };
  std::vector<Move> first;  // by key
  bool cut = false;         // not every record or key was looked at
};

Result<KeyMoves> preview(Session& session, const node::TopicDescription& topic, std::int32_t to, std::int64_t most) {
  KeyMoves out;
  const auto from = static_cast<std::int32_t>(topic.partitions.size());
  std::unordered_map<std::string, bool> keys;  // moved?
  std::vector<ReadFrom> starts;
  for (const node::TopicPartitionName& partition : Session::partitions_of(topic)) {
    starts.push_back({partition, -2});
  }
  HW_CHECK(read_to_end(session, starts, [&](node::IncomingRecord& record) {
    if (out.records == most) {
      out.cut = true;
      return false;
    }
    ++out.records;
    if (!record.key) {
      ++out.without_key;
      return true;
    }
    const std::int32_t before = client::partition_for_key(record.key->span(), from);
    const std::int32_t after = client::partition_for_key(record.key->span(), to);
    out.elsewhere += before != record.partition ? 1 : 0;
    out.moved_records += before != after ? 1 : 0;
    if (keys.size() >= kMostKeys) {
      out.cut = true;
      return true;
    }
    if (keys.try_emplace(std::string(record.key->text()), before != after).second && before != after) {
      KeyMoves::Move move{printable(record.key), before, after};
      const auto at = std::lower_bound(out.first.begin(), out.first.end(), move,
                                       [](const KeyMoves::Move& a, const KeyMoves::Move& b) { return a.key < b.key; });
      out.first.insert(at, std::move(move));
      if (out.first.size() > kMovesShown) {
        out.first.pop_back();
      }
    }
    return true;
  }));
  out.keys = keys.size();
  out.moved_keys = static_cast<std::size_t>(std::count_if(keys.begin(), keys.end(), [](const auto& key) { return key.second; }));
  return out;
}

std::string share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "0 %" : fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void print_preview(const KeyMoves& moves, std::int32_t from, std::int32_t to) {
  if (moves.keys == 0) {
    fmt::print("{} from {} to {} partitions: no record has a key, so none changes its partition\n",
               moves.records == 0 ? "An empty topic goes" : counted(moves.records, "record") + " looked at,", from, to);
    return;
  }
  fmt::print("From {} to {} partitions: {} of {} ({}) move to another partition from then on; their older records stay where they are,\n"
             "so the order of a moved key holds only within each partition. They have {} of {} looked at ({}).\n",
             from, to, count_text(static_cast<std::int64_t>(moves.moved_keys)), counted(static_cast<std::int64_t>(moves.keys), "key"),
             share(static_cast<std::int64_t>(moves.moved_keys), static_cast<std::int64_t>(moves.keys)), count_text(moves.moved_records),
             counted(moves.records, "record"), share(moves.moved_records, moves.records));
  for (const KeyMoves::Move& move : moves.first) {
    fmt::print("  {}  {} → {}\n", move.key, move.from, move.to);
  }
  if (moves.moved_keys > moves.first.size()) {
    fmt::print("  … and {} more\n", count_text(static_cast<std::int64_t>(moves.moved_keys - moves.first.size())));
  }
  if (moves.elsewhere > 0) {
    fmt::print("{} in another partition than murmur2 puts the key in: another partitioner wrote there, and its keys move otherwise.\n",
               counted(moves.elsewhere, "record"));
  }
  if (moves.cut) {
    fmt::print("Only a part was looked at; --scan N looks at more.\n");
  }
}

std::string json_preview(const KeyMoves& moves) {
  std::vector<std::string> rows;
  for (const KeyMoves::Move& move : moves.first) {
    JsonObject object;
    object.text("key", move.key).number("from", move.from).number("to", move.to);
    rows.push_back(object.str());
  }
  JsonObject object;
  object.number("records", moves.records).number("keys", static_cast<std::int64_t>(moves.keys));
  object.number("moved_keys", static_cast<std::int64_t>(moves.moved_keys)).number("moved_records", moves.moved_records);
  object.number("records_without_key", moves.without_key).number("records_placed_otherwise", moves.elsewhere);
  object.boolean("complete", !moves.cut).raw("first_moves", json_array(rows));
  return object.str();
}

}  // namespace

int alter_topic(const TopicArguments& arguments, const Common& common) {
  const std::string& name = arguments.names.front();
  Session session(common);
  const auto topic = session.topic(name);
  if (!topic) {
    return report(topic.error(), common);
  }
  const auto from = static_cast<std::int32_t>(topic->partitions.size());
  const std::int32_t to = arguments.partitions;
  if (to <= from) {
    return report(Error{Errc::invalid, fmt::format("topic '{}' has {}{}; partitions can only become more", name, counted(from, "partition"),
                                                   to == from ? " already" : "")},
                  common);
  }
  std::optional<KeyMoves> moves;
  if (!arguments.no_preview) {
    Result<KeyMoves> seen = preview(session, *topic, to, arguments.scan);
    if (!seen) {
      return report(seen.error(), common);
    }
    moves = std::move(*seen);
    if (!common.json) {
      print_preview(*moves, from, to);
      std::fflush(stdout);
    }
  }
  if (!arguments.dry_run && !confirmed(fmt::format("Give '{}' {} partitions? There is no way back.", name, to), arguments.yes)) {
    fmt::print(stderr, "nothing changed\n");
    return static_cast<int>(Exit::refused);
  }
  wire::CreatePartitionsRequest request;
  request.timeout_ms = session.patience_ms();
  request.validate_only = arguments.dry_run;
  auto& asked = request.topics.emplace_back();
  asked.name = name;
  asked.count = to;
  std::optional<std::vector<wire::CreatePartitionsRequest::CreatePartitionsAssignment>> chosen_by_controller;
  asked.assignments.swap(chosen_by_controller);
  const auto response = session.call<wire::CreatePartitionsResponse>(client::Target::controller(), std::move(request));
  if (!response) {
    return report(response.error(), common);
  }
  for (const auto& result : response->results) {
    if (const auto error = refusal(fmt::format("topic '{}'", name), result.error_code, result.error_message)) {
      return report(*error, common);
    }
  }
  if (common.json) {
    JsonObject object;
    object.text("topic", name).number("partitions", to).number("partitions_before", from).boolean("dry_run", arguments.dry_run);
    if (moves) {
      object.raw("preview", json_preview(*moves));
    }
    fmt::print("{}\n", object.str());
  } else if (!arguments.dry_run) {
    fmt::print("{} has {} now\n", name, counted(to, "partition"));
  }
  return 0;
}

int delete_records(const TopicArguments& arguments, const Common& common) {
  const std::string& name = arguments.names.front();
  if (arguments.before_offset < 0 && arguments.before_time.empty() && !arguments.everything) {
    return wrong("delete-records: say which: --before-offset N, --before TIME, or --all");
  }
  Session session(common);
  const auto topic = session.topic(name);
  if (!topic) {
    return report(topic.error(), common);
  }
  std::vector<node::TopicPartitionName> partitions;
  for (const node::TopicPartitionName& partition : Session::partitions_of(*topic)) {
    if (arguments.only.empty() || std::find(arguments.only.begin(), arguments.only.end(), partition.partition) != arguments.only.end()) {
      partitions.push_back(partition);
    }
  }
  for (const std::int32_t wanted : arguments.only) {
    if (static_cast<std::size_t>(wanted) >= topic->partitions.size()) {
      return report(Error{Errc::not_found, fmt::format("topic '{}' has no partition {}; it has {}", name, wanted,
                                                       counted(static_cast<std::int64_t>(topic->partitions.size()), "partition"))},
                    common);
    }
  }
  const auto ranges = session.ranges(partitions);
  if (!ranges) {
    return report(ranges.error(), common);
  }
  std::map<std::int32_t, std::int64_t> targets;
  if (!arguments.before_time.empty()) {
    const Result<std::int64_t> time = parse_time_ms(arguments.before_time, wall_now_ms());
    if (!time) {
      return wrong("--before: " + time.error().detail);
    }
    std::vector<node::OffsetQuery> queries;
    for (const node::TopicPartitionName& partition : partitions) {
      queries.push_back({partition, *time});
    }
    const auto found = session.offsets(std::move(queries));
    if (!found) {
      return report(found.error(), common);
    }
    for (const node::FoundOffset& offset : *found) {
      if (offset.error) {
        return report(*offset.error, common);
      }
      targets[offset.partition.partition] = offset.offset;  // -1: all are older
    }
  }
  std::vector<node::DeleteBefore> rows;
  std::int64_t total = 0;
  std::vector<std::vector<std::string>> table{{"PARTITION", "BEGINS AT", "WILL BEGIN AT", "RECORDS REMOVED"}};
  for (const Session::Range& range : *ranges) {
    std::int64_t target = range.end;
    if (arguments.before_offset >= 0) {
      if (arguments.before_offset > range.end && arguments.only.size() == 1) {
        return report(Error{Errc::invalid, fmt::format("{}-{} ends at {}; nothing to remove below {} is there", name, range.partition.partition,
                                                       range.end, arguments.before_offset)},
                      common);
      }
      target = std::min(arguments.before_offset, range.end);
    } else if (!arguments.before_time.empty() && targets[range.partition.partition] >= 0) {
      target = targets[range.partition.partition];
    }
    target = std::max(target, range.begin);
    total += target - range.begin;
    table.push_back({std::to_string(range.partition.partition), std::to_string(range.begin), std::to_string(target),
                     count_text(target - range.begin)});
    if (target > range.begin) {
      rows.push_back({range.partition, target});
    }
  }
  if (!common.json) {
    print_table(table);
    std::fflush(stdout);
  }
  if (arguments.dry_run) {
    return 0;
  }
  if (!rows.empty() && !confirmed(fmt::format("Remove {} for good?", counted(total, "record")), arguments.yes)) {
    fmt::print(stderr, "nothing removed\n");
    return static_cast<int>(Exit::refused);
  }
  int exit = 0;
  if (!rows.empty()) {
    const auto removed = session.ask<std::vector<node::DeletedRecords>>(
        [&](auto done) { session.questions().delete_records(rows, std::move(done)); });
    if (!removed) {
      return report(removed.error(), common);
    }
    for (const node::DeletedRecords& row : *removed) {
      if (row.error) {
        exit = report(*row.error, common);
      } else if (common.json) {
        JsonObject object;
        object.text("topic", name).number("partition", row.partition.partition).number("begin", row.low_watermark);
        fmt::print("{}\n", object.str());
      }
    }
  }
  if (!common.json && exit == 0) {
    fmt::print("{} removed\n", counted(total, "record"));
  }
  return exit;
}

}  // namespace hw::app
