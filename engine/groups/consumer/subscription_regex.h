// SPDX-License-Identifier: Apache-2.0
// Regular expressions by which members subscribe to topics (KIP-848's SubscribedTopicRegex): RE2
// syntax, and the whole name must match. Linear in the length of a name, whatever the expression.
// The only place that knows the library. Thread rule: any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hw::groups {

// Nothing where the expression is valid; otherwise what is wrong with it, in the words that Kafka
// has for it ("missing closing ]").
[[nodiscard]] std::optional<std::string> subscription_regex_error(const std::string& regex);

// Those of `topics` that match, in their order; none where the expression is not valid.
[[nodiscard]] std::vector<std::string> matching_topics(const std::string& regex,
                                                       std::span<const std::string_view> topics);

}  // namespace hw::groups
