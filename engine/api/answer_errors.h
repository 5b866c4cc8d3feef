// SPDX-License-Identifier: Apache-2.0
// Visits the error codes of an answer, at the top and in every list below, before it is encoded.
//
// Kafka's responses keep their error codes in a few places that always have the same names; the lists below hold those
// names, and a test compares them with the field tables of all responses.
// Thread rule: none; a free function of its arguments. Cost: one comparison for each code, nothing for other fields.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "engine/wire/runtime/error_code.h"

namespace hw::api {

inline constexpr std::array<std::string_view, 20> kErrorLists = {
    "partitions",   "topics",    "results", "responses", "groups",
    "filter_results", "matching_acls", "coordinators", "replica_election_results", "partition_result",
    "directories",  "members",   "entries", "partition_responses", "transaction_states", "markers",
    "topic_results", "results_by_partition", "results_by_transaction", "results_by_topic_v3_and_below"};

// `visit(wire::ErrorCode)` for each code other than none.
template <class Message, class Visit>
void for_each_error(const Message& message, Visit& visit) {
  const auto one = [&](wire::ErrorCode code) {
    if (code != wire::ErrorCode::none) {
      visit(code);
    }
  };
  if constexpr (requires { message.error_code; }) {
    one(message.error_code);
  }
  if constexpr (requires { message.topic_config_error_code; }) {
    one(message.topic_config_error_code);
  }
  if constexpr (requires { message.acknowledge_error_code; }) {
    one(message.acknowledge_error_code);
  }
  if constexpr (requires { message.partition_error_code; }) {
    one(message.partition_error_code);
  }
  const auto all = [&](const auto& list) {
    if constexpr (requires { list.has_value(); }) {
      if (list.has_value()) {
        for (const auto& each : *list) {
          for_each_error(each, visit);
        }
      }
    } else {
      for (const auto& each : list) {
        for_each_error(each, visit);
      }
    }
  };
#define HW_VISIT_LIST(name)                \
  if constexpr (requires { message.name; }) { \
    all(message.name);                     \
  }
  HW_VISIT_LIST(partitions)
  HW_VISIT_LIST(topics)
  HW_VISIT_LIST(results)
  HW_VISIT_LIST(responses)
  HW_VISIT_LIST(groups)
  HW_VISIT_LIST(filter_results)
  HW_VISIT_LIST(matching_acls)
  HW_VISIT_LIST(coordinators)
  HW_VISIT_LIST(replica_election_results)
  HW_VISIT_LIST(partition_result)
  HW_VISIT_LIST(directories)
  HW_VISIT_LIST(members)
  HW_VISIT_LIST(entries)
  HW_VISIT_LIST(partition_responses)
  HW_VISIT_LIST(transaction_states)
  HW_VISIT_LIST(markers)
  HW_VISIT_LIST(topic_results)
  HW_VISIT_LIST(results_by_partition)
  HW_VISIT_LIST(results_by_transaction)
  HW_VISIT_LIST(results_by_topic_v3_and_below)
#undef HW_VISIT_LIST
}

}  // namespace hw::api
