// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "engine/api/node_impl.h"
#include "engine/api/transaction_detail.h"

namespace hw::api {

template <class Visit>
Result<void> NodeCore::Impl::read_log(log::PartitionLog& log, Offset end, Visit visit) {
  constexpr std::int64_t kChunk = 4 << 20;
  read_to = log.log_start_offset();
  while (read_to < end) {
    const log::ReadOutcome outcome = log.read({read_to, kChunk, true, log::ReadIsolation::log_end});
    if (outcome.error != wire::ErrorCode::none) {
      return fail(Errc::corrupt, "cannot read " + log.directory() + " at offset " + std::to_string(read_to.value()) +
                                     ": " + std::string(wire::error_name(outcome.error)));
    }
    const Bytes bytes = outcome.records.flatten();
    std::size_t used = 0;
    const Offset before = read_to;
    HW_CHECK(visit(bytes, used));
    if (used == 0 || read_to <= before) {
      return fail(Errc::corrupt, "no whole batch in " + log.directory() + " at offset " + std::to_string(before.value()));
    }
  }
  return {};
}

void NodeCore::Impl::configs_changed() {
  in_force = std::make_shared<const metadata::BrokerConfigs>(configs->with_dynamic(*image(), options_.node));
  verify_transactions = in_force->flag("transaction.partition.verification.enable");
  if (coordinator) {
    coordinator->set_config(group_config(*in_force));
  }
  logs->set_delete_delay(in_force->number("log.segment.delete.delay.ms"));
  logs->set_cordoned(in_force->list("cordoned.log.dirs"));
  limits.configure(*in_force);
  client_telemetry.configure(static_cast<std::int32_t>(in_force->number("telemetry.max.bytes")));
  client_telemetry.set_subscriptions(*image());
  client_quotas.set(image()->client_quotas());
  limits.set_quotas(image()->client_quotas());
}

std::optional<log::LogConfig> NodeCore::Impl::wanted(const log::LogIdentity& identity) {
  const metadata::PartitionImage* partition = image()->find_partition(identity.topic_id, identity.partition);
  if (partition == nullptr || std::find(partition->replicas.begin(), partition->replicas.end(), options_.node) ==
                                  partition->replicas.end()) {
    return std::nullopt;
  }
  // Directories come sorted: the partitions of a topic one after the other, all with the same configuration.
  if (!wanted_config || wanted_topic != identity.topic) {
    wanted_topic = identity.topic;
    wanted_config = settings_of(identity.topic).log;
  }
  return wanted_config;
}

void NodeCore::Impl::published(const metadata::ControlPlane::Published& change) {
  link->image_published(*change.image);
  if (!opened) {
    return;  // one delta of everything follows when the logs are opened
  }
  const auto of_brokers = [](const metadata::MetadataDelta::ConfigChange& config) {
    return config.resource.type == metadata::ConfigResourceType::broker;
  };
  if (std::any_of(change.delta.configs_changed.begin(), change.delta.configs_changed.end(), of_brokers)) {
    configs_changed();
  }
  const auto of_client_metrics = [](const metadata::MetadataDelta::ConfigChange& config) {
    return config.resource.type == metadata::ConfigResourceType::client_metrics;
  };
  if (std::any_of(change.delta.configs_changed.begin(), change.delta.configs_changed.end(), of_client_metrics)) {
    client_telemetry.set_subscriptions(*change.image);
  }
  if (change.delta.client_quotas_changed) {
    client_quotas.set(change.image->client_quotas());
    limits.set_quotas(change.image->client_quotas());
  }
  for (const Error& error : the_broker->apply(change.image, change.delta, broker_now())) {
    // That partition answers KAFKA_STORAGE_ERROR; everything else goes on.
    emit(event::RequestRefused{ConnectionId(0), -1, -1,
                               static_cast<std::int16_t>(wire::ErrorCode::kafka_storage_error), error.detail});
  }
  place(change.delta.partitions_changed);
  coordinator->set_image(change.image, change.delta);
  transaction_coordinator->set_image(change.image, group_now(now_));
  std::vector<std::string> deleted;
  bool offsets_changed = false;
  bool transactions_changed = false;
  for (const metadata::MetadataDelta::DeletedTopic& topic : change.delta.topics_deleted) {
    deleted.push_back(topic.name);
    offsets_changed = offsets_changed || topic.name == kGroupTopic;
    transactions_changed = transactions_changed || topic.name == kTransactionTopic;
  }
  for (const metadata::MetadataDelta::PartitionRef& partition : change.delta.partitions_changed) {
    offsets_changed = offsets_changed || partition.topic == kGroupTopic;
    transactions_changed = transactions_changed || partition.topic == kTransactionTopic;
  }
  if (offsets_changed) {
    lead_groups(*change.image);
  }
  if (transactions_changed) {
    lead_transactions(*change.image);
  }
  if (!deleted.empty()) {
    coordinator->topics_deleted(deleted, group_now(now_));
  }
}

void NodeCore::Impl::place(const std::vector<metadata::MetadataDelta::PartitionRef>& partitions) {
  if (options_.more_directories.empty()) {
    return;  // the controller knows the only one
  }
  for (const metadata::MetadataDelta::PartitionRef& changed : partitions) {
    if (const metadata::PartitionImage* partition = image()->find_partition(changed.topic_id, changed.partition)) {
      place(*partition, changed.topic_id, changed.partition);
    }
  }
}

void NodeCore::Impl::place(const metadata::PartitionImage& partition, const Uuid& topic_id, PartitionIndex index) {
  const auto at = std::find(partition.replicas.begin(), partition.replicas.end(), options_.node);
  const Uuid lies_in = logs->directory_of(topic_id, index);
  if (at != partition.replicas.end() && lies_in != Uuid{} &&
      partition.directories[static_cast<std::size_t>(at - partition.replicas.begin())] != lies_in) {
    link->assign_directory(topic_id, index, lies_in);
  }
}

void NodeCore::Impl::lead_groups(const metadata::MetadataImage& current) {
  const metadata::TopicImage* topic = current.find_topic(kGroupTopic);
  std::set<PartitionIndex> leading;
  if (topic != nullptr) {
    coordinator->set_partition_count(static_cast<std::int32_t>(topic->partitions.size()));
    for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
      if (topic->partitions[i].leader == options_.node) {
        leading.insert(PartitionIndex(static_cast<std::int32_t>(i)));
      }
    }
  }
  for (auto it = led_group_partitions.begin(); it != led_group_partitions.end();) {
    if (!leading.contains(*it)) {
      coordinator->unload(*it, group_now(now_));
      it = led_group_partitions.erase(it);
    } else {
      ++it;
    }
  }
  for (const PartitionIndex partition : leading) {
    if (!led_group_partitions.insert(partition).second) {
      continue;
    }
    coordinator->begin_load(partition);
    const broker::Partition* replica = the_broker->find(kGroupTopic, partition);
    std::vector<UncommittedBatch> uncommitted;
    if (replica != nullptr && replica->log() != nullptr) {
      const Offset high_watermark = replica->log()->high_watermark();
      const Result<void> loaded =
          read_log(*replica->log(), replica->log()->log_end_offset(),
                   [&](const Bytes& batches, std::size_t& used) -> Result<void> {
                     HW_TRY(const Offset next, load_group_batches(*coordinator, partition, batches, high_watermark, now_, uncommitted));
                     if (next != kNoOffset) {
                       read_to = next;
                       used = batches.size();
                     }
                     return {};
                   });
      if (!loaded) {
        // What could be read is there; the groups beyond start anew, as after a lost offsets partition.
        emit(event::RequestRefused{ConnectionId(0), -1, -1, static_cast<std::int16_t>(wire::ErrorCode::corrupt_message),
                                   loaded.error().detail});
      }
    }
    coordinator->end_load(partition, group_now(now_));
    for (const UncommittedBatch& batch : uncommitted) {
      the_broker->await_committed(kGroupTopic, partition, batch.end, told_committed(batch.id));
    }
  }
}

