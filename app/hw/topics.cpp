// SPDX-License-Identifier: Apache-2.0
#include "app/hw/topics.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "app/hw/output.h"
#include "app/hw/session.h"
#include "app/hw/text.h"
#include "engine/wire/msg/create_topics.h"

namespace hw::app {
namespace {

std::string joined(const std::vector<std::int32_t>& numbers) {
  std::string text;
  for (const std::int32_t number : numbers) {
    text += (text.empty() ? "" : ",") + std::to_string(number);
  }
  return text;
}
std::string json_numbers(const std::vector<std::int32_t>& numbers) { return "[" + joined(numbers) + "]"; }

int list(const TopicArguments& arguments, const Common& common) {
  Session session(common);
  const auto topics = session.topics();
  if (!topics) {
    return report(topics.error(), common);
  }
  std::vector<std::vector<std::string>> rows{{"TOPIC", "PARTITIONS", "REPLICAS", "ID"}};
  bool hidden = false;
  for (const node::TopicDescription& topic : *topics) {
    const bool fits = arguments.names.empty() || std::any_of(arguments.names.begin(), arguments.names.end(), [&](const std::string& pattern) {
                        return glob_match(pattern, topic.name);
                      });
    if (!fits || (topic.internal && !arguments.internal && arguments.names.empty())) {
      hidden = true;
      continue;
    }
    const std::size_t replicas = topic.partitions.empty() ? 0 : topic.partitions.front().replicas.size();
    if (common.json) {
      JsonObject object;
      object.text("topic", topic.name)
          .text("id", topic.id)
          .number("partitions", static_cast<std::int64_t>(topic.partitions.size()))
          .number("replication_factor", static_cast<std::int64_t>(replicas))
          .boolean("internal", topic.internal);
      fmt::print("{}\n", object.str());
    }
    rows.push_back({topic.name, std::to_string(topic.partitions.size()), std::to_string(replicas), topic.id});
  }
  if (common.json) {
    return 0;
  }
  if (rows.size() > 1) {
    print_table(rows);
  } else if (arguments.names.empty()) {
    fmt::print("no topics yet; `hw topics create NAME` makes one{}\n", hidden ? " (--internal shows Kafka's own)" : "");
  } else {
    fmt::print(stderr, "no topic fits; `hw topics list` shows all\n");
  }
  return 0;
}

const std::map<std::string, std::vector<std::pair<std::string, std::string>>>& presets() {
  static const std::map<std::string, std::vector<std::pair<std::string, std::string>>> all{
      {"events", {{"retention.ms", "604800000"}}},
      {"state", {{"cleanup.policy", "compact"}}},
      {"audit", {{"retention.ms", "-1"}, {"retention.bytes", "-1"}}},
      {"scratch", {{"retention.ms", "3600000"}, {"segment.ms", "600000"}, {"retention.bytes", "104857600"}}},
  };
  return all;
}

int create(const TopicArguments& arguments, const Common& common) {
  const std::string& name = arguments.names.front();
  std::map<std::string, std::string> configs;
  if (!arguments.preset.empty()) {
    for (const auto& [key, value] : presets().at(arguments.preset)) {
      configs[key] = value;
    }
  }
  for (const std::string& config : arguments.configs) {
    const auto pair = split_pair(config);
    if (!pair) {
      return wrong(fmt::format("--config {}: write key=value, for example --config retention.ms=86400000", config));
    }
    const Result<std::string> value = config_value(pair->first, pair->second);
    if (!value) {
      return wrong("--config " + value.error().detail);
    }
    configs[pair->first] = *value;
  }
  Session session(common);
  wire::CreateTopicsRequest request;
  request.timeout_ms = session.patience_ms();
  request.validate_only = arguments.dry_run;
  auto& topic = request.topics.emplace_back();
  topic.name = name;
  topic.num_partitions = arguments.partitions;
  topic.replication_factor = arguments.replication;
  for (const auto& [key, value] : configs) {
    auto& config = topic.configs.emplace_back();
    config.name = key;
    config.value = value;
  }
  const auto response = session.call<wire::CreateTopicsResponse>(client::Target::controller(), std::move(request));
  if (!response) {
    return report(response.error(), common);
  }
  if (response->topics.size() != 1) {
    return report(Error{Errc::corrupt, "the broker's answer is about something else"}, common);
  }
  const auto& result = response->topics.front();
  const std::optional<Error> error = refusal(fmt::format("topic '{}'", name), result.error_code, result.error_message);
  const bool there = error && error->code == Errc::exists;
  if (error && !(there && arguments.if_not_exists)) {
    return report(*error, common);
  }
  if (common.json) {
    JsonObject object;
    object.text("topic", name).boolean("created", !there && !arguments.dry_run).boolean("dry_run", arguments.dry_run);
    if (!there && result.num_partitions > 0) {
      object.text("id", result.topic_id.text()).number("partitions", result.num_partitions);
      object.number("replication_factor", result.replication_factor);
    }
    fmt::print("{}\n", object.str());
  } else if (there) {
    fmt::print("there already: {}\n", name);
  } else {
    fmt::print("{} {}{}\n", arguments.dry_run ? "could be created:" : "created", name,
               result.num_partitions > 0 ? fmt::format(" with {}", counted(result.num_partitions, "partition")) : "");
  }
  return 0;
}

// Bytes of each partition on the broker that leads it; empty where the broker does not tell.
std::map<node::TopicPartitionName, std::int64_t> sizes(Session& session) {
  std::map<node::TopicPartitionName, std::int64_t> out;
  const auto directories =
      session.ask<std::vector<node::LogDirectory>>([&](auto done) { session.questions().describe_log_dirs({}, std::move(done)); });
  if (directories) {
    for (const node::LogDirectory& directory : *directories) {
      for (const auto& replica : directory.replicas) {
        if (!replica.future) {
          out[replica.partition] = std::max(out[replica.partition], replica.size_bytes);
        }
      }
    }
  }
  return out;
}

// Names or patterns to topics; with if_exists, a name that fits nothing is left out.
Result<std::vector<node::TopicDescription>> chosen(Session& session, const TopicArguments& arguments) {
  if (!arguments.if_exists) {
    return session.topics_named(arguments.names);
  }
  std::vector<node::TopicDescription> out;
  for (const std::string& name : arguments.names) {
    Result<std::vector<node::TopicDescription>> found = session.topics_named({name});
    if (found) {
      out.insert(out.end(), found->begin(), found->end());
    } else if (found.error().code != Errc::not_found) {
      return found;
    }
  }
  return out;
}

int remove(const TopicArguments& arguments, const Common& common) {
  Session session(common);
  const auto topics = chosen(session, arguments);
  if (!topics) {
    return report(topics.error(), common);
  }
  const auto bytes = sizes(session);
  std::vector<std::string> what;
  for (const node::TopicDescription& topic : *topics) {
    const auto ranges = session.ranges(Session::partitions_of(topic));
    std::int64_t records = 0;
    std::int64_t size = 0;
    for (const Session::Range& range : ranges ? *ranges : std::vector<Session::Range>{}) {
      records += range.end - range.begin;
      const auto of_partition = bytes.find(range.partition);
      size += of_partition == bytes.end() ? 0 : of_partition->second;
    }
    what.push_back(fmt::format("{}: {}, {}{}", topic.name, counted(static_cast<std::int64_t>(topic.partitions.size()), "partition"),
                               ranges ? counted(records, "record") : "an unknown number of records",
                               bytes.empty() ? "" : ", " + size_text(size)));
  }
  if (!common.json && (arguments.dry_run || !arguments.yes)) {
    for (const std::string& line : what) {
      fmt::print(stderr, "{} {}\n", arguments.dry_run ? "would delete" : "deleting", line);
    }
  }
  if (arguments.dry_run) {
    return 0;
  }
  if (!topics->empty() && !confirmed(fmt::format("Delete {} for good?", counted(static_cast<std::int64_t>(topics->size()), "topic")),
                                     arguments.yes)) {
    fmt::print(stderr, "nothing deleted\n");
    return static_cast<int>(Exit::refused);
  }
  int exit = 0;
  for (const node::TopicDescription& topic : *topics) {
    using Empty = bool;
    const auto done = session.ask<Empty>([&](auto told) {
      session.runner().delete_topic(common.bootstrap, topic.name, [told](Result<void> result) {
        told(result ? Result<Empty>(true) : Result<Empty>(Unexpected(std::move(result.error()))));
      });
    });
    if (!done && !(done.error().code == Errc::not_found && arguments.if_exists)) {
      exit = report(done.error(), common);
    } else if (common.json) {
      JsonObject object;
      object.text("topic", topic.name).boolean("deleted", done.has_value());
      fmt::print("{}\n", object.str());
    } else {
      fmt::print("deleted {}\n", topic.name);
    }
  }
  if (topics->empty() && !common.json) {
    fmt::print("not there: {}\n", arguments.names.front());
  }
  return exit;
}

void print_description(const TopicArguments& arguments, const Common& common, const node::TopicDescription& topic,
                       const Result<std::vector<Session::Range>>& ranges,
                       const std::map<node::TopicPartitionName, std::int64_t>& bytes, const std::vector<node::ConfigValue>& configs) {
  const auto range_of = [&](std::int32_t index) {
    return ranges && static_cast<std::size_t>(index) < ranges->size() ? (*ranges)[static_cast<std::size_t>(index)] : Session::Range{};
  };
  const auto size_of = [&](std::int32_t index) {
    const auto found = bytes.find({topic.name, index});
    return found == bytes.end() ? std::int64_t{-1} : found->second;
  };
  if (common.json) {
    std::vector<std::string> partitions;
    for (const auto& partition : topic.partitions) {
      JsonObject object;
      object.number("partition", partition.index).number("leader", partition.leader);
      object.raw("replicas", json_numbers(partition.replicas)).raw("isr", json_numbers(partition.isr));
      if (const Session::Range range = range_of(partition.index); range.end >= 0) {
        object.number("begin", range.begin).number("end", range.end);
      }
      if (const std::int64_t size = size_of(partition.index); size >= 0) {
        object.number("bytes", size);
      }
      partitions.push_back(object.str());
    }
    JsonObject values;
    for (const node::ConfigValue& config : configs) {
      config.value ? values.text(config.name, *config.value) : values.null(config.name);
    }
    JsonObject object;
    object.text("topic", topic.name).text("id", topic.id).boolean("internal", topic.internal);
    object.raw("partitions", json_array(partitions)).raw("configs", values.str());
    fmt::print("{}\n", object.str());
    return;
  }
  fmt::print("{}  id {}  {}{}\n", topic.name, topic.id, counted(static_cast<std::int64_t>(topic.partitions.size()), "partition"),
             topic.internal ? "  internal" : "");
  for (const node::ConfigValue& config : configs) {
    fmt::print("  {}={}{}\n", config.name, config.sensitive ? "(hidden)" : config.value.value_or("(null)"),
               arguments.all_configs && config.source == node::ConfigValue::Source::topic ? "  (set here)" : "");
  }
  std::vector<std::vector<std::string>> rows{{"PARTITION", "LEADER", "REPLICAS", "ISR", "BEGIN", "END", "RECORDS"}};
  if (!bytes.empty()) {
    rows.front().emplace_back("SIZE");
  }
  for (const auto& partition : topic.partitions) {
    const Session::Range range = range_of(partition.index);
    const bool known = range.end >= 0;
    rows.push_back({std::to_string(partition.index), partition.leader < 0 ? "none" : std::to_string(partition.leader),
                    joined(partition.replicas), joined(partition.isr), known ? std::to_string(range.begin) : "?",
                    known ? std::to_string(range.end) : "?", known ? count_text(range.end - range.begin) : "?"});
    if (!bytes.empty()) {
      const std::int64_t size = size_of(partition.index);
      rows.back().push_back(size < 0 ? "?" : size_text(size));
    }
  }
  print_table(rows);
}

int describe(const TopicArguments& arguments, const Common& common) {
  Session session(common);
  const auto topics = session.topics_named(arguments.names);
  if (!topics) {
    return report(topics.error(), common);
  }
  const auto bytes = sizes(session);
  std::vector<node::ConfigQuery> queries;
  for (const node::TopicDescription& topic : *topics) {
    queries.push_back({{node::ResourceType::topic, topic.name}, std::nullopt});
  }
  const auto configs = session.ask<std::vector<node::ResourceConfigs>>(
      [&](auto done) { session.questions().describe_configs(std::move(queries), false, false, std::move(done)); });
  for (std::size_t i = 0; i < topics->size(); ++i) {
    const node::TopicDescription& topic = (*topics)[i];
    std::vector<node::ConfigValue> differing;
    if (configs && i < configs->size()) {
      for (const node::ConfigValue& config : (*configs)[i].configs) {
        if (arguments.all_configs || config.source == node::ConfigValue::Source::topic) {
          differing.push_back(config);
        }
      }
    }
    if (i > 0 && !common.json) {
      fmt::print("\n");
    }
    print_description(arguments, common, topic, session.ranges(Session::partitions_of(topic)), bytes, differing);
  }
  return 0;
}

}  // namespace

void add_topics(CLI::App& cli, Common& common) {
  CLI::App* topics = add_command(cli, "topics", "List, create, describe, alter and delete topics");
  topics->require_subcommand(1);
  const auto arguments = std::make_shared<TopicArguments>();
  const auto on = [&common, arguments](CLI::App* command, int (*run)(const TopicArguments&, const Common&)) {
    command->callback([&common, arguments, run] { common.run = [&common, arguments, run] { return run(*arguments, common); }; });
  };

  CLI::App* one = add_command(*topics, "list", "Every topic with its partitions", {"hw topics list", "hw topics list 'order*' --json"});
  one->add_option("like", arguments->names, "only names that fit: '*' is any text, '?' one character");
  one->add_flag("--internal", arguments->internal, "also those that Kafka keeps for itself");
  on(one, list);

  one = add_command(*topics, "create", "Make a topic",
                    {"hw topics create orders --partitions 3", "hw topics create audit --preset audit --config max.message.bytes=2097152"});
  one->add_option("topic", arguments->names, "its name")->required()->expected(1);
  one->add_option("--partitions,-p", arguments->partitions, "how many (default: the broker's num.partitions)")->check(CLI::PositiveNumber);
  one->add_option("--replication-factor,-r", arguments->replication, "replicas of each (default: the broker's)")->check(CLI::PositiveNumber);
  one->add_option("--config,-c", arguments->configs, "key=value; may be repeated")->take_all();
  one->add_option("--preset", arguments->preset,
                  "events (kept 7 days), state (compacted: the newest of each key), audit (kept for ever), scratch (1 hour, 100 MiB)")
      ->check(CLI::IsMember({"events", "state", "audit", "scratch"}));
  one->add_flag("--if-not-exists", arguments->if_not_exists, "succeed where it is there already");
  one->add_flag("--dry-run", arguments->dry_run, "let the cluster check it, and create nothing");
  on(one, create);

  one = add_command(*topics, "describe", "Partitions, leaders, offsets, sizes and what is configured",
                    {"hw topics describe orders", "hw topics describe 'order*' --all-configs"});
  one->add_option("topic", arguments->names, "names or patterns")->required();
  one->add_flag("--all-configs,-a", arguments->all_configs, "also configs that have their default");
  on(one, describe);

  one = add_command(*topics, "alter", "Give a topic more partitions, after showing which keys that moves",
                    {"hw topics alter orders --partitions 8 --dry-run", "hw topics alter orders --partitions 8 --yes"});
  one->add_option("topic", arguments->names, "its name")->required()->expected(1);
  one->add_option("--partitions,-p", arguments->partitions, "how many it shall have")->required()->check(CLI::PositiveNumber);
  one->add_flag("--dry-run", arguments->dry_run, "only show what would happen");
  one->add_option("--scan", arguments->scan, "records to look at for the preview, the oldest first (default 1000000)")->check(CLI::PositiveNumber);
  one->add_flag("--no-preview", arguments->no_preview, "do not read the keys");
  one->add_flag("--yes,-y", arguments->yes, "do not ask");
  on(one, alter_topic);

  one = add_command(*topics, "delete", "Remove topics and their records for good", {"hw topics delete orders", "hw topics delete 'test-*' --yes"});
  one->add_option("topic", arguments->names, "names or patterns")->required();
  one->add_flag("--if-exists", arguments->if_exists, "succeed where there is none");
  one->add_flag("--dry-run", arguments->dry_run, "only show what would be deleted");
  one->add_flag("--yes,-y", arguments->yes, "do not ask (without a terminal nobody is asked)");
  on(one, remove);

  one = add_command(*topics, "delete-records", "Remove the oldest records of a topic: its partitions then begin later",
                    {"hw topics delete-records orders --before-offset 1000 --partition 0", "hw topics delete-records orders --before 7d",
                     "hw topics delete-records orders --all --yes"});
  one->add_option("topic", arguments->names, "its name")->required()->expected(1);
  one->add_option("--partition,-p", arguments->only, "only these; may be repeated")->check(CLI::NonNegativeNumber)->take_all();
  auto* offset = one->add_option("--before-offset", arguments->before_offset, "records below this offset")->check(CLI::NonNegativeNumber);
  auto* time = one->add_option("--before", arguments->before_time, "records older than this: 7d, 2026-11-29T10:00:00Z");
  one->add_flag("--all", arguments->everything, "every record there is now")->excludes(offset)->excludes(time);
  offset->excludes(time);
  one->add_flag("--dry-run", arguments->dry_run, "only show what would be removed");
  one->add_flag("--yes,-y", arguments->yes, "do not ask");
  on(one, delete_records);
}

}  // namespace hw::app
