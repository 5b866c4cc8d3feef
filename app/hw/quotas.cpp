// SPDX-License-Identifier: Apache-2.0
// `hw quotas`.
#include <fmt/core.h>

#include <charconv>

#include "app/hw/output.h"
#include "app/hw/session.h"
#include "app/hw/text.h"

namespace hw::app {
namespace {

struct Arguments {
  std::string user;
  std::string client;
  std::string ip;
  bool any_user = false;
  bool any_client = false;
  bool any_ip = false;
  bool strict = false;
  bool dry_run = false;
  std::vector<std::string> words;
};

constexpr const char* kNames[] = {"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate",
                                  "connection_creation_rate"};

node::QuotaEntity entity_of(const Arguments& arguments) {
  node::QuotaEntity entity;
  const auto add = [&](const char* type, const std::string& name, bool default_name) {
    if (default_name) {
      entity.emplace_back(type, std::nullopt);
    } else if (!name.empty()) {
      entity.emplace_back(type, name);
    }
  };
  add("user", arguments.user, arguments.any_user);
  add("client-id", arguments.client, arguments.any_client);
  add("ip", arguments.ip, arguments.any_ip);
  return entity;
}

std::string text_of(const node::QuotaEntity& entity) {
  std::string text;
  for (const auto& [type, name] : entity) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", type, name ? "'" + *name + "'" : "(default)");
  }
  return text;
}
std::string json_of(const node::QuotaEntity& entity) {
  JsonObject object;
  for (const auto& [type, name] : entity) {
    name ? object.text(type, *name) : object.null(type);
  }
  return object.str();
}
std::string number_text(double value) { return fmt::format("{}", value); }

int describe(const Arguments& arguments, const Common& common) {
  Session session(common);
  node::QuotaFilter filter;
  for (const auto& [type, name] : entity_of(arguments)) {
    filter.parts.push_back({type, name ? node::QuotaFilter::Match::exact : node::QuotaFilter::Match::defaults, name.value_or("")});
  }
  filter.strict = arguments.strict;
  const auto found = session.ask<std::vector<node::QuotaRow>>(
      [&](auto done) { session.questions().describe_quotas(std::move(filter), std::move(done)); });
  if (!found) {
    return report(found.error(), common);
  }
  std::vector<std::vector<std::string>> rows{{"FOR", "QUOTA", "VALUE"}};
  for (const node::QuotaRow& row : *found) {
    JsonObject values;
    for (const auto& [name, value] : row.values) {
      values.raw(name, number_text(value));
      const bool bytes = name.ends_with("_byte_rate");
      rows.push_back({text_of(row.entity), name, bytes ? fmt::format("{} ({}/s)", number_text(value), size_text(static_cast<std::int64_t>(value)))
                                                       : number_text(value)});
    }
    if (common.json) {
      JsonObject object;
      fmt::print("{}\n", object.raw("entity", json_of(row.entity)).raw("quotas", values.str()).str());
    }
  }
  if (!common.json) {
    if (rows.size() == 1) {
      fmt::print("no quota{}\n", filter.parts.empty() && entity_of(arguments).empty() ? "" : " fits");
    } else {
      print_table(rows);
    }
  }
  return 0;
}

int change(const Arguments& arguments, const Common& common, bool set) {
  node::QuotaChange wanted;
  wanted.entity = entity_of(arguments);
  if (wanted.entity.empty()) {
    return wrong("quotas: for whom? --user, --client-id or --ip (or --user-default and so on)");
  }
  std::vector<std::string> names(std::begin(kNames), std::end(kNames));
  for (const std::string& word : arguments.words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string near = nearest(name, names);
      return wrong(fmt::format("quotas: there is no quota '{}'{}", name, near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
    }
    if (!set) {
      wanted.values.emplace_back(name, std::nullopt);
      continue;
    }
    double value = 0;
    const char* const begin = word.data() + (equals == std::string::npos ? word.size() : equals + 1);
    const auto [end, error] = std::from_chars(begin, word.data() + word.size(), value);
    if (equals == std::string::npos || error != std::errc() || end != word.data() + word.size() || value < 0) {
      return wrong(fmt::format("quotas set: '{}': write name=number, for example producer_byte_rate=1048576", word));
    }
    wanted.values.emplace_back(name, value);
  }
  Session session(common);
  const auto done = session.ask<std::vector<node::QuotaResult>>(
      [&](auto told) { session.questions().alter_quotas({wanted}, arguments.dry_run, std::move(told)); });
  if (!done) {
    return report(done.error(), common);
  }
  for (const node::QuotaResult& result : *done) {
    if (result.error) {
      return report(*result.error, common);
    }
  }
  for (const auto& [name, value] : wanted.values) {
    if (common.json) {
      JsonObject object;
      object.raw("entity", json_of(wanted.entity)).text("quota", name);
      value ? object.raw("value", number_text(*value)) : object.null("value");
      fmt::print("{}\n", object.boolean("dry_run", arguments.dry_run).str());
    } else {
      fmt::print("{}{}: {} {}\n", arguments.dry_run ? "would: " : "", text_of(wanted.entity), name, value ? number_text(*value) : "unlimited");
    }
  }
  return 0;
}
int set(const Arguments& arguments, const Common& common) { return change(arguments, common, true); }
int unset(const Arguments& arguments, const Common& common) { return change(arguments, common, false); }

}  // namespace

void add_quotas(CLI::App& cli, Common& common) {
  CLI::App* quotas = add_command(cli, "quotas", "Limits for users, clients and addresses");
  quotas->require_subcommand(1);
  const auto arguments = std::make_shared<Arguments>();
  const auto add = [&](const char* name, const std::string& what, const std::vector<std::string>& examples,
                       int (*run)(const Arguments&, const Common&)) {
    CLI::App* one = add_command(*quotas, name, what, examples);
    auto* user = one->add_option("--user", arguments->user, "of this user");
    one->add_flag("--user-default", arguments->any_user, "of users that have none of their own")->excludes(user);
    auto* client = one->add_option("--client-id", arguments->client, "of this client id");
    one->add_flag("--client-default", arguments->any_client, "of client ids that have none of their own")->excludes(client);
    auto* ip = one->add_option("--ip", arguments->ip, "of this address");
    one->add_flag("--ip-default", arguments->any_ip, "of addresses that have none of their own")->excludes(ip);
    one->callback([&common, arguments, run] { common.run = [&common, arguments, run] { return run(*arguments, common); }; });
    return one;
  };
  CLI::App* one = add("describe", "What is set", {"hw quotas describe", "hw quotas describe --client-id billing"}, describe);
  one->add_flag("--strict", arguments->strict, "only entities that are nothing but this");
  const std::string known = "producer_byte_rate, consumer_byte_rate, request_percentage, controller_mutation_rate, connection_creation_rate";
  one = add("set", "Limit somebody", {"hw quotas set --client-id billing producer_byte_rate=1048576", "hw quotas set --user-default request_percentage=50"}, set);
  one->add_option("quota", arguments->words, "name=number; " + known)->required();
  one->add_flag("--dry-run", arguments->dry_run, "let the cluster check it, and change nothing");
  one = add("unset", "Take a limit away", {"hw quotas unset --client-id billing producer_byte_rate"}, unset);
  one->add_option("quota", arguments->words, known)->required();
  one->add_flag("--dry-run", arguments->dry_run, "let the cluster check it, and change nothing");
}

}  // namespace hw::app
