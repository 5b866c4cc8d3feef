// SPDX-License-Identifier: Apache-2.0
// A built-in consumer as a member of a group with other people's clients: interop_member BOOTSTRAP GROUP TOPIC ASSIGNOR
//
// Prints "has N" whenever its assignment changes, and every value it reads. Commits and leaves when its standard input ends.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "engine/node/client_runner.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a program
using namespace hw::node;  // NOLINT(google-build-using-namespace)

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: interop_member BOOTSTRAP GROUP TOPIC ASSIGNOR\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  ConsumerOptions options;
  options.bootstrap = argv[1];
  options.group_id = argv[2];
  options.topics = {argv[3]};
  options.assignors = {argv[4]};
  int status = 0;
  {
    std::size_t has = 0;
    ClientRunner runner;
    const ClientHandle consumer = runner.add_consumer(
        options,
        [](std::vector<IncomingRecord>& records) {
          for (const IncomingRecord& record : records) {
            std::printf("%s\n", record.value ? std::string(record.value->text()).c_str() : "NULL");
          }
        },
        [&](const ConsumerEvent& event) {
          if (event.kind == ConsumerEvent::Kind::assigned || event.kind == ConsumerEvent::Kind::revoked) {
            has += event.kind == ConsumerEvent::Kind::assigned ? event.partitions.size() : 0;
            has -= event.kind == ConsumerEvent::Kind::revoked ? event.partitions.size() : 0;
            std::printf("has %zu\n", has);
          } else if (event.kind == ConsumerEvent::Kind::error) {
            std::fprintf(stderr, "%s\n", event.message.c_str());
            status = event.fatal ? 1 : status;
          }
        });
    while (std::getchar() != EOF) {
    }
    std::mutex mutex;
    std::condition_variable told;
    bool closed = false;
    runner.close(consumer, [&] {
      const std::lock_guard lock(mutex);
      closed = true;
      told.notify_all();
    });
    std::unique_lock lock(mutex);
    told.wait(lock, [&] { return closed; });
  }
  return status;
}
