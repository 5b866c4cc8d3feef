// SPDX-License-Identifier: Apache-2.0
#include "app/hw/groups.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/hw/output.h"
#include "app/hw/session.h"
#include "app/hw/text.h"

namespace hw::app {
namespace {

int list(const GroupArguments& arguments, const Common& common) {
  Session session(common);
  const auto groups = session.ask<std::vector<node::GroupRow>>(
      [&](auto done) { session.questions().list_groups(arguments.states, arguments.types, std::move(done)); });
  if (!groups) {
    return report(groups.error(), common);
  }
  std::vector<std::vector<std::string>> rows{{"GROUP", "STATE", "TYPE", "PROTOCOL", "COORDINATOR"}};
  for (const node::GroupRow& group : *groups) {
    if (!arguments.names.empty() && std::none_of(arguments.names.begin(), arguments.names.end(),
                                                 [&](const std::string& pattern) { return glob_match(pattern, group.id); })) {
      continue;
    }
    if (common.json) {
      JsonObject object;
      object.text("group", group.id).text("state", group.state).text("type", group.type).text("protocol_type", group.protocol_type);
      object.number("coordinator", group.coordinator);
      fmt::print("{}\n", object.str());
    }
    rows.push_back({group.id, group.state, group.type, group.protocol_type.empty() ? "-" : group.protocol_type, std::to_string(group.coordinator)});
  }
  if (common.json) {
    return 0;
  }
  if (rows.size() == 1) {
    fmt::print("no group{}\n", arguments.names.empty() && arguments.states.empty() ? "; one appears when a consumer joins or commits" : " fits");
  } else {
    print_table(rows);
  }
  return 0;
}

struct Row {
  node::TopicPartitionName partition;
  std::int64_t committed = -1;
  std::int64_t begin = -1;
  std::int64_t end = -1;
  const node::GroupDetail::Member* member = nullptr;
  [[nodiscard]] std::int64_t lag() const { return committed < 0 || end < 0 ? -1 : std::max<std::int64_t>(0, end - committed); }
};

// Every partition that has an offset or a member.
Result<std::vector<Row>> rows_of(Session& session, const node::GroupDetail& group) {
  HW_TRY(const std::vector<node::GroupOffset> offsets, session.ask<std::vector<node::GroupOffset>>([&](auto done) {
           session.questions().group_offsets(group.id, std::nullopt, std::move(done));
         }));
  std::map<node::TopicPartitionName, Row> rows;
  for (const node::GroupOffset& offset : offsets) {
    if (offset.error) {
      return Unexpected(Error(*offset.error));
    }
    rows[offset.partition].committed = offset.offset;
  }
  for (const node::GroupDetail::Member& member : group.members) {
    for (const node::TopicPartitionName& partition : member.partitions) {
      rows[partition].member = &member;
    }
  }
  std::vector<node::TopicPartitionName> partitions;
  for (auto& [partition, row] : rows) {
    row.partition = partition;
    partitions.push_back(partition);
  }
  const auto ranges = session.ranges(partitions);  // a deleted topic has none, its offsets are shown all the same
  std::vector<Row> out;
  for (auto& [partition, row] : rows) {
    if (ranges) {
      const Session::Range& range = (*ranges)[out.size()];
      row.begin = range.begin;
      row.end = range.end;
    }
    out.push_back(row);
  }
  return out;
}

std::string or_dash(std::int64_t number) { return number < 0 ? "-" : std::to_string(number); }

void print_json(const node::GroupDetail& group, const std::vector<Row>& rows, std::int64_t lag) {
  std::vector<std::string> members;
  for (const node::GroupDetail::Member& member : group.members) {
    JsonObject object;
    object.text("id", member.id).text("client_id", member.client_id).text("host", member.host);
    member.instance_id ? object.text("instance_id", *member.instance_id) : object.null("instance_id");
    object.number("partitions", static_cast<std::int64_t>(member.partitions.size()));
    if (member.epoch >= 0) {
      object.number("epoch", member.epoch).number("target_partitions", static_cast<std::int64_t>(member.target.size()));
    }
    members.push_back(object.str());
  }
  std::vector<std::string> partitions;
  for (const Row& row : rows) {
    JsonObject object;
    object.text("topic", row.partition.topic).number("partition", row.partition.partition);
    row.committed < 0 ? object.null("committed") : object.number("committed", row.committed);
    row.end < 0 ? object.null("end") : object.number("end", row.end);
    row.lag() < 0 ? object.null("lag") : object.number("lag", row.lag());
    row.member == nullptr ? object.null("member") : object.text("member", row.member->id);
    partitions.push_back(object.str());
  }
  JsonObject object;
  object.text("group", group.id)
      .text("state", group.state)
      .text("type", group.type)
      .text("protocol_type", group.protocol_type)
      .text("assignor", group.protocol);
  object.number("coordinator", group.coordinator).number("lag", lag);
  if (group.epoch >= 0) {
    object.number("epoch", group.epoch).number("target_epoch", group.target_epoch);
  }
  object.raw("members", json_array(members)).raw("partitions", json_array(partitions));
  fmt::print("{}\n", object.str());
}

int describe(const GroupArguments& arguments, const Common& common) {
  Session session(common);
  bool first = true;
  for (const std::string& id : arguments.names) {
    const auto group = session.group(id);
    if (!group) {
      return report(group.error(), common);
    }
    const auto rows = rows_of(session, *group);
    if (!rows) {
      return report(rows.error(), common);
    }
    std::int64_t lag = 0;
    for (const Row& row : *rows) {
      lag += std::max<std::int64_t>(0, row.lag());
    }
    if (common.json) {
      print_json(*group, *rows, lag);
      continue;
    }
    const std::string epochs = group->epoch < 0
                                   ? ""
                                   : fmt::format("  consumer  epoch {}{}", group->epoch,
                                                 group->target_epoch == group->epoch ? "" : fmt::format(" (target {})", group->target_epoch));
    fmt::print("{}{}  {}{}{}  {}  coordinator {}  lag {}\n", first ? "" : "\n", group->id, group->state, epochs,
               group->protocol.empty() ? "" : "  assignor " + group->protocol, counted(static_cast<std::int64_t>(group->members.size()), "member"),
               group->coordinator, count_text(lag));
    first = false;
    if (arguments.members) {
      const auto names = [](const std::vector<node::TopicPartitionName>& partitions) {
        std::string text;
        for (const node::TopicPartitionName& partition : partitions) {
          text += fmt::format("{}{}-{}", text.empty() ? "" : " ", partition.topic, partition.partition);
        }
        return text.empty() ? "none" : text;
      };
      std::vector<std::vector<std::string>> table{{"MEMBER", "CLIENT", "HOST", "INSTANCE", "PARTITIONS"}};
      if (group->epoch >= 0) {
        table.front().insert(table.front().end(), {"EPOCH", "TARGET"});
      }
      for (const node::GroupDetail::Member& member : group->members) {
        auto& line = table.emplace_back(
            std::vector<std::string>{member.id, member.client_id, member.host, member.instance_id.value_or("-"), names(member.partitions)});
        if (group->epoch >= 0) {
          line.insert(line.end(), {std::to_string(member.epoch), member.target == member.partitions ? "=" : names(member.target)});
        }
      }
      if (table.size() > 1) {
        print_table(table);
      }
      continue;
    }
    std::vector<std::vector<std::string>> table{{"TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "MEMBER", "HOST"}};
    for (const Row& row : *rows) {
      table.push_back({row.partition.topic, std::to_string(row.partition.partition), or_dash(row.committed), or_dash(row.end), or_dash(row.lag()),
                       row.member == nullptr ? "-" : row.member->id, row.member == nullptr ? "-" : row.member->host});
    }
    if (table.size() > 1) {
      print_table(table);
    } else {
      fmt::print("no committed offset\n");
    }
  }
  return 0;
}

int remove(const GroupArguments& arguments, const Common& common) {
  Session session(common);
  if (!confirmed(fmt::format("Delete {} with their offsets?", counted(static_cast<std::int64_t>(arguments.names.size()), "group")),
                 arguments.yes)) {
    fmt::print(stderr, "nothing deleted\n");
    return static_cast<int>(Exit::refused);
  }
  int exit = 0;
  for (const std::string& id : arguments.names) {
    const auto group = session.group(id);
    if (!group) {
      if (!(arguments.if_exists && group.error().code == Errc::not_found)) {
        exit = report(group.error(), common);
      }
      continue;
    }
    if (!group->members.empty()) {
      report(Error{Errc::invalid, fmt::format("group '{}' has {} (state {}); stop them first", id,
                                              counted(static_cast<std::int64_t>(group->members.size()), "member"), group->state)},
             common);
      exit = static_cast<int>(Exit::refused);
      continue;
    }
    const auto done =
        session.ask<std::vector<node::GroupResult>>([&](auto told) { session.questions().delete_groups({id}, std::move(told)); });
    if (!done) {
      return report(done.error(), common);
    }
    for (const node::GroupResult& result : *done) {
      if (result.error) {
        exit = report(*result.error, common);
      } else if (common.json) {
        JsonObject object;
        fmt::print("{}\n", object.text("group", id).boolean("deleted", true).str());
      } else {
        fmt::print("deleted {}\n", id);
      }
    }
  }
  return exit;
}

int delete_offsets(const GroupArguments& arguments, const Common& common) {
  Session session(common);
  const std::string& id = arguments.names.front();
  const auto group = session.group(id);
  if (!group) {
    return report(group.error(), common);
  }
  const auto partitions = partitions_named(session, arguments.topics);
  if (!partitions) {
    return report(partitions.error(), common);
  }
  if (!confirmed(fmt::format("Forget the offsets of '{}' for {}?", id, counted(static_cast<std::int64_t>(partitions->size()), "partition")),
                 arguments.yes)) {
    fmt::print(stderr, "nothing deleted\n");
    return static_cast<int>(Exit::refused);
  }
  const auto done = session.ask<std::vector<node::PartitionResult>>(
      [&](auto told) { session.questions().delete_group_offsets(id, *partitions, std::move(told)); });
  if (!done) {
    return report(done.error(), common);
  }
  int exit = 0;
  for (const node::PartitionResult& result : *done) {
    if (result.error) {
      exit = report(*result.error, common);
    } else if (common.json) {
      JsonObject object;
      fmt::print("{}\n", object.text("group", id).text("topic", result.partition.topic).number("partition", result.partition.partition)
                             .boolean("deleted", true).str());
    } else {
      fmt::print("forgot {} {}-{}\n", id, result.partition.topic, result.partition.partition);
    }
  }
  return exit;
}

}  // namespace

Result<std::vector<node::TopicPartitionName>> partitions_named(Session& session, const std::vector<std::string>& texts) {
  std::set<node::TopicPartitionName> out;
  for (const std::string& text : texts) {
    const std::size_t colon = text.rfind(':');
    const std::string pattern = text.substr(0, colon);
    HW_TRY(const std::vector<node::TopicDescription> topics, session.topics_named({pattern}));
    for (const node::TopicDescription& topic : topics) {
      if (colon == std::string::npos) {
        for (node::TopicPartitionName& partition : Session::partitions_of(topic)) {
          out.insert(std::move(partition));
        }
        continue;
      }
      std::string_view list = std::string_view(text).substr(colon + 1);
      while (!list.empty()) {
        const std::string_view one = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), one.size() + 1));
        const std::optional<std::int64_t> number = parse_number(one);
        if (!number || *number < 0) {
          return fail(Errc::invalid, fmt::format("'{}': behind the colon stand partitions, for example {}:0,2", text, topic.name));
        }
        if (*number >= static_cast<std::int64_t>(topic.partitions.size())) {
          return fail(Errc::not_found, fmt::format("topic '{}' has no partition {}; it has {}", topic.name, *number,
                                                   counted(static_cast<std::int64_t>(topic.partitions.size()), "partition")));
        }
        out.insert({topic.name, static_cast<std::int32_t>(*number)});
      }
    }
  }
  return std::vector<node::TopicPartitionName>(out.begin(), out.end());
}

