// SPDX-License-Identifier: Apache-2.0
#include "engine/node/cluster_join.h"

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "engine/node/client_runner.h"
#include "engine/wire/msg/describe_cluster.h"

namespace hw::node {
namespace {

constexpr std::int8_t kControllerEndpoints = 2;
constexpr std::int16_t kVersion = 1;

}  // namespace

Result<std::string> ask_cluster_id(const std::vector<api::ControllerPeer>& controllers, Duration patience,
                                   const std::atomic<bool>* interrupted) {
  std::string addresses;
  for (const api::ControllerPeer& peer : controllers) {
    const std::string host = peer.host.find(':') == std::string::npos ? peer.host : "[" + peer.host + "]";
    addresses += (addresses.empty() ? "" : ",") + host + ":" + std::to_string(peer.port);
  }
  ClientRunner runner;
  wire::DescribeClusterRequest request;
  request.endpoint_type = kControllerEndpoints;
  client::CallOptions options;
  options.timeout = patience;
  options.highest = kVersion;
  auto answered = std::make_shared<std::promise<Result<wire::DescribeClusterResponse>>>();
  std::future<Result<wire::DescribeClusterResponse>> answer = answered->get_future();
  runner.call<wire::DescribeClusterResponse>(addresses, client::Target::any(), std::move(request),
                                             [answered](Result<wire::DescribeClusterResponse> got) { answered->set_value(std::move(got)); }, options);
  while (answer.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    if (interrupted != nullptr && *interrupted) {
      return fail(Errc::closed, "it was told to end while it started");
    }
  }
  const Result<wire::DescribeClusterResponse> got = answer.get();
  std::string why;
  if (!got) {
    why = got.error().detail;
  } else if (got->error_code != wire::ErrorCode::none) {
    why = got->error_message.value_or("error " + std::to_string(static_cast<int>(got->error_code)));
  } else if (got->cluster_id.empty()) {
    why = "it does not say its cluster's id";
  } else {
    return got->cluster_id;
  }
  return fail(Errc::closed, "cannot join the cluster of " + addresses + ": " + why +
                                "; name a controller's port of a running cluster with --join HOST:PORT, or the cluster with --cluster-id");
}

}  // namespace hw::node