broker::Broker::Committed NodeCore::Impl::told_committed(groups::AppendId id) {
  return [this, id](wire::ErrorCode error) { coordinator->on_committed(id, error, group_now(now_)); };
}

bool NodeCore::Impl::pump_groups() {
  if (!coordinator->has_outputs()) {
    return false;
  }
  groups::Outputs outputs = coordinator->take();
  for (event::Any& event : outputs.events) {
    emit(std::move(event));
  }
  for (groups::Outputs::Append& append : outputs.appends) {
    if (!coordinator->pending(append.id)) {
      continue;  // fell with an earlier one of its partition
    }
    const log::TransactionTerms terms{append.transaction && verifies_transactions(), append.transaction ? append.transaction->verification : 0,
                                      append.marker ? append.marker->transaction_version : std::int8_t{0}};
    the_broker->append_internal(kGroupTopic, append.partition, group_batch(append, now_.wall), broker_now(), told_committed(append.id), terms);
  }
  return true;
}

// A leader that is elected anew coordinates in a new epoch, also where it was the leader before.
void NodeCore::Impl::lead_transactions(const metadata::MetadataImage& current) {
  const metadata::TopicImage* topic = current.find_topic(kTransactionTopic);
  std::map<PartitionIndex, LeaderEpoch> leading;
  if (topic != nullptr) {
    transaction_coordinator->set_partition_count(static_cast<std::int32_t>(topic->partitions.size()));
    for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
      if (topic->partitions[i].leader == options_.node) {
        leading.emplace(PartitionIndex(static_cast<std::int32_t>(i)), topic->partitions[i].leader_epoch);
      }
    }
  }
  for (auto it = led_transaction_partitions.begin(); it != led_transaction_partitions.end();) {
    const auto still = leading.find(it->first);
    if (still == leading.end() || still->second != it->second) {
      transaction_coordinator->unload(it->first, group_now(now_));
      it = led_transaction_partitions.erase(it);
    } else {
      ++it;
    }
  }
  for (const auto& [partition, epoch] : leading) {
    if (!led_transaction_partitions.emplace(partition, epoch).second) {
      continue;
    }
    transaction_coordinator->begin_load(partition, epoch);
    const broker::Partition* replica = the_broker->find(kTransactionTopic, partition);
    if (replica == nullptr || replica->log() == nullptr) {
      continue;  // its disk failed: it goes on to another leader, or stays as if it were being loaded
    }
    const Offset end = replica->log()->log_end_offset();
    const Result<void> loaded = read_log(*replica->log(), end, [&](const Bytes& batches, std::size_t& used) -> Result<void> {
      HW_TRY(const Offset next, load_transaction_batches(*transaction_coordinator, partition, batches));
      if (next != kNoOffset) {
        read_to = next;
        used = batches.size();
      }
      return {};
    });
    if (!loaded) {
      // What could be read is there; ids beyond begin anew, as after a lost partition.
      emit(event::RequestRefused{ConnectionId(0), -1, -1, static_cast<std::int16_t>(wire::ErrorCode::corrupt_message), loaded.error().detail});
    }
    the_broker->await_committed(kTransactionTopic, partition, end, [this, at = partition, in = epoch](wire::ErrorCode error) {
      if (error == wire::ErrorCode::none) {
        transaction_coordinator->end_load(at, in, group_now(now_));
      }
    });
  }
}

