// SPDX-License-Identifier: Apache-2.0
// `hw configs`.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "app/hw/output.h"
#include "app/hw/session.h"
#include "app/hw/text.h"

namespace hw::app {
namespace {

struct Arguments {
  std::string kind;
  std::vector<std::string> words;  // the name where the kind has one, then the command's own
  bool all = false;
  bool documentation = false;
  bool synonyms = false;
  bool dry_run = false;
};

using Source = node::ConfigValue::Source;

const char* source_name(Source source) {
  switch (source) {
    case Source::topic:
      return "topic";
    case Source::dynamic_broker:
      return "broker, dynamic";
    case Source::dynamic_default_broker:
      return "all brokers, dynamic";
    case Source::static_broker:
      return "broker's file";
    case Source::defaults:
      return "default";
    case Source::dynamic_broker_logger:
      return "logger";
    case Source::client_metrics:
      return "client metrics";
    case Source::group:
      return "group";
    case Source::unknown:
      break;
  }
  return "unknown";
}

// What the resource of this kind was given itself, and not inherited.
bool set_here(const node::Resource& resource, Source source) {
  switch (resource.type) {
    case node::ResourceType::topic:
      return source == Source::topic;
    case node::ResourceType::broker:
      return resource.name.empty() ? source == Source::dynamic_default_broker : source != Source::defaults;
    case node::ResourceType::broker_logger:
      return true;
    case node::ResourceType::client_metrics:
      return source == Source::client_metrics;
    case node::ResourceType::group:
      return source == Source::group;
  }
  return false;
}

std::optional<node::ResourceType> type_of(const std::string& kind) {
  static const std::map<std::string, node::ResourceType> kTypes{{"topic", node::ResourceType::topic},
                                                                {"broker", node::ResourceType::broker},
                                                                {"default", node::ResourceType::broker},
                                                                {"group", node::ResourceType::group},
                                                                {"client-metrics", node::ResourceType::client_metrics},
                                                                {"broker-logger", node::ResourceType::broker_logger}};
  const auto found = kTypes.find(kind);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}
const char* kind_name(const node::Resource& resource) {
  switch (resource.type) {
    case node::ResourceType::topic:
      return "topic";
    case node::ResourceType::broker:
      return resource.name.empty() ? "default" : "broker";
    case node::ResourceType::broker_logger:
      return "broker-logger";
    case node::ResourceType::client_metrics:
      return "client-metrics";
    case node::ResourceType::group:
      return "group";
  }
  return "?";
}
std::string text_of(const node::Resource& resource) {
  return resource.name.empty() ? std::string("all brokers") : fmt::format("{} '{}'", kind_name(resource), resource.name);
}

// Takes the name off the words, where the kind has one.
Result<node::Resource> resource_of(const Arguments& arguments, std::vector<std::string>& rest) {
  rest = arguments.words;
  node::Resource resource{*type_of(arguments.kind), ""};
  if (arguments.kind == "default") {
    return resource;
  }
  if (rest.empty()) {
    return fail(Errc::invalid, fmt::format("configs: which {}? Write its name{}", arguments.kind,
                                           arguments.kind == "broker" ? ", a broker's id (or `default` for all brokers)" : ""));
  }
  resource.name = rest.front();
  rest.erase(rest.begin());
  return resource;
}

std::string value_text(const node::ConfigValue& config) {
  return config.sensitive ? "(hidden)" : config.value ? (config.value->empty() ? "\"\"" : *config.value) : "(null)";
}

Result<node::ResourceConfigs> configs_of(Session& session, const node::Resource& resource, bool synonyms, bool documentation) {
  if (resource.type == node::ResourceType::topic) {
    HW_TRY(const node::TopicDescription topic, session.topic(resource.name));  // says which one was meant
  }
  HW_TRY(std::vector<node::ResourceConfigs> found, session.ask<std::vector<node::ResourceConfigs>>([&](auto done) {
           session.questions().describe_configs({{resource, std::nullopt}}, synonyms, documentation, std::move(done));
         }));
  if (found.size() != 1) {
    return fail(Errc::corrupt, "the broker's answer is about something else");
  }
  if (found.front().error) {
    return Unexpected(std::move(*found.front().error));
  }
  return std::move(found.front());
}

int describe(const Arguments& arguments, const Common& common) {
  std::vector<std::string> keys;
  const auto resource = resource_of(arguments, keys);
  if (!resource) {
    return wrong(resource.error().detail);
  }
  Session session(common);
  const auto found = configs_of(session, *resource, arguments.synonyms, arguments.documentation);
  if (!found) {
    return report(found.error(), common);
  }
  std::vector<std::vector<std::string>> rows{{"CONFIG", "VALUE", "", "FROM"}};
  std::size_t hidden = 0;
  for (const node::ConfigValue& config : found->configs) {
    const bool wanted = keys.empty() ? arguments.all || set_here(*resource, config.source)
                                     : std::any_of(keys.begin(), keys.end(), [&](const std::string& key) { return glob_match(key, config.name); });
    if (!wanted) {
      ++hidden;
      continue;
    }
    if (common.json) {
      JsonObject object;
      object.text("resource", kind_name(*resource)).text("name", resource->name).text("config", config.name);
      config.value && !config.sensitive ? object.text("value", *config.value) : object.null("value");
      object.text("source", source_name(config.source)).boolean("read_only", config.read_only).boolean("sensitive", config.sensitive);
      if (arguments.synonyms) {
        std::vector<std::string> synonyms;
        for (const auto& synonym : config.synonyms) {
          JsonObject one;
          one.text("config", synonym.name);
          synonym.value ? one.text("value", *synonym.value) : one.null("value");
          synonyms.push_back(one.text("source", source_name(synonym.source)).str());
        }
        object.raw("synonyms", json_array(synonyms));
      }
      if (arguments.documentation) {
        object.text("documentation", config.documentation);
      }
      fmt::print("{}\n", object.str());
      continue;
    }
    rows.push_back({config.name, value_text(config), config.value ? human_config(config.name, *config.value) : "",
                    fmt::format("{}{}", source_name(config.source), config.read_only ? ", read only" : "")});
    if (arguments.synonyms) {
      for (const auto& synonym : config.synonyms) {
        rows.push_back({"  " + synonym.name, synonym.value.value_or("(null)"), "", source_name(synonym.source)});
      }
    }
    if (arguments.documentation && !config.documentation.empty()) {
      rows.push_back({"  " + config.documentation});
    }
  }
  if (common.json) {
    return 0;
  }
  if (rows.size() > 1) {
    if (arguments.documentation) {
      for (std::size_t i = 1; i < rows.size(); ++i) {
        fmt::print("{}\n", rows[i].size() == 1 ? rows[i].front() : fmt::format("{} = {}  ({})", rows[i][0], rows[i][1], rows[i][3]));
      }
    } else {
      print_table(rows);
    }
  } else if (!keys.empty()) {
    std::vector<std::string> names;
    for (const node::ConfigValue& config : found->configs) {
      names.push_back(config.name);
    }
    const std::string near = nearest(keys.front(), names);
    return report(Error{Errc::not_found, fmt::format("{} has no config '{}'{}", text_of(*resource), keys.front(),
                                                     near.empty() ? "" : fmt::format("; did you mean '{}'?", near))},
                  common);
  } else {
    fmt::print("{}: nothing is set; {} have their default (--all shows them)\n", text_of(*resource), counted(static_cast<std::int64_t>(hidden), "config"));
  }
  return 0;
}

int change(const Arguments& arguments, const Common& common, bool set) {
  std::vector<std::string> words;
  const auto resource = resource_of(arguments, words);
  if (!resource) {
    return wrong(resource.error().detail);
  }
  if (words.empty()) {
    return wrong(set ? "configs set: write key=value, for example retention.ms=7d" : "configs unset: which configs?");
  }
  Session session(common);
  const auto found = configs_of(session, *resource, false, false);
  if (!found) {
    return report(found.error(), common);
  }
  std::map<std::string, const node::ConfigValue*> known;
  std::vector<std::string> names;
  for (const node::ConfigValue& config : found->configs) {
    known[config.name] = &config;
    names.push_back(config.name);
  }
  node::ResourceChange wanted{*resource, {}};
  std::vector<std::vector<std::string>> preview{{"CONFIG", "NOW", "", "THEN"}};
  std::vector<std::string> objects;
  for (const std::string& word : words) {
    node::ConfigChange one;
    if (set) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos || equals == 0) {
        return wrong(fmt::format("configs set: '{}': write key=value, key+=value to append to a list, key-=value to take off it", word));
      }
      const char before = word[equals - 1];
      one.operation = before == '+'   ? node::ConfigChange::Operation::append
                      : before == '-' ? node::ConfigChange::Operation::subtract
                                      : node::ConfigChange::Operation::set;
      one.name = word.substr(0, equals - (before == '+' || before == '-' ? 1 : 0));
      const Result<std::string> value = config_value(one.name, word.substr(equals + 1));
      if (!value) {
        return wrong("configs set: " + value.error().detail);
      }
      one.value = *value;
    } else {
      one.operation = node::ConfigChange::Operation::remove;
      one.name = word;
    }
    const auto at = known.find(one.name);
    if (at == known.end() && resource->type != node::ResourceType::broker) {
      const std::string near = nearest(one.name, names);
      return report(Error{Errc::not_found, fmt::format("{} has no config '{}'{}", text_of(*resource), one.name,
                                                       near.empty() ? "; `hw configs describe … --all` lists them"
                                                                    : fmt::format("; did you mean '{}'?", near))},
                    common);
    }
    const std::string now = at == known.end() ? "(not set)" : value_text(*at->second);
    const bool inherited = at != known.end() && !set_here(*resource, at->second->source);
    const std::string then = set ? (one.operation == node::ConfigChange::Operation::append     ? "+ "
                                    : one.operation == node::ConfigChange::Operation::subtract ? "- "
                                                                                               : "") +
                                       one.value
                                 : "(inherited)";
    preview.push_back({one.name, now + (inherited ? fmt::format(" ({})", source_name(at->second->source)) : ""), "→",
                       then + (set && !human_config(one.name, one.value).empty() ? "  " + human_config(one.name, one.value) : "")});
    JsonObject object;
    object.text("resource", kind_name(*resource)).text("name", resource->name).text("config", one.name);
    at == known.end() || !at->second->value ? object.null("before") : object.text("before", *at->second->value);
    set ? object.text("after", one.value) : object.null("after");
    objects.push_back(object.boolean("dry_run", arguments.dry_run).str());
    wanted.changes.push_back(std::move(one));
  }
  const auto done = session.ask<std::vector<node::ResourceResult>>(
      [&](auto told) { session.questions().alter_configs({wanted}, arguments.dry_run, std::move(told)); });
  if (!done) {
    return report(done.error(), common);
  }
  for (const node::ResourceResult& result : *done) {
    if (result.error) {
      return report(*result.error, common);
    }
  }
  if (common.json) {
    for (const std::string& object : objects) {
      fmt::print("{}\n", object);
    }
    return 0;
  }
  print_table(preview);
  fmt::print(stderr, "{}\n", arguments.dry_run ? "the cluster would take it; nothing changed" : "done");
  return 0;
}
int set(const Arguments& arguments, const Common& common) { return change(arguments, common, true); }
int unset(const Arguments& arguments, const Common& common) { return change(arguments, common, false); }

