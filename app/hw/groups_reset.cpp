// SPDX-License-Identifier: Apache-2.0
// `hw groups reset`.
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>

#include "app/hw/groups.h"
#include "app/hw/output.h"
#include "app/hw/session.h"
#include "app/hw/text.h"

namespace hw::app {
namespace {

struct Move {
  node::TopicPartitionName partition;
  std::int64_t from = -1;    // -1: nothing committed
  std::int64_t to = -1;
  std::int64_t begin = -1;
  std::int64_t end = -1;
  std::int64_t wanted = -1;  // before it was brought inside the log
};
using Offsets = std::map<node::TopicPartitionName, std::int64_t>;

// Lines "topic,partition,offset"; '#' begins a comment.
Result<Offsets> read_file(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) {
      return fail(Errc::not_found, fmt::format("{}: cannot be read", path));
    }
  }
  std::istream& in = path == "-" ? std::cin : file;
  Offsets out;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    const std::size_t last = line.rfind(',');
    const std::size_t first = last == std::string::npos || last == 0 ? std::string::npos : line.rfind(',', last - 1);
    const auto partition = first == std::string::npos ? std::nullopt : parse_number(std::string_view(line).substr(first + 1, last - first - 1));
    const auto offset = first == std::string::npos ? std::nullopt : parse_number(std::string_view(line).substr(last + 1));
    if (!partition || !offset || *partition < 0 || *partition > INT32_MAX || *offset < 0 || first == 0) {
      return fail(Errc::invalid, fmt::format("{}, line {}: write topic,partition,offset, for example orders,0,42", path, number));
    }
    out[{line.substr(0, first), static_cast<std::int32_t>(*partition)}] = *offset;
  }
  return out;
}

Result<Offsets> committed_of(Session& session, const std::string& group) {
  HW_TRY(const std::vector<node::GroupOffset> offsets, session.ask<std::vector<node::GroupOffset>>([&](auto done) {
           session.questions().group_offsets(group, std::nullopt, std::move(done));
         }));
  Offsets out;
  for (const node::GroupOffset& offset : offsets) {
    if (offset.error) {
      return Unexpected(Error(*offset.error));
    }
    if (offset.offset >= 0) {
      out[offset.partition] = offset.offset;
    }
  }
  return out;
}

// Timestamps to offsets; where every record is older, the end.
Result<void> by_time(Session& session, std::int64_t time, std::vector<Move>& moves) {
  std::vector<node::OffsetQuery> queries;
  for (const Move& move : moves) {
    queries.push_back({move.partition, time});
  }
  HW_TRY(const std::vector<node::FoundOffset> found, session.offsets(std::move(queries)));
  Offsets at;
  for (const node::FoundOffset& offset : found) {
    if (offset.error) {
      return Unexpected(Error(*offset.error));
    }
    at[offset.partition] = offset.offset;
  }
  for (Move& move : moves) {
    move.wanted = at[move.partition] < 0 ? move.end : at[move.partition];
  }
  return {};
}

Result<std::vector<Move>> plan(Session& session, const GroupArguments& arguments, const std::string& group) {
  HW_TRY(const Offsets committed, committed_of(session, group));
  Offsets from_file;
  std::vector<node::TopicPartitionName> partitions;
  if (!arguments.file.empty()) {
    HW_TRY(from_file, read_file(arguments.file));
    for (const auto& [partition, offset] : from_file) {
      HW_TRY(const std::vector<node::TopicPartitionName> known,
             partitions_named(session, {fmt::format("{}:{}", partition.topic, partition.partition)}));
      partitions.insert(partitions.end(), known.begin(), known.end());
    }
  } else if (arguments.all_topics) {
    for (const auto& [partition, offset] : committed) {
      partitions.push_back(partition);
    }
  } else {
    HW_TRY(partitions, partitions_named(session, arguments.topics));
  }
  HW_TRY(const std::vector<Session::Range> ranges, session.ranges(partitions));
  std::vector<Move> moves;
  for (const Session::Range& range : ranges) {
    const auto at = committed.find(range.partition);
    moves.push_back({range.partition, at == committed.end() ? -1 : at->second, -1, range.begin, range.end, -1});
  }
  if (!arguments.to_time.empty() || !arguments.by_duration.empty()) {
    std::int64_t time = 0;
    if (!arguments.to_time.empty()) {
      HW_TRY(time, parse_time_ms(arguments.to_time, wall_now_ms()));
    } else {
      HW_TRY(const std::int64_t duration, parse_duration_ms(arguments.by_duration));
      time = wall_now_ms() - duration;
    }
    HW_CHECK(by_time(session, time, moves));
  }
  for (Move& move : moves) {
    if (move.end < 0) {
      return fail(Errc::closed, fmt::format("{}-{}: where it begins and ends cannot be found out; has it a leader?", move.partition.topic,
                                            move.partition.partition));
    }
    if (arguments.to_earliest) {
      move.wanted = move.begin;
    } else if (arguments.to_latest) {
      move.wanted = move.end;
    } else if (arguments.to_current) {
      move.wanted = move.from < 0 ? move.end : move.from;  // as Kafka's tool does
    } else if (arguments.to_offset >= 0) {
      move.wanted = arguments.to_offset;
    } else if (!arguments.file.empty()) {
      move.wanted = from_file[move.partition];
    } else if (arguments.to_time.empty() && arguments.by_duration.empty()) {
      if (move.from < 0) {
        return fail(Errc::invalid, fmt::format("{}-{} has no committed offset to shift; choose --to-earliest or another target",
                                               move.partition.topic, move.partition.partition));
      }
      move.wanted = move.from + arguments.shift;
    }
    move.to = std::clamp(move.wanted, move.begin, move.end);
  }
  return moves;
}

