// SPDX-License-Identifier: Apache-2.0
// `hw cluster`.
#include <fmt/core.h>

#include <algorithm>

#include "app/hw/output.h"
#include "app/hw/session.h"
#include "app/hw/text.h"
#include "engine/client/io.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/metadata.h"

namespace hw::app {
namespace {

struct Arguments {
  std::vector<std::int32_t> brokers;
  bool partitions = false;
};

int describe(const Arguments&, const Common& common) {
  Session session(common);
  const auto found = session.ask<node::ClusterDescription>([&](auto done) { session.questions().describe_cluster(std::move(done)); });
  if (!found) {
    return report(found.error(), common);
  }
  if (common.json) {
    std::vector<std::string> brokers;
    for (const auto& broker : found->brokers) {
      JsonObject object;
      object.number("broker", broker.id).text("host", broker.host).number("port", broker.port);
      broker.rack.empty() ? object.null("rack") : object.text("rack", broker.rack);
      brokers.push_back(object.boolean("fenced", broker.fenced).str());
    }
    JsonObject object;
    fmt::print("{}\n", object.text("cluster", found->cluster_id).number("controller", found->controller).raw("brokers", json_array(brokers)).str());
    return 0;
  }
  fmt::print("cluster {}  controller {}\n", found->cluster_id, found->controller);
  std::vector<std::vector<std::string>> rows{{"BROKER", "ADDRESS", "RACK", "STATE"}};
  for (const auto& broker : found->brokers) {
    rows.push_back({std::to_string(broker.id), fmt::format("{}:{}", broker.host, broker.port), broker.rack.empty() ? "-" : broker.rack,
                    broker.fenced ? "fenced" : "serving"});
  }
  print_table(rows);
  return 0;
}

Result<std::vector<node::BrokerVersions>> versions(Session& session) {
  return session.ask<std::vector<node::BrokerVersions>>([&](auto done) { session.questions().api_versions(std::move(done)); });
}

int api_versions(const Arguments&, const Common& common) {
  Session session(common);
  const auto found = versions(session);
  if (!found) {
    return report(found.error(), common);
  }
  int exit = 0;
  for (const node::BrokerVersions& broker : *found) {
    if (broker.error) {
      exit = report(*broker.error, common);
      continue;
    }
    std::vector<std::vector<std::string>> rows{{"KEY", "API", "FROM", "TO"}};
    for (const auto& api : broker.apis) {
      if (common.json) {
        JsonObject object;
        object.number("broker", broker.broker).number("key", api.key).text("api", api.name).number("lowest", api.lowest).number("highest", api.highest);
        fmt::print("{}\n", object.str());
      }
      rows.push_back({std::to_string(api.key), api.name.empty() ? "?" : api.name, std::to_string(api.lowest), std::to_string(api.highest)});
    }
    if (!common.json) {
      fmt::print("broker {} at {}: {}\n", broker.broker, broker.address, counted(static_cast<std::int64_t>(broker.apis.size()), "API"));
      print_table(rows);
    }
  }
  return exit;
}

int features(const Arguments&, const Common& common) {
  Session session(common);
  const auto found = versions(session);
  if (!found) {
    return report(found.error(), common);
  }
  std::vector<std::vector<std::string>> rows{{"BROKER", "FEATURE", "FROM", "TO", "FINALIZED"}};
  int exit = 0;
  for (const node::BrokerVersions& broker : *found) {
    if (broker.error) {
      exit = report(*broker.error, common);
    }
    for (const auto& feature : broker.features) {
      if (common.json) {
        JsonObject object;
        object.number("broker", broker.broker).text("feature", feature.name).number("lowest", feature.lowest).number("highest", feature.highest);
        feature.finalized ? object.number("finalized", *feature.finalized) : object.null("finalized");
        fmt::print("{}\n", object.number("epoch", broker.finalized_epoch).str());
      }
      rows.push_back({std::to_string(broker.broker), feature.name, std::to_string(feature.lowest), std::to_string(feature.highest),
                      feature.finalized ? std::to_string(*feature.finalized) : "-"});
    }
  }
  if (!common.json) {
    print_table(rows);
  }
  return exit;
}

int log_dirs(const Arguments& arguments, const Common& common) {
  Session session(common);
  const auto found = session.ask<std::vector<node::LogDirectory>>(
      [&](auto done) { session.questions().describe_log_dirs(arguments.brokers, std::move(done)); });
  if (!found) {
    return report(found.error(), common);
  }
  int exit = 0;
  std::vector<std::vector<std::string>> rows{arguments.partitions ? std::vector<std::string>{"BROKER", "FOLDER", "TOPIC", "PARTITION", "SIZE", "LAG"}
                                                                  : std::vector<std::string>{"BROKER", "FOLDER", "PARTITIONS", "SIZE", "FREE", "OF"}};
  for (const node::LogDirectory& directory : *found) {
    if (directory.error) {
      exit = report(*directory.error, common);
      continue;
    }
    std::int64_t size = 0;
    std::vector<std::string> replicas;
    for (const auto& replica : directory.replicas) {
      size += replica.size_bytes;
      if (arguments.partitions) {
        rows.push_back({std::to_string(directory.broker), directory.path, replica.partition.topic, std::to_string(replica.partition.partition),
                        size_text(replica.size_bytes), fmt::format("{}{}", replica.offset_lag, replica.future ? " (moving in)" : "")});
      }
      if (common.json) {
        JsonObject object;
        object.text("topic", replica.partition.topic).number("partition", replica.partition.partition).number("bytes", replica.size_bytes);
        replicas.push_back(object.number("lag", replica.offset_lag).boolean("future", replica.future).str());
      }
    }
    const auto amount = [](std::int64_t bytes) { return bytes < 0 ? std::string("-") : size_text(bytes); };
    if (!arguments.partitions) {
      rows.push_back({std::to_string(directory.broker), directory.path, count_text(static_cast<std::int64_t>(directory.replicas.size())),
                      size_text(size), amount(directory.usable_bytes), amount(directory.total_bytes)});
    }
    if (common.json) {
      JsonObject object;
      object.number("broker", directory.broker).text("folder", directory.path).number("bytes", size);
      directory.usable_bytes < 0 ? object.null("free_bytes") : object.number("free_bytes", directory.usable_bytes);
      directory.total_bytes < 0 ? object.null("total_bytes") : object.number("total_bytes", directory.total_bytes);
      fmt::print("{}\n", object.raw("replicas", json_array(replicas)).str());
    }
  }
  if (!common.json && rows.size() > 1) {
    print_table(rows);
  }
  return exit;
}

int quorum(const Arguments&, const Common& common) {
  Session session(common);
  const auto found = session.ask<node::QuorumDescription>([&](auto done) { session.questions().describe_quorum(std::move(done)); });
  if (!found) {
    return report(found.error(), common);
  }
  const std::int64_t now = wall_now_ms();
  std::vector<std::vector<std::string>> rows{{"REPLICA", "ROLE", "DIRECTORY", "END OFFSET", "LAG", "LAST FETCH", "CAUGHT UP"}};
  std::int64_t end = found->high_watermark;
  for (const auto& voter : found->voters) {
    end = voter.id == found->leader ? voter.log_end_offset : end;
  }
  std::vector<std::string> objects;
  const auto ago = [&](std::int64_t at) { return at < 0 ? std::string("-") : duration_text(std::max<std::int64_t>(0, now - at)) + " ago"; };
  const auto add = [&](const node::QuorumDescription::Replica& replica, const char* role) {
    rows.push_back({std::to_string(replica.id), replica.id == found->leader ? "leader" : role, replica.directory_id,
                    std::to_string(replica.log_end_offset), std::to_string(std::max<std::int64_t>(0, end - replica.log_end_offset)),
                    ago(replica.last_fetch_ms), ago(replica.last_caught_up_ms)});
    JsonObject object;
    object.number("replica", replica.id).text("role", replica.id == found->leader ? "leader" : role).text("directory", replica.directory_id);
    object.number("end_offset", replica.log_end_offset).number("lag", std::max<std::int64_t>(0, end - replica.log_end_offset));
    objects.push_back(object.number("last_fetch", replica.last_fetch_ms).number("last_caught_up", replica.last_caught_up_ms).str());
  };
  for (const auto& voter : found->voters) {
    add(voter, "voter");
  }
  for (const auto& observer : found->observers) {
    add(observer, "observer");
  }
  if (common.json) {
    JsonObject object;
    object.number("leader", found->leader).number("epoch", found->leader_epoch).number("high_watermark", found->high_watermark);
    fmt::print("{}\n", object.raw("replicas", json_array(objects)).str());
    return 0;
  }
  fmt::print("leader {}  epoch {}  high watermark {}\n", found->leader, found->leader_epoch, found->high_watermark);
  print_table(rows);
  return 0;
}

// Asks an address for its API versions, which needs no broker but this one.
Result<void> answers(Session& session, const std::string& address, std::int64_t patience_ms) {
  wire::ApiVersionsRequest request;
  request.client_software_name = "hw";
  request.client_software_version = "0";
  const auto response = session.ask<wire::ApiVersionsResponse>([&](auto done) {
    client::CallOptions options;
    options.timeout = milliseconds(patience_ms);
    options.highest = 4;  // later ones name the broker that is expected
    session.runner().call<wire::ApiVersionsResponse>(address, client::Target::any(), std::move(request), std::move(done), options);
  });
  if (!response) {
    return fail(response.error().code, response.error().detail);
  }
  return {};
}

// What most "the broker is down" are: the cluster answers at the address one has, and sends clients to another one.
int doctor(const Arguments&, const Common& common) {
  Session session(common);
  const std::int64_t patience = common.timeout_ms > 0 ? common.timeout_ms : 5000;
  const auto bootstrap = client::parse_bootstrap(common.bootstrap);  // was checked before
  std::vector<std::vector<std::string>> rows{{"ADDRESS", "ROLE", "RESULT"}};
  std::vector<std::string> objects;
  int failures = 0;
  const auto add = [&](const std::string& address, const std::string& role, std::int32_t broker, const Result<void>& result) {
    failures += result ? 0 : 1;
    rows.push_back({address, role, result ? "answers" : "FAILS: " + result.error().detail});
    JsonObject object;
    object.text("address", address).text("role", broker < 0 ? "bootstrap" : "advertised");
    broker < 0 ? object.null("broker") : object.number("broker", broker);
    object.boolean("answers", result.has_value());
    result ? object.null("problem") : object.text("problem", result.error().detail);
    objects.push_back(object.str());
  };
  std::string working;
  for (const client::Endpoint& endpoint : *bootstrap) {
    const Result<void> result = answers(session, endpoint.text(), patience);
    working = working.empty() && result ? endpoint.text() : working;
    add(endpoint.text(), "bootstrap", -1, result);
  }
  std::string advice;
  if (!working.empty()) {
    wire::MetadataRequest request;
    request.allow_auto_topic_creation = false;
    const auto metadata = session.ask<wire::MetadataResponse>([&](auto done) {
      client::CallOptions options;
      options.timeout = milliseconds(patience);
      session.runner().call<wire::MetadataResponse>(working, client::Target::any(), std::move(request), std::move(done), options);
    });
    if (!metadata) {
      return report(metadata.error(), common);
    }
    for (const auto& broker : metadata->brokers) {
      const client::Endpoint endpoint{broker.host, static_cast<std::uint16_t>(broker.port)};
      const Result<void> result = answers(session, endpoint.text(), patience);
      add(endpoint.text(), fmt::format("advertised by broker {}", broker.node_id.value()), broker.node_id.value(), result);
      if (!result && advice.empty()) {
        advice = fmt::format(
            "The cluster answers at {}, but tells clients to go to {}, which does not answer from here. Clients that connect to {} will be sent "
            "there and fail. Set advertised.listeners of broker {} to an address that reaches it from where clients run (highwaterd "
            "--advertise HOST:PORT), or make {} reachable.",
            working, endpoint.text(), working, broker.node_id.value(), endpoint.text());
      }
    }
    if (metadata->brokers.empty()) {
      advice = "The cluster answers, but knows no broker that is alive.";
      ++failures;
    }
  } else {
    advice = "No bootstrap address answers. Is a broker running there? `highwaterd` starts one on localhost:9092.";
  }
  if (common.json) {
    for (const std::string& object : objects) {
      fmt::print("{}\n", object);
    }
  } else {
    print_table(rows);
    if (!advice.empty()) {
      fmt::print("\n{}\n", advice);
    } else {
      fmt::print("\nEvery address works from here.\n");
    }
  }
  return static_cast<int>(failures == 0 ? Exit::ok : Exit::unreachable);
}

}  // namespace

void add_cluster(CLI::App& cli, Common& common) {
  CLI::App* cluster = add_command(cli, "cluster", "Brokers, quorum, versions, folders; and what is wrong with the addresses");
  cluster->require_subcommand(1);
  const auto arguments = std::make_shared<Arguments>();
  const auto add = [&](const char* name, const std::string& what, int (*run)(const Arguments&, const Common&), const std::vector<std::string>& examples) {
    CLI::App* one = add_command(*cluster, name, what, examples);
    one->callback([&common, arguments, run] { common.run = [&common, arguments, run] { return run(*arguments, common); }; });
    return one;
  };
  add("describe", "The cluster's id, controller and brokers", describe, {"hw cluster describe"});
  add("doctor", "Try every address: those given, and those the brokers tell clients to use", doctor,
      {"hw --bootstrap 192.168.1.5:9092 cluster doctor"});
  add("quorum", "The voters of the metadata log and how far they are", quorum, {"hw cluster quorum"});
  add("features", "Feature levels: what the brokers can, and what is finalized", features, {"hw cluster features"});
  add("api-versions", "Which APIs each broker offers, in which versions", api_versions, {"hw cluster api-versions"});
  CLI::App* one = add("log-dirs", "The brokers' folders, what is in them and what is free", log_dirs,
                      {"hw cluster log-dirs", "hw cluster log-dirs --partitions --broker 0"});
  one->add_option("--broker", arguments->brokers, "only these; may be repeated")->take_all();
  one->add_flag("--partitions", arguments->partitions, "a line for each partition");
}

}  // namespace hw::app