bool NodeCore::Impl::pump_transactions() {
  if (!transaction_coordinator->has_outputs(group_now(now_))) {
    return false;
  }
  txn::Outputs outputs = transaction_coordinator->take(group_now(now_));
  for (txn::Outputs::Append& append : outputs.appends) {
    the_broker->append_internal(kTransactionTopic, append.partition, record_batch(append.records, now_.wall), broker_now(),
                                [this, id = append.id](wire::ErrorCode error) { transaction_coordinator->on_committed(id, error, group_now(now_)); });
  }
  for (txn::MarkerRequest& request : outputs.markers) {
    send_markers(std::move(request));
  }
  return true;
}

void NodeCore::Impl::send_markers(txn::MarkerRequest request) {
  const auto done = [this, id = request.id](Result<wire::WriteTxnMarkersResponse> response) {
    if (response) {
      transaction_coordinator->markers_answered(id, *response, group_now(now_));
    } else {
      transaction_coordinator->markers_failed(id, group_now(now_));
    }
  };
  if (request.broker == options_.node) {
    write_markers(*this, request.request, done);
    return;
  }
  const std::int16_t version = wire::WriteTxnMarkersRequest::kHighestVersion;
  link->ask_broker<wire::WriteTxnMarkersResponse>(request.broker, request.request, version, kPeerRequestTimeout, done);
}

void NodeCore::Impl::ask_coordinator(BrokerId broker, const wire::AddPartitionsToTxnRequest& request,
                                     std::function<void(Result<wire::AddPartitionsToTxnResponse>)> done) {
  const std::int16_t version = wire::AddPartitionsToTxnRequest::kHighestVersion;
  link->ask_broker<wire::AddPartitionsToTxnResponse>(broker, request, version, kPeerRequestTimeout, std::move(done));
}

}  // namespace hw::api
