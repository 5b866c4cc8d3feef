// SPDX-License-Identifier: Apache-2.0
#include "engine/txn/marker_queue.h"

#include <algorithm>
#include <utility>

namespace hw::txn {
namespace {

using wire::ErrorCode;

constexpr Duration kAgainAfter = milliseconds(50);

// What of a broker's word about one partition.
enum class Verdict : std::uint8_t { written, fenced, again };

Verdict verdict(ErrorCode error) noexcept {
  switch (error) {
    case ErrorCode::none:
    case ErrorCode::unsupported_for_message_format:
      return Verdict::written;
    case ErrorCode::invalid_producer_epoch:
    case ErrorCode::transaction_coordinator_fenced:
      return Verdict::fenced;
    default:
      return Verdict::again;
  }
}

}  // namespace

void MarkerQueue::add(const Ending& ending, const Partitions& partitions, const metadata::MetadataImage& image) {
  for (const TopicPartition& one : partitions) {
    const metadata::TopicImage* topic = image.find_topic(one.topic);
    if (topic == nullptr || one.partition.value() < 0 || static_cast<std::size_t>(one.partition.value()) >= topic->partitions.size()) {
      settled_(ending, one, Result::not_needed);
      continue;
    }
    const BrokerId leader = topic->partitions[static_cast<std::size_t>(one.partition.value())].leader;
    const metadata::BrokerImage* broker = leader == kNoBroker ? nullptr : image.find_broker(leader);
    Markers& where = broker == nullptr || broker->fenced ? homeless_ : brokers_[leader].waiting;
    where[ending].insert(one);
  }
}

void MarkerQueue::forget(PartitionIndex shard) {
  const auto of_shard = [shard](const auto& entry) { return entry.first.shard == shard; };
  std::erase_if(homeless_, of_shard);
  for (auto& [broker, destination] : brokers_) {
    std::erase_if(destination.waiting, of_shard);
  }
  for (auto& [id, sent] : sent_) {
    std::erase_if(sent.markers, of_shard);
  }
}

void MarkerQueue::image_changed(const metadata::MetadataImage& image) {
  if (!homeless_.empty()) {
    again(std::exchange(homeless_, {}), image, Instant{});
  }
  for (auto destination = brokers_.begin(); destination != brokers_.end();) {
    const metadata::BrokerImage* broker = image.find_broker(destination->first);
    if (broker != nullptr && !broker->fenced) {
      ++destination;
      continue;
    }
    Markers waiting = std::exchange(destination->second.waiting, {});
    destination = destination->second.asked ? std::next(destination) : brokers_.erase(destination);
    again(std::move(waiting), image, Instant{});
  }
}

void MarkerQueue::again(Markers markers, const metadata::MetadataImage& image, Instant not_before) {
  for (const auto& [ending, partitions] : markers) {
    add(ending, partitions, image);
  }
  for (auto& [broker, destination] : brokers_) {
    if (!destination.waiting.empty()) {
      destination.not_before = std::max(destination.not_before, not_before);
    }
  }
}

bool MarkerQueue::has_requests(Instant now) const {
  return std::any_of(brokers_.begin(), brokers_.end(),
                     [now](const auto& entry) { return !entry.second.asked && !entry.second.waiting.empty() && entry.second.not_before <= now; });
}

Instant MarkerQueue::next_deadline() const {
  Instant earliest = kNever;
  for (const auto& [broker, destination] : brokers_) {
    if (!destination.asked && !destination.waiting.empty()) {
      earliest = std::min(earliest, destination.not_before);
    }
  }
  return earliest;
}

std::vector<MarkerRequest> MarkerQueue::take(Instant now) {
  std::vector<MarkerRequest> requests;
  for (auto& [broker, destination] : brokers_) {
    if (destination.asked || destination.waiting.empty() || destination.not_before > now) {
      continue;
    }
    destination.asked = true;
    MarkerRequest& out = requests.emplace_back();
    out.id = ++last_id_;
    out.broker = broker;
    for (const auto& [ending, partitions] : destination.waiting) {
      auto& marker = out.request.markers.emplace_back();
      marker.producer_id = ending.producer_id;
      marker.producer_epoch = ending.epoch;
      marker.transaction_result = ending.commit;
      marker.coordinator_epoch = ending.coordinator_epoch.value();
      marker.transaction_version = static_cast<std::int8_t>(ending.version);
      for (const TopicPartition& one : partitions) {
        if (marker.topics.empty() || marker.topics.back().name != one.topic) {
          marker.topics.emplace_back().name = one.topic;
        }
        marker.topics.back().partition_indexes.push_back(one.partition);
      }
    }
    sent_.emplace(out.id, Sent{broker, std::exchange(destination.waiting, {})});
  }
  return requests;
}

void MarkerQueue::answered(std::uint64_t id, const wire::WriteTxnMarkersResponse& response, const metadata::MetadataImage& image, Instant now) {
  const auto found = sent_.find(id);
  if (found == sent_.end()) {
    return;
  }
  Sent sent = std::move(found->second);
  sent_.erase(found);
  Destination& destination = brokers_[sent.broker];
  destination.asked = false;
  std::map<std::pair<ProducerId, TopicPartition>, ErrorCode> said;
  for (const auto& marker : response.markers) {
    for (const auto& topic : marker.topics) {
      for (const auto& partition : topic.partitions) {
        said[{marker.producer_id, {topic.name, partition.partition_index}}] = partition.error_code;
      }
    }
  }
  Markers left;
  for (const auto& [ending, partitions] : sent.markers) {
    for (const TopicPartition& one : partitions) {
      const auto word = said.find({ending.producer_id, one});
      const Verdict judged = word == said.end() ? Verdict::again : verdict(word->second);
      if (judged == Verdict::again) {
        left[ending].insert(one);
      } else {
        settled_(ending, one, judged == Verdict::written ? Result::written : Result::fenced);
      }
    }
  }
  if (!left.empty()) {
    again(std::move(left), image, now + kAgainAfter);
  }
}

void MarkerQueue::failed(std::uint64_t id, const metadata::MetadataImage& image, Instant now) {
  answered(id, {}, image, now);
}

}  // namespace hw::txn
