// SPDX-License-Identifier: Apache-2.0
// How long a group takes until it is stable: bench_group BOOTSTRAP MEMBERS ASSIGNOR
//
// Makes a topic of as many partitions as members, starts all members at once, and waits until every partition is assigned to
// exactly one of them and all are of one generation. Prints "stable_ms=… generation=…". The members are the built-in consumers,
// whichever broker answers.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "engine/node/client_runner.h"
#include "engine/node/limits.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a program
using namespace hw::node;  // NOLINT(google-build-using-namespace)

namespace {

constexpr auto kPatience = std::chrono::seconds(180);

struct Board {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::size_t> has;  // partitions by member
  std::string trouble;
  [[nodiscard]] bool full() const {
    for (const std::size_t count : has) {
      if (count != 1) {
        return false;
      }
    }
    return true;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_group BOOTSTRAP MEMBERS ASSIGNOR\n");
    return 2;
  }
  const std::string bootstrap = argv[1];
  const int members = std::atoi(argv[2]);
  raise_descriptor_limit();
  const std::string name = "group-" + std::to_string(members) + "-" +
                           std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
  ClientRunner runner;
  Board board;
  {
    bool made = false;
    NewTopic topic;
    topic.name = name;
    topic.partitions = members;
    runner.create_topic(bootstrap, topic, [&](const Result<void>& result) {
      const std::lock_guard lock(board.mutex);
      board.trouble = result ? "" : result.error().detail;
      made = true;
      board.changed.notify_all();
    });
    std::unique_lock lock(board.mutex);
    board.changed.wait(lock, [&] { return made; });
    if (!board.trouble.empty()) {
      std::fprintf(stderr, "bench_group: %s\n", board.trouble.c_str());
      return 1;
    }
  }
  board.has.resize(static_cast<std::size_t>(members));
  const auto begin = std::chrono::steady_clock::now();
  std::vector<ClientHandle> handles;
  for (std::size_t i = 0; i < board.has.size(); ++i) {
    ConsumerOptions options;
    options.bootstrap = bootstrap;
    options.group_id = name;
    options.topics = {name};
    options.assignors = {argv[3]};
    options.session_timeout_ms = 45'000;
    options.heartbeat_interval_ms = 3'000;  // Kafka's default: that is how soon members learn of a rebalance
    handles.push_back(runner.add_consumer(options, {}, [&board, i](const ConsumerEvent& event) {
      const std::lock_guard lock(board.mutex);
      if (event.kind == ConsumerEvent::Kind::assigned) {
        board.has[i] += event.partitions.size();
      } else if (event.kind == ConsumerEvent::Kind::revoked) {
        board.has[i] -= event.partitions.size();
      } else if (event.kind == ConsumerEvent::Kind::error && event.fatal) {
        board.trouble = event.message;
      }
      board.changed.notify_all();
    }));
  }
  int status = 0;
  {
    std::unique_lock lock(board.mutex);
    const bool full = board.changed.wait_for(lock, kPatience, [&] { return board.full() || !board.trouble.empty(); });
    if (!full || !board.trouble.empty()) {
      std::fprintf(stderr, "bench_group: %s\n", board.trouble.empty() ? "not stable in time" : board.trouble.c_str());
      status = 1;
    }
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  std::mutex mutex;
  std::condition_variable told;
  std::int32_t generation = -2;
  runner.status(handles.front(), [&](const Result<ConsumerStatus>& result) {
    const std::lock_guard lock(mutex);
    generation = result ? result->generation : -1;
    told.notify_all();
  });
  std::unique_lock lock(mutex);
  told.wait(lock, [&] { return generation != -2; });
  std::printf("stable_ms=%lld generation=%d\n", static_cast<long long>(took.count()), generation);
  std::fflush(stdout);
  std::quick_exit(status);  // the members need not leave in good order
}
