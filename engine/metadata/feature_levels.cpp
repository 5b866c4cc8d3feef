// SPDX-License-Identifier: Apache-2.0
// Feature levels (KIP-584, KIP-778).
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "engine/metadata/controller.h"
#include "engine/metadata/detail/controller_impl.h"

namespace hw::metadata {

using wire::ErrorCode;

namespace {

enum UpgradeType : std::int8_t { kUpgrade = 1, kSafeDowngrade = 2, kUnsafeDowngrade = 3 };

// The levels of metadata.version, as Apache Kafka 4.4.0 names them and answers downgrades from each.
struct MetadataLevel {
  std::int16_t level;
  std::string_view name;
  bool changes_records;  // it writes what the level below does not know
};
constexpr std::array<MetadataLevel, 27> kMetadataLevels{{
    {7, "3.3-IV3", false},  {8, "3.4-IV0", true},   {9, "3.5-IV0", false},  {10, "3.5-IV1", false}, {11, "3.5-IV2", true},
    {12, "3.6-IV0", false}, {13, "3.6-IV1", true},  {14, "3.6-IV2", true},  {15, "3.7-IV0", true},  {16, "3.7-IV1", false},
    {17, "3.7-IV2", true},  {18, "3.7-IV3", false}, {19, "3.7-IV4", false}, {20, "3.8-IV0", false}, {21, "3.9-IV0", false},
    {22, "4.0-IV0", false}, {23, "4.0-IV1", true},  {24, "4.0-IV2", false}, {25, "4.0-IV3", false}, {26, "4.1-IV0", false},
    {27, "4.1-IV1", false}, {28, "4.2-IV0", false}, {29, "4.2-IV1", false}, {30, "4.3-IV0", true},  {31, "4.4-IV0", false},
    {32, "4.4-IV1", true},  {33, "4.4-IV2", true},
}};
static_assert(kMetadataLevels.back().level == kMetadataVersion);

std::string level_text(std::int16_t level) {
  const auto at = std::find_if(kMetadataLevels.begin(), kMetadataLevels.end(),
                               [&](const MetadataLevel& row) { return row.level == level; });
  return std::to_string(level) + (at == kMetadataLevels.end() ? "" : " (" + std::string(at->name) + ")");
}

// Why metadata.version cannot go down from `now` to `wanted`, asked for so or so: Kafka has no unsafe downgrade of it either.
std::optional<std::string> metadata_downgrade_error(std::int16_t now, std::int16_t wanted, std::int8_t type) {
  std::string in_the_way;
  for (const MetadataLevel& row : kMetadataLevels) {
    if (row.changes_records && row.level > wanted && row.level <= now) {
      in_the_way += (in_the_way.empty() ? "" : ", ") + level_text(row.level);
    }
  }
  if (in_the_way.empty()) {
    return std::nullopt;
  }
  return "metadata.version cannot go back from " + level_text(now) + " to " + level_text(wanted) +
         ": metadata could be lost, because what is written since " + in_the_way + " is not known below" +
         (type == kUnsafeDowngrade ? "; an unsafe downgrade is not supported either" : "");
}

}  // namespace

// --- features

std::optional<std::string> Controller::Impl::feature_error(const std::string& name, std::int16_t wanted, std::int8_t type,
                                                           std::vector<Record>& records) const {
  if (type != kUpgrade && type != kSafeDowngrade && type != kUnsafeDowngrade) {
    return "the upgrade type of " + name + " must be 1 (upgrade), 2 (safe downgrade) or 3 (unsafe downgrade)";
  }
  if (wanted < 0) {
    return "the level of " + name + " cannot be below 0";
  }
  const auto all = supported_features();
  const auto range = std::find_if(all.begin(), all.end(), [&](const FeatureRange& row) { return row.name == name; });
  if (range == all.end()) {
    return "this node has no feature '" + name + "'";
  }
  if (wanted < range->min_supported || wanted > range->max_supported) {
    return "this node supports " + name + " at levels " + std::to_string(range->min_supported) + " to " +
           std::to_string(range->max_supported) + ", not at " + std::to_string(wanted);
  }
  const auto lacks = [&](const SupportedFeatures& features) {
    const auto at = features.find(name);
    const SupportedRange other = at == features.end() ? SupportedRange{} : at->second;
    return wanted < other.min || wanted > other.max;
  };
  for (const auto& [id, broker] : image().brokers()) {
    if (lacks(broker.features)) {
      return "broker " + std::to_string(id.value()) + " does not support level " + std::to_string(wanted) + " of " + name;
    }
  }
  for (const auto& [id, controller] : image().controllers()) {
    if (id != options.node && lacks(controller.features)) {
      return "controller " + std::to_string(id.value()) + " does not support level " + std::to_string(wanted) + " of " + name;
    }
  }
  const bool of_quorum = name == kKRaftVersion;
  const std::int16_t now = of_quorum ? range->initial_level : image().feature_level(name);
  if (wanted == now) {
    return std::nullopt;
  }
  if ((wanted < now) == (type == kUpgrade)) {
    return name + " is at level " + std::to_string(now) +
           (wanted < now ? "; a lower one needs a downgrade type" : "; a higher one is no downgrade");
  }
  if (wanted < now && name == "metadata.version") {
    if (std::optional<std::string> why = metadata_downgrade_error(now, wanted, type)) {
      return why;
    }
  } else if (wanted < now && name != kElrVersion && name != kGroupVersion && name != kTransactionVersion) {
    return name + " cannot go back from level " + std::to_string(now) + ": what was written at it would be lost";
  }
  wire::FeatureLevelRecord record;
  record.name = name;
  record.feature_level = wanted;
  records.emplace_back(std::move(record));
  if (name == kElrVersion && wanted == 0) {
    records.emplace_back(wire::ClearElrRecord{});  // of all topics: nobody keeps them up any more
  } else if (name == kElrVersion) {
    for (Record& config : records_for_elr()) {
      records.push_back(std::move(config));
    }
  }
  return std::nullopt;
}

void Controller::update_features(const wire::UpdateFeaturesRequest& request, std::int16_t version,
                                 Done<wire::UpdateFeaturesResponse> done) {
  constexpr std::int16_t kTypesFrom = 1;
  constexpr std::int16_t kNoResultsFrom = 2;
  wire::UpdateFeaturesResponse response;
  response.error_message.reset();
  wire::UpdateFeaturesResponse failure;
  failure.error_code = ErrorCode::not_controller;
  std::vector<Record> records;
  for (const auto& update : request.feature_updates) {
    // Before there were types, a downgrade could not be asked for in a way that Kafka 4.4 grants.
    const std::int8_t type = version < kTypesFrom ? std::int8_t{kUpgrade} : update.upgrade_type;
    if (std::optional<std::string> why = impl_->feature_error(update.feature, update.max_version_level, type, records)) {
      response.error_code = ErrorCode::invalid_update_version;
      response.error_message = "no feature was changed: " + *why;
      response.results.clear();
      records.clear();
      break;
    }
    if (version < kNoResultsFrom) {
      auto& result = response.results.emplace_back();
      result.feature = update.feature;
      result.error_message = "NONE";
    }
  }
  if (request.validate_only) {
    records.clear();
  }
  impl_->finish(std::move(records), std::move(response), std::move(failure), std::move(done));
}

}  // namespace hw::metadata
