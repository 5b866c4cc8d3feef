// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "app/hw/output.h"
#include "app/hw/wait.h"
#include "engine/node/client_runner.h"

namespace hw::app {
namespace {

using node::ClientRunner;

struct Arguments {
  std::string name;
  std::int32_t partitions = -1;
  std::int16_t replication = -1;
  std::vector<std::string> configs;
  bool if_not_exists = false;
  bool if_exists = false;
  bool internal = false;
};

std::string joined(const std::vector<std::int32_t>& numbers) {
  std::string text;
  for (const std::int32_t number : numbers) {
    text += (text.empty() ? "" : ",") + std::to_string(number);
  }
  return text;
}
std::string json_numbers(const std::vector<std::int32_t>& numbers) { return "[" + joined(numbers) + "]"; }

int interrupted() { return static_cast<int>(Exit::interrupted); }

int list(const Arguments& arguments, const Common& common) {
  Waiter waiter;
  ClientRunner runner;
  using Answer = Result<std::vector<node::TopicDescription>>;
  const auto answer = await<Answer>(waiter, [&](auto done) { runner.list_topics(common.bootstrap, std::move(done)); });
  if (!answer) {
    return interrupted();
  }
  if (!*answer) {
    return report(answer->error(), common);
  }
  std::vector<std::vector<std::string>> rows{{"TOPIC", "PARTITIONS", "REPLICAS", "ID"}};
  std::vector<std::string> objects;
  for (const node::TopicDescription& topic : **answer) {
    if (topic.internal && !arguments.internal) {
      continue;
    }
    const std::size_t replicas = topic.partitions.empty() ? 0 : topic.partitions.front().replicas.size();
    rows.push_back({topic.name, std::to_string(topic.partitions.size()), std::to_string(replicas), topic.id});
    JsonObject object;
    object.text("topic", topic.name)
        .text("id", topic.id)
        .number("partitions", static_cast<std::int64_t>(topic.partitions.size()))
        .number("replication_factor", static_cast<std::int64_t>(replicas))
        .boolean("internal", topic.internal);
    objects.push_back(object.str());
  }
  if (common.json) {
    fmt::print("{}\n", json_array(objects));
  } else if (rows.size() == 1) {
    fmt::print("no topics yet; `hw topics create NAME` makes one\n");
  } else {
    print_table(rows);
  }
  return 0;
}

int create(const Arguments& arguments, const Common& common) {
  node::NewTopic topic;
  topic.name = arguments.name;
  topic.partitions = arguments.partitions;
  topic.replication_factor = arguments.replication;
  for (const std::string& config : arguments.configs) {
    auto pair = split_pair(config);
    if (!pair) {
      fmt::print(stderr, "hw: --config {}: write key=value, for example --config cleanup.policy=compact\n", config);
      return static_cast<int>(Exit::usage);
    }
    topic.configs.push_back(std::move(*pair));
  }
  Waiter waiter;
  ClientRunner runner;
  const auto answer = await<Result<void>>(
      waiter, [&](auto done) { runner.create_topic(common.bootstrap, topic, std::move(done)); });
  if (!answer) {
    return interrupted();
  }
  const bool there = !*answer && answer->error().code == Errc::exists;
  if (!*answer && !(there && arguments.if_not_exists)) {
    return report(answer->error(), common);
  }
  if (common.json) {
    JsonObject object;
    object.text("topic", arguments.name).boolean("created", !there);
    fmt::print("{}\n", object.str());
  } else {
    fmt::print("{} {}\n", there ? "there already:" : "created", arguments.name);
  }
  return 0;
}

int remove(const Arguments& arguments, const Common& common) {
  Waiter waiter;
  ClientRunner runner;
  const auto answer = await<Result<void>>(
      waiter, [&](auto done) { runner.delete_topic(common.bootstrap, arguments.name, std::move(done)); });
  if (!answer) {
    return interrupted();
  }
  const bool absent = !*answer && answer->error().code == Errc::not_found;
  if (!*answer && !(absent && arguments.if_exists)) {
    return report(answer->error(), common);
  }
  if (common.json) {
    JsonObject object;
    object.text("topic", arguments.name).boolean("deleted", !absent);
    fmt::print("{}\n", object.str());
  } else {
    fmt::print("{} {}\n", absent ? "not there:" : "deleted", arguments.name);
  }
  return 0;
}

int grow(const Arguments& arguments, const Common& common) {
  Waiter waiter;
  ClientRunner runner;
  const auto answer = await<Result<void>>(waiter, [&](auto done) {
    runner.create_partitions(common.bootstrap, arguments.name, arguments.partitions, std::move(done));
  });
  if (!answer) {
    return interrupted();
  }
  if (!*answer) {
    return report(answer->error(), common);
  }
  if (common.json) {
    JsonObject object;
    object.text("topic", arguments.name).number("partitions", arguments.partitions);
    fmt::print("{}\n", object.str());
  } else {
    fmt::print("{} has {} partitions now; keys of older records may belong to another one from here on\n",
               arguments.name, arguments.partitions);
  }
  return 0;
}

int describe(const Arguments& arguments, const Common& common) {
  Waiter waiter;
  ClientRunner runner;
  using Offsets = std::vector<std::pair<std::int32_t, std::int64_t>>;
  const auto topic = await<Result<node::TopicDescription>>(
      waiter, [&](auto done) { runner.describe_topic(common.bootstrap, arguments.name, std::move(done)); });
  if (!topic) {
    return interrupted();
  }
  if (!*topic) {
    return report(topic->error(), common);
  }
  const auto configs = await<Result<std::vector<node::TopicConfig>>>(
      waiter, [&](auto done) { runner.topic_configs(common.bootstrap, arguments.name, std::move(done)); });
  std::map<std::int32_t, std::int64_t> begin;
  std::map<std::int32_t, std::int64_t> end;
  for (const std::int64_t which : {-2, -1}) {
    const auto offsets = await<Result<Offsets>>(waiter, [&](auto done) {
      runner.topic_offsets(common.bootstrap, arguments.name, which, std::move(done));
    });
    if (offsets && *offsets) {
      for (const auto& [partition, offset] : **offsets) {
        (which == -2 ? begin : end)[partition] = offset;
      }
    }
  }
  if (!configs) {
    return interrupted();
  }
  const auto offset_of = [](const std::map<std::int32_t, std::int64_t>& offsets, std::int32_t partition) {
    const auto found = offsets.find(partition);
    return found == offsets.end() ? std::string("?") : std::to_string(found->second);
  };
  const node::TopicDescription& described = **topic;
  if (common.json) {
    std::vector<std::string> partitions;
    for (const auto& partition : described.partitions) {
      JsonObject object;
      object.number("partition", partition.index).number("leader", partition.leader);
      object.raw("replicas", json_numbers(partition.replicas)).raw("isr", json_numbers(partition.isr));
      if (begin.count(partition.index) != 0 && end.count(partition.index) != 0) {
        object.number("begin", begin[partition.index]).number("end", end[partition.index]);
      }
      partitions.push_back(object.str());
    }
    JsonObject object;
    object.text("topic", described.name).text("id", described.id).boolean("internal", described.internal);
    object.raw("partitions", json_array(partitions));
    if (*configs) {
      JsonObject values;
      for (const node::TopicConfig& config : **configs) {
        if (config.set_on_topic) {
          config.value ? values.text(config.name, *config.value) : values.null(config.name);
        }
      }
      object.raw("configs", values.str());
    }
    fmt::print("{}\n", object.str());
    return 0;
  }
  fmt::print("{}  id {}  {} partition{}\n", described.name, described.id, described.partitions.size(),
             described.partitions.size() == 1 ? "" : "s");
  if (*configs) {
    for (const node::TopicConfig& config : **configs) {
      if (config.set_on_topic) {
        fmt::print("  {}={}\n", config.name, config.value.value_or("(null)"));
      }
    }
  }
  std::vector<std::vector<std::string>> rows{{"PARTITION", "LEADER", "REPLICAS", "ISR", "BEGIN", "END"}};
  for (const auto& partition : described.partitions) {
    rows.push_back({std::to_string(partition.index), partition.leader < 0 ? "none" : std::to_string(partition.leader),
                    joined(partition.replicas), joined(partition.isr), offset_of(begin, partition.index),
                    offset_of(end, partition.index)});
  }
  print_table(rows);
  return 0;
}

}  // namespace

void add_topics(CLI::App& cli, Common& common) {
  CLI::App* topics = cli.add_subcommand("topics", "List, create, describe, delete and grow topics");
  topics->require_subcommand(1);
  const auto arguments = std::make_shared<Arguments>();
  const auto on = [&common, arguments](CLI::App* command, int (*run)(const Arguments&, const Common&)) {
    command->callback([&common, arguments, run] { common.run = [&common, arguments, run] { return run(*arguments, common); }; });
  };

  CLI::App* one = topics->add_subcommand("list", "Every topic with its partitions");
  one->add_flag("--internal", arguments->internal, "also those that Kafka keeps for itself");
  on(one, list);

  one = topics->add_subcommand("create", "Make a topic");
  one->add_option("topic", arguments->name, "its name")->required();
  one->add_option("--partitions,-p", arguments->partitions, "how many (default: the broker's num.partitions)")
      ->check(CLI::PositiveNumber);
  one->add_option("--replication-factor,-r", arguments->replication, "replicas of each (default: the broker's)")
      ->check(CLI::PositiveNumber);
  one->add_option("--config,-c", arguments->configs, "key=value; may be repeated")->take_all();
  one->add_flag("--if-not-exists", arguments->if_not_exists, "succeed where it is there already");
  on(one, create);

  one = topics->add_subcommand("describe", "Partitions, leaders, offsets and what is configured");
  one->add_option("topic", arguments->name, "its name")->required();
  on(one, describe);

  one = topics->add_subcommand("delete", "Remove a topic and its records");
  one->add_option("topic", arguments->name, "its name")->required();
  one->add_flag("--if-exists", arguments->if_exists, "succeed where it is not there");
  on(one, remove);

  one = topics->add_subcommand("grow", "Give a topic more partitions");
  one->add_option("topic", arguments->name, "its name")->required();
  one->add_option("--partitions,-p", arguments->partitions, "how many it shall have")->required()->check(CLI::PositiveNumber);
  on(one, grow);
}

}  // namespace hw::app
