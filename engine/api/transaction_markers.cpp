// SPDX-License-Identifier: Apache-2.0
// WriteTxnMarkers: a coordinator's word that a transaction has ended, written to every partition of it. In __consumer_offsets the
// group coordinator writes it, because offsets count, or are forgotten, with it.
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/api/transaction_detail.h"
#include "engine/broker/broker.h"
#include "engine/wire/record/batch_builder.h"

namespace hw::api {
namespace {

using wire::ErrorCode;

// The answer, until each partition has said what became of its marker.
struct Writing {
  wire::WriteTxnMarkersResponse response;
  std::size_t open = 1;  // whoever is still asking
  std::function<void(wire::WriteTxnMarkersResponse)> done;

  void settled() {
    if (--open == 0) {
      done(std::move(response));
    }
  }
};

bool exists(const metadata::MetadataImage& image, const std::string& name, PartitionIndex partition) {
  const metadata::TopicImage* topic = image.find_topic(name);
  return topic != nullptr && partition.value() >= 0 && static_cast<std::size_t>(partition.value()) < topic->partitions.size();
}

}  // namespace

void write_markers(Node& node, const wire::WriteTxnMarkersRequest& request, const std::function<void(wire::WriteTxnMarkersResponse)>& done) {
  const auto writing = std::make_shared<Writing>();
  writing->done = done;
  // The whole answer first, so that places in it stay where they are.
  for (const auto& marker : request.markers) {
    auto& of_marker = writing->response.markers.emplace_back();
    of_marker.producer_id = marker.producer_id;
    for (const auto& topic : marker.topics) {
      auto& of_topic = of_marker.topics.emplace_back();
      of_topic.name = topic.name;
      for (const PartitionIndex partition : topic.partition_indexes) {
        auto& answer = of_topic.partitions.emplace_back();
        answer.partition_index = partition;
        answer.error_code = ErrorCode::unknown_topic_or_partition;
      }
    }
  }
  for (std::size_t m = 0; m < request.markers.size(); ++m) {
    const auto& marker = request.markers[m];
    for (std::size_t t = 0; t < marker.topics.size(); ++t) {
      const auto& topic = marker.topics[t];
      for (std::size_t p = 0; p < topic.partition_indexes.size(); ++p) {
        const PartitionIndex partition = topic.partition_indexes[p];
        if (!exists(*node.image(), topic.name, partition)) {
          continue;
        }
        ++writing->open;
        const auto written = [writing, m, t, p](ErrorCode error) {
          writing->response.markers[m].topics[t].partitions[p].error_code = error;
          writing->settled();
        };
        if (topic.name == kGroupTopic) {
          node.groups().complete_transaction(
              partition, {marker.producer_id, marker.producer_epoch, marker.coordinator_epoch, marker.transaction_result, marker.transaction_version},
              group_now(node.now()), written);
        } else {
          node.broker().append_internal(topic.name, partition,
                                        wire::end_txn_marker_batch(marker.transaction_result, marker.coordinator_epoch, marker.producer_id,
                                                                   marker.producer_epoch, node.now().wall.ms),
                                        {node.now().instant, node.now().wall}, written, {false, 0, marker.transaction_version});
        }
      }
    }
  }
  writing->settled();
}

void handle_write_txn_markers(Node& node, const RequestContext& context, wire::WriteTxnMarkersRequest& request) {
  write_markers(node, request, [&node, token = context.token](const wire::WriteTxnMarkersResponse& response) { node.reply(token, response); });
}

}  // namespace hw::api