int list(const Arguments& arguments, const Common& common) {
  Session session(common);
  std::vector<node::ResourceType> types;
  if (!arguments.kind.empty()) {
    types.push_back(*type_of(arguments.kind));
  }
  const auto found = session.ask<std::vector<node::Resource>>(
      [&](auto done) { session.questions().list_config_resources(types, std::move(done)); });
  if (!found) {
    return report(found.error(), common);
  }
  std::vector<std::vector<std::string>> rows{{"KIND", "NAME"}};
  for (const node::Resource& resource : *found) {
    if (common.json) {
      JsonObject object;
      fmt::print("{}\n", object.text("resource", kind_name(resource)).text("name", resource.name).str());
    }
    rows.push_back({kind_name(resource), resource.name});
  }
  if (!common.json) {
    print_table(rows);
  }
  return 0;
}

}  // namespace

void add_configs(CLI::App& cli, Common& common) {
  CLI::App* configs = add_command(cli, "configs", "Show and change what topics, brokers and groups are configured with");
  configs->require_subcommand(1);
  const auto arguments = std::make_shared<Arguments>();
  const auto on = [&common, arguments](CLI::App* command, int (*run)(const Arguments&, const Common&)) {
    command->callback([&common, arguments, run] { common.run = [&common, arguments, run] { return run(*arguments, common); }; });
  };
  const std::string kinds = "topic, broker, default (all brokers), group, client-metrics or broker-logger";
  const CLI::IsMember kind({"topic", "broker", "default", "group", "client-metrics", "broker-logger"});

  CLI::App* one = add_command(*configs, "describe", "What is set; with names or patterns of configs, those",
                              {"hw configs describe topic orders", "hw configs describe topic orders --all", "hw configs describe broker 0 'log.*'",
                               "hw configs describe default"});
  one->add_option("kind", arguments->kind, kinds)->required()->check(kind);
  one->add_option("name", arguments->words, "the topic, broker id, group …, then configs");
  one->add_flag("--all,-a", arguments->all, "also what has its default");
  one->add_flag("--synonyms", arguments->synonyms, "also where else a value would come from");
  one->add_flag("--documentation", arguments->documentation, "also what each config does");
  on(one, describe);

  one = add_command(*configs, "set", "Set configs; shows the values before. Durations (7d) and sizes (1GiB) may be written so",
                    {"hw configs set topic orders retention.ms=7d", "hw configs set topic orders cleanup.policy+=compact --dry-run",
                     "hw configs set default log.retention.ms=1d"});
  one->add_option("kind", arguments->kind, kinds)->required()->check(kind);
  one->add_option("name", arguments->words, "the topic, broker id, group …, then key=value")->required();
  one->add_flag("--dry-run", arguments->dry_run, "let the cluster check it, and change nothing");
  on(one, set);

  one = add_command(*configs, "unset", "Take configs back to what they inherit", {"hw configs unset topic orders retention.ms"});
  one->add_option("kind", arguments->kind, kinds)->required()->check(kind);
  one->add_option("name", arguments->words, "the topic, broker id, group …, then configs")->required();
  one->add_flag("--dry-run", arguments->dry_run, "let the cluster check it, and change nothing");
  on(one, unset);

  one = add_command(*configs, "list", "What has configs", {"hw configs list", "hw configs list client-metrics"});
  one->add_option("kind", arguments->kind, kinds)->check(kind);
  on(one, list);
}

}  // namespace hw::app