void print_moves(const std::vector<Move>& moves, const std::string& group, bool executed, const Common& common) {
  if (common.json) {
    for (const Move& move : moves) {
      JsonObject object;
      object.text("group", group).text("topic", move.partition.topic).number("partition", move.partition.partition);
      move.from < 0 ? object.null("from") : object.number("from", move.from);
      object.number("to", move.to).number("lag", move.end - move.to).boolean("executed", executed);
      fmt::print("{}\n", object.str());
    }
    return;
  }
  std::vector<std::vector<std::string>> table{{"TOPIC", "PARTITION", "FROM", "TO", "CHANGE", "LAG THEN"}};
  for (const Move& move : moves) {
    const std::int64_t change = move.to - move.from;
    std::string text = move.from < 0 ? "new" : change == 0 ? "stays" : change > 0 ? "skips " + count_text(change) : "repeats " + count_text(-change);
    if (move.to != move.wanted) {
      text += fmt::format(" ({} is not in the log)", move.wanted);
    }
    table.push_back({move.partition.topic, std::to_string(move.partition.partition), move.from < 0 ? "-" : std::to_string(move.from),
                     std::to_string(move.to), text, count_text(move.end - move.to)});
  }
  print_table(table);
}

}  // namespace

int reset_group(const GroupArguments& arguments, const Common& common) {
  if (arguments.targets != 1) {
    return wrong("reset: say where to, once: --to-earliest, --to-latest, --to-current, --to-offset, --to-time, --by-duration, --shift-by or "
                 "--from-file");
  }
  if ((arguments.file.empty() ? 0 : 1) + (arguments.all_topics ? 1 : 0) + (arguments.topics.empty() ? 0 : 1) != 1) {
    return wrong("reset: say which offsets: --topic NAME, --all-topics, or --from-file (which names them itself)");
  }
  const std::string& id = arguments.names.front();
  Session session(common);
  const auto group = session.group(id);
  if (!group && group.error().code != Errc::not_found) {
    return report(group.error(), common);
  }
  if (!group && arguments.all_topics) {
    return report(group.error(), common);
  }
  const std::size_t members = group ? group->members.size() : 0;
  if (members > 0) {
    std::string clients;
    for (std::size_t i = 0; i < std::min<std::size_t>(members, 3); ++i) {
      clients += fmt::format("{}{} at {}", i == 0 ? "" : ", ", group->members[i].client_id, group->members[i].host);
    }
    report(Error{Errc::invalid, fmt::format("group '{}' is {} with {} ({}{}); offsets can be reset only while it has none: stop them, then try again",
                                            id, group->state, counted(static_cast<std::int64_t>(members), "member"), clients,
                                            members > 3 ? ", …" : "")},
           common);
    return static_cast<int>(Exit::refused);
  }
  const auto moves = plan(session, arguments, id);
  if (!moves) {
    return moves.error().code == Errc::invalid ? wrong("reset: " + moves.error().detail) : report(moves.error(), common);
  }
  if (moves->empty()) {
    fmt::print(stderr, "hw: group '{}' has no committed offset; name a topic with --topic\n", id);
    return static_cast<int>(Exit::not_found);
  }
  int exit = 0;
  if (arguments.execute) {
    std::vector<node::GroupOffset> offsets;
    for (const Move& move : *moves) {
      node::GroupOffset offset;
      offset.partition = move.partition;
      offset.offset = move.to;
      offsets.push_back(std::move(offset));
    }
    const auto done = session.ask<std::vector<node::PartitionResult>>(
        [&](auto told) { session.questions().commit_group_offsets(id, std::move(offsets), std::move(told)); });
    if (!done) {
      return report(done.error(), common);
    }
    for (const node::PartitionResult& result : *done) {
      if (result.error) {
        exit = report(*result.error, common);
      }
    }
  }
  if (exit == 0) {
    print_moves(*moves, id, arguments.execute, common);
    if (!arguments.execute && !common.json) {
      fmt::print(stderr, "nothing changed yet; --execute does it{}\n", group ? "" : fmt::format(", and makes the group '{}'", id));
    } else if (!common.json) {
      fmt::print(stderr, "done\n");
    }
  }
  return exit;
}

}  // namespace hw::app
