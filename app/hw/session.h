// SPDX-License-Identifier: Apache-2.0
// One conversation of a command with the cluster: a question is asked, the main thread waits for the answer. Ctrl-C while waiting
// ends the program with Exit::interrupted.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/hw/commands.h"
#include "app/hw/wait.h"
#include "engine/base/result.h"
#include "engine/node/client_admin.h"
#include "engine/node/client_runner.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::app {

class Session {
 public:
  explicit Session(const Common& common);

  // `start` gets a callback that takes the Result.
  template <class T>
  Result<T> ask(const std::function<void(std::function<void(Result<T>)>)>& start) {
    std::optional<Result<T>> answer = await<Result<T>>(waiter_, start);
    if (!answer) {
      end_interrupted();
    }
    return std::move(*answer);
  }

  // Any request of engine/wire/msg, for what AdminQuestions has no question.
  template <class Response, class Body>
  Result<Response> call(client::Target target, Body body) {
    return ask<Response>([&](auto done) {
      client::CallOptions options;
      options.timeout = patience_;
      runner_.call<Response>(common_.bootstrap, std::move(target), std::move(body), std::move(done), options);
    });
  }
  [[nodiscard]] std::int32_t patience_ms() const { return static_cast<std::int32_t>(patience_.ms()); }

  // Errc::not_found names the topic that was most likely meant.
  Result<node::TopicDescription> topic(const std::string& name);
  Result<std::vector<node::TopicDescription>> topics();
  // Names, or patterns with '*' and '?' of which each must fit a topic; internal topics only where the pattern begins with '_'.
  Result<std::vector<node::TopicDescription>> topics_named(const std::vector<std::string>& patterns);
  // First and next offset of every partition, in the order of `partitions`.
  struct Range {
    node::TopicPartitionName partition;
    std::int64_t begin = -1;
    std::int64_t end = -1;
  };
  Result<std::vector<Range>> ranges(const std::vector<node::TopicPartitionName>& partitions);
  Result<std::vector<node::FoundOffset>> offsets(std::vector<node::OffsetQuery> queries);
  [[nodiscard]] static std::vector<node::TopicPartitionName> partitions_of(const node::TopicDescription& topic);
  // Errc::not_found names the group that was most likely meant.
  Result<node::GroupDetail> group(const std::string& id);

  [[noreturn]] static void end_interrupted();  // after Ctrl-C
  [[nodiscard]] node::ClientRunner& runner() { return runner_; }
  [[nodiscard]] Waiter& waiter() { return waiter_; }
  [[nodiscard]] const node::AdminQuestions& questions() const { return questions_; }
  [[nodiscard]] const Common& common() const { return common_; }

 private:

  Result<std::vector<node::TopicDescription>> metadata(const std::string* topic);
  const Common& common_;
  Duration patience_;
  Waiter waiter_;
  node::ClientRunner runner_;
  node::AdminQuestions questions_;
};

// A response's code in words; nullopt for none. `about`: "topic 'orders'".
[[nodiscard]] std::optional<Error> refusal(const std::string& about, wire::ErrorCode code, const std::optional<std::string>& message = {});

// On a terminal asks `question` and takes "y"; elsewhere, or with `yes`, true.
[[nodiscard]] bool confirmed(const std::string& question, bool yes);

}  // namespace hw::app
