// SPDX-License-Identifier: Apache-2.0
// Load on a group coordinator, any that speaks Kafka's protocol.
//
//   group_load PORT commit CONNECTIONS DEPTH SECONDS   OffsetCommit v9, DEPTH requests on their way
//                                                      on each connection, a group each
//   group_load PORT many TOPICS GROUPS                 makes topics and groups, each with positions
//                                                      in ten topics; then lists and describes all
//
// Prints key=value figures in one line. An answer that carries an error ends it.
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/describe_groups.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/list_groups.h"
#include "engine/wire/msg/metadata.h"
#include "engine/wire/msg/offset_commit.h"
#include "engine/wire/msg/offset_fetch.h"
#include "tests/engine/node/blocking_client.h"

namespace {

using namespace hw;
using Clock = std::chrono::steady_clock;

constexpr std::int16_t kCommitVersion = 9;
constexpr int kTopicsPerGroup = 10;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void create_topics(test::BlockingClient& client, int count) {
  wire::CreateTopicsRequest request;
  request.timeout_ms = 60'000;
  for (int i = 0; i < count; ++i) {
    wire::CreateTopicsRequest::CreatableTopic topic;
    topic.name = "load-" + std::to_string(i);
    topic.num_partitions = 1;
    topic.replication_factor = 1;
    request.topics.push_back(std::move(topic));
  }
  const auto response = client.ask<wire::CreateTopicsResponse>(request, 5);
  for (const auto& topic : response.topics) {
    if (topic.error_code != wire::ErrorCode::none &&
        topic.error_code != wire::ErrorCode::topic_already_exists) {
      throw std::runtime_error("CreateTopics: error " +
                               std::to_string(static_cast<int>(topic.error_code)));
    }
  }
}

void find_coordinator(test::BlockingClient& client) {
  wire::FindCoordinatorRequest request;
  request.coordinator_keys = {"load"};
  for (int i = 0; i < 3'000; ++i) {
    const auto response = client.ask<wire::FindCoordinatorResponse>(request, 4);
    if (response.coordinators.at(0).error_code == wire::ErrorCode::none) {
      return;
    }
    ::poll(nullptr, 0, 10);
  }
  throw std::runtime_error("no coordinator");
}

wire::OffsetCommitRequest commit_of(const std::string& group, int first, int topics, int of) {
  wire::OffsetCommitRequest request;
  request.group_id = group;
  for (int i = 0; i < topics; ++i) {
    wire::OffsetCommitRequest::OffsetCommitRequestTopic topic;
    topic.name = "load-" + std::to_string((first + i) % of);
    wire::OffsetCommitRequest::OffsetCommitRequestPartition partition;
    partition.partition_index = PartitionIndex(0);
    partition.committed_offset = Offset(4'711);
    topic.partitions.push_back(std::move(partition));
    request.topics.push_back(std::move(topic));
  }
  return request;
}

void check(const wire::OffsetCommitResponse& response) {
  for (const auto& topic : response.topics) {
    for (const auto& partition : topic.partitions) {
      if (partition.error_code != wire::ErrorCode::none) {
        throw std::runtime_error("OffsetCommit: error " +
                                 std::to_string(static_cast<int>(partition.error_code)));
      }
    }
  }
}

void commit(std::uint16_t port, int connections, int depth, double duration) {
  struct Peer {
    std::unique_ptr<test::BlockingClient> client;
    std::string window;  // DEPTH frames; all alike, so that all answers are alike
    std::string answer;  // the expected bytes of one
    std::string in;
    std::size_t to_send = 0;  // bytes of `window` (cyclic) that may go out
    std::size_t at = 0;
  };
  {
    test::BlockingClient first(port);
    create_topics(first, 1);
    find_coordinator(first);
  }
  std::vector<Peer> peers(static_cast<std::size_t>(connections));
  std::vector<pollfd> polls;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    Peer& peer = peers[i];
    peer.client = std::make_unique<test::BlockingClient>(port);
    const wire::OffsetCommitRequest request = commit_of("load-" + std::to_string(i), 0, 1, 1);
    // The first answer decides what the others must look like.
    peer.client->send(request, kCommitVersion);
    const std::string frame = peer.client->last_frame();
    const Bytes answer = peer.client->receive_frame();
    wire::Reader reader(answer.slice(5, answer.size() - 5));
    wire::OffsetCommitResponse response;
    if (!decode(reader, response, kCommitVersion)) {
      throw std::runtime_error("OffsetCommit: an answer that cannot be read");
    }
    check(response);
    const std::size_t size = answer.size();
    for (int shift = 24; shift >= 0; shift -= 8) {
      peer.answer.push_back(static_cast<char>(size >> static_cast<unsigned>(shift)));
    }
    peer.answer += answer.text();
    for (int n = 0; n < depth; ++n) {
      peer.window += frame;
    }
    peer.to_send = peer.window.size();
    polls.push_back({peer.client->descriptor(), POLLIN | POLLOUT, 0});
  }
  std::vector<char> buffer(1U << 18U);
  std::uint64_t answered = 0;
  const auto begin = Clock::now();
  while (seconds_since(begin) < duration) {
    ::poll(polls.data(), polls.size(), 1'000);
    for (std::size_t i = 0; i < peers.size(); ++i) {
      Peer& peer = peers[i];
      const std::size_t frame = peer.window.size() / static_cast<std::size_t>(depth);
      if ((polls[i].revents & POLLIN) != 0) {
        const ssize_t got = ::recv(polls[i].fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got <= 0) {
          throw std::runtime_error("a connection was closed");
        }
        peer.in.append(buffer.data(), static_cast<std::size_t>(got));
        std::size_t used = 0;
        while (peer.in.size() - used >= peer.answer.size()) {
          if (std::memcmp(peer.in.data() + used, peer.answer.data(), peer.answer.size()) != 0) {
            throw std::runtime_error("an answer differs from the first one");
          }
          used += peer.answer.size();
          ++answered;
          peer.to_send += frame;
        }
        peer.in.erase(0, used);
      }
      while (peer.to_send > 0) {
        const std::size_t piece = std::min(peer.to_send, peer.window.size() - peer.at);
        const ssize_t sent =
            ::send(polls[i].fd, peer.window.data() + peer.at, piece, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent <= 0) {
          break;
        }
        peer.at = (peer.at + static_cast<std::size_t>(sent)) % peer.window.size();
        peer.to_send -= static_cast<std::size_t>(sent);
      }
      polls[i].events = static_cast<short>(POLLIN | (peer.to_send > 0 ? POLLOUT : 0));
    }
  }
  std::printf("commits=%llu per_s=%.0f\n", static_cast<unsigned long long>(answered),
              static_cast<double>(answered) / seconds_since(begin));
}

void many(std::uint16_t port, int topics, int groups) {
  test::BlockingClient client(port);
  create_topics(client, topics);
  find_coordinator(client);
  for (int g = 0; g < groups; ++g) {
    check(client.ask<wire::OffsetCommitResponse>(
        commit_of("load-" + std::to_string(g), g, kTopicsPerGroup, topics), kCommitVersion));
  }

  auto begin = Clock::now();
  wire::MetadataRequest metadata;
  metadata.topics.reset();
  std::size_t known = client.ask<wire::MetadataResponse>(metadata, 9).topics.size();
  const double listed_topics = seconds_since(begin);

  begin = Clock::now();
  const auto listed = client.ask<wire::ListGroupsResponse>(wire::ListGroupsRequest(), 5);
  const double listed_groups = seconds_since(begin);

  begin = Clock::now();
  wire::DescribeGroupsRequest describe;
  wire::OffsetFetchRequest positions;
  for (const auto& group : listed.groups) {
    describe.groups.push_back(group.group_id);
    wire::OffsetFetchRequest::OffsetFetchRequestGroup all;
    all.group_id = group.group_id;
    all.topics.reset();
    positions.groups.push_back(std::move(all));
  }
  const auto described = client.ask<wire::DescribeGroupsResponse>(describe, 6);
  const double described_groups = seconds_since(begin);

  begin = Clock::now();
  const auto fetched = client.ask<wire::OffsetFetchResponse>(positions, 8);
  const double fetched_positions = seconds_since(begin);

  std::size_t rows = 0;
  for (const auto& group : fetched.groups) {
    for (const auto& topic : group.topics) {
      rows += topic.partitions.size();
    }
  }
  if (known < static_cast<std::size_t>(topics) ||
      described.groups.size() < static_cast<std::size_t>(groups) ||
      rows < static_cast<std::size_t>(groups) * kTopicsPerGroup) {
    throw std::runtime_error("something is missing in the answers");
  }
  std::printf("topics=%zu groups=%zu positions=%zu topics_s=%.4f list_s=%.4f describe_s=%.4f "
              "offsets_s=%.4f all_s=%.4f\n",
              known, described.groups.size(), rows, listed_topics, listed_groups, described_groups,
              fetched_positions,
              listed_topics + listed_groups + described_groups + fetched_positions);
}

}  // namespace

int main(int count, char** words) {
  const auto number = [&](int i) { return std::atoi(words[i]); };
  try {
    const std::string what = count > 2 ? words[2] : "";
    if (what == "commit" && count == 6) {
      commit(static_cast<std::uint16_t>(number(1)), number(3), number(4), std::atof(words[5]));
    } else if (what == "many" && count == 5) {
      many(static_cast<std::uint16_t>(number(1)), number(3), number(4));
    } else {
      std::fprintf(stderr, "usage: group_load PORT commit CONNECTIONS DEPTH SECONDS | PORT many TOPICS GROUPS\n");
      return 2;
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "group_load: %s\n", problem.what());
    return 1;
  }
  return 0;
}