void add_groups(CLI::App& cli, Common& common) {
  CLI::App* groups = add_command(cli, "groups", "List, describe, reset and delete consumer groups");
  groups->require_subcommand(1);
  const auto arguments = std::make_shared<GroupArguments>();
  const auto on = [&common, arguments](CLI::App* command, int (*run)(const GroupArguments&, const Common&)) {
    command->callback([&common, arguments, run] { common.run = [&common, arguments, run] { return run(*arguments, common); }; });
  };

  CLI::App* one = add_command(*groups, "list", "Every group with its state", {"hw groups list", "hw groups list --state Empty"});
  one->add_option("like", arguments->names, "only names that fit: '*' is any text, '?' one character");
  one->add_option("--state", arguments->states, "only these: Stable, Empty, Assigning, Reconciling, PreparingRebalance, CompletingRebalance, Dead")
      ->take_all();
  one->add_option("--type", arguments->types, "only these: classic, consumer, share, streams")->take_all();
  on(one, list);

  one = add_command(*groups, "describe", "Members, assignment, committed offsets and lag, in offsets",
                    {"hw groups describe billing", "hw groups describe billing --members", "hw --json groups describe billing | jq .lag"});
  one->add_option("group", arguments->names, "which")->required();
  one->add_flag("--members,-m", arguments->members, "the members instead of the partitions");
  on(one, describe);

  one = add_command(*groups, "reset", "Move the committed offsets of a group that has no members; without --execute only shows what would happen",
                    {"hw groups reset billing --topic orders --to-earliest", "hw groups reset billing --topic orders:0,2 --shift-by -10 --execute",
                     "hw groups reset billing --all-topics --to-time 2026-11-29T10:00:00Z --execute",
                     "hw groups reset billing --from-file offsets.csv --execute"});
  one->add_option("group", arguments->names, "which; one that does not exist is made")->required()->expected(1);
  one->add_option("--topic,-t", arguments->topics, "a topic, a pattern, or topic:partition,partition; may be repeated")->take_all();
  one->add_flag("--all-topics", arguments->all_topics, "everything the group has committed");
  one->add_flag("--to-earliest", arguments->to_earliest, "the first record there is");
  one->add_flag("--to-latest", arguments->to_latest, "behind the last record");
  one->add_flag("--to-current", arguments->to_current, "where it is, brought inside the log");
  one->add_option("--to-offset", arguments->to_offset, "this offset, brought inside the log")->check(CLI::NonNegativeNumber);
  one->add_option("--to-time", arguments->to_time, "the first record at or after: 2026-11-29T10:00:00Z, @1764410400000");
  one->add_option("--by-duration", arguments->by_duration, "the first record younger than this: 2h, 7d");
  one->add_option("--shift-by", arguments->shift, "so many records on, or back where negative");
  one->add_option("--from-file", arguments->file, "lines topic,partition,offset; '-' is stdin");
  one->add_flag("--execute", arguments->execute, "do it");
  one->callback([&common, arguments, one] {
    arguments->targets = 0;
    for (const char* name :
         {"--to-earliest", "--to-latest", "--to-current", "--to-offset", "--to-time", "--by-duration", "--shift-by", "--from-file"}) {
      arguments->targets += one->get_option(name)->count() > 0 ? 1 : 0;
    }
    common.run = [&common, arguments] { return reset_group(*arguments, common); };
  });

  one = add_command(*groups, "delete", "Remove groups that have no members, with their offsets", {"hw groups delete billing --yes"});
  one->add_option("group", arguments->names, "which")->required();
  one->add_flag("--if-exists", arguments->if_exists, "succeed where there is none");
  one->add_flag("--yes,-y", arguments->yes, "do not ask (without a terminal nobody is asked)");
  on(one, remove);

  one = add_command(*groups, "delete-offsets", "Forget committed offsets of topics that no member reads",
                    {"hw groups delete-offsets billing --topic orders --yes"});
  one->add_option("group", arguments->names, "which")->required()->expected(1);
  one->add_option("--topic,-t", arguments->topics, "a topic, a pattern, or topic:partition,partition; may be repeated")->required()->take_all();
  one->add_flag("--yes,-y", arguments->yes, "do not ask");
  on(one, delete_offsets);
}

}  // namespace hw::app
