// SPDX-License-Identifier: Apache-2.0
#include "engine/broker/broker.h"

#include <algorithm>
#include <utility>

#include "engine/broker/broker_impl.h"

namespace hw::broker {

namespace {

bool internal_topic(std::string_view name) noexcept {
  return name == "__consumer_offsets" || name == "__transaction_state" || name == "__share_group_state";
}

}  // namespace

Broker::Impl::Resolved Broker::Impl::resolve(std::string_view name, const Uuid& id, bool by_topic_id,
                                             PartitionIndex index) {
  Resolved result;
  result.partition = at(by_topic_id ? hosted(id) : hosted(name), index);
  if (result.partition != nullptr) {
    return result;
  }
  const metadata::TopicImage* topic = by_topic_id ? image->find_topic(id) : image->find_topic(name);
  if (topic == nullptr) {
    result.error = by_topic_id ? ErrorCode::unknown_topic_id : ErrorCode::unknown_topic_or_partition;
  } else if (index.value() < 0 || static_cast<std::size_t>(index.value()) >= topic->partitions.size()) {
    result.error = ErrorCode::unknown_topic_or_partition;
  } else {
    result.elsewhere = &topic->partitions[static_cast<std::size_t>(index.value())];
  }
  return result;
}

void Broker::Impl::drop_partition(HostedTopic& topic, PartitionIndex index, std::vector<Error>& errors) {
  auto& slot = topic.partitions[static_cast<std::size_t>(index.value())];
  if (slot == nullptr) {
    return;
  }
  wake_all(*slot);
  fetchers.unfollow(*slot);
  slot.reset();
  if (logs.find(topic.facts.id, index) != nullptr) {
    if (Result<void> deleted = logs.delete_log(topic.facts.id, index); !deleted) {
      errors.push_back(deleted.error());
    }
  }
}

HostedTopic& Broker::Impl::ensure_topic(const metadata::TopicImage& topic) {
  if (HostedTopic* known = hosted(topic.id)) {
    return *known;
  }
  auto made = std::make_unique<HostedTopic>();
  made->facts.name = topic.name;
  made->facts.id = topic.id;
  made->facts.internal = internal_topic(topic.name);
  made->facts.settings = settings_of(topic.name);
  HostedTopic& result = *made;
  by_id.emplace(topic.id, made.get());
  by_name.insert_or_assign(topic.name, std::move(made));
  return result;
}

void Broker::Impl::apply_partition(const metadata::TopicImage& image_topic, PartitionIndex index, bool created,
                                   Now now, std::vector<Error>& errors) {
  const metadata::PartitionImage& wanted = image_topic.partitions[static_cast<std::size_t>(index.value())];
  HostedTopic& topic = ensure_topic(image_topic);
  if (topic.partitions.size() < image_topic.partitions.size()) {
    topic.partitions.resize(image_topic.partitions.size());
  }
  auto& slot = topic.partitions[static_cast<std::size_t>(index.value())];
  const bool held =
      std::find(wanted.replicas.begin(), wanted.replicas.end(), options.node) != wanted.replicas.end();
  if (!held) {
    drop_partition(topic, index, errors);
    return;
  }
  if (slot == nullptr) {
    log::PartitionLog* log = logs.find(topic.facts.id, index);
    if (log == nullptr) {
      Result<log::PartitionLog*> made =
          logs.create_log({topic.facts.name, index, topic.facts.id}, topic.facts.settings.log, now.wall, created);
      if (made) {
        log = *made;
      } else {
        errors.push_back(made.error());
        if (created) {
          not_made.emplace(topic.facts.id, index);
          make_again_at = std::min(make_again_at, now.instant + kMakeAgain);
        }
      }
    }
    slot = std::make_unique<Partition>(topic.facts, index, replicas, log);
  }
  const Partition::Applied applied = slot->apply(wanted, now.instant);
  if (applied.role_changed) {
    wake_all(*slot);
    follow(*slot, now.instant);
    awaiting = awaiting || (slot->is_leader() && wanted.replicas.size() > 1);
  } else if (applied.watermark_moved) {
    watermark_moved(*slot, now.instant);
  }
}

// In Kafka the whole directory is offline then, and a broker without another one ends. So it is here where other nodes could serve; but a
// node that is alone goes on when its disk does, and that must hold for a partition that was to be made meanwhile as well. New ones only:
// they have nothing yet that somebody could have missed.
void Broker::Impl::make_again(Now now) {
  if (now.instant < make_again_at) {
    return;
  }
  make_again_at = kNever;
  for (const auto& [id, index] : std::exchange(not_made, {})) {
    HostedTopic* topic = hosted(id);
    const metadata::TopicImage* known = image->find_topic(id);
    Partition* before = at(topic, index);
    if (known == nullptr || before == nullptr || before->log() != nullptr) {
      continue;
    }
    wake_all(*before);
    fetchers.unfollow(*before);
    topic->partitions[static_cast<std::size_t>(index.value())].reset();
    std::vector<Error> errors;  // told already
    apply_partition(*known, index, true, now, errors);
  }
  if (std::exchange(awaiting, false)) {
    hurry_awaited(now.instant);
  }
}

std::vector<Error> Broker::Impl::apply(metadata::ImagePtr next, const metadata::MetadataDelta& delta, Now now) {
  std::vector<Error> errors;
  image = std::move(next);
  replicas.image = image.get();
  for (const metadata::MetadataDelta::DeletedTopic& deleted : delta.topics_deleted) {
    HostedTopic* topic = hosted(deleted.topic_id);
    if (topic == nullptr) {
      continue;
    }
    for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
      drop_partition(*topic, PartitionIndex(static_cast<std::int32_t>(i)), errors);
    }
    by_id.erase(deleted.topic_id);
    const auto named = by_name.find(deleted.name);
    if (named != by_name.end() && named->second.get() == topic) {
      by_name.erase(named);
    }
  }
  for (const metadata::MetadataDelta::PartitionRef& changed : delta.partitions_changed) {
    const metadata::TopicImage* topic = image->find_topic(changed.topic_id);
    if (topic != nullptr && static_cast<std::size_t>(changed.partition.value()) < topic->partitions.size()) {
      apply_partition(*topic, changed.partition, changed.created, now, errors);
    }
  }
  bool all_topics = false;
  for (const metadata::MetadataDelta::ConfigChange& change : delta.configs_changed) {
    if (change.resource.type == metadata::ConfigResourceType::topic) {
      if (HostedTopic* topic = hosted(change.resource.name)) {
        refresh_settings(*topic);
      }
    } else if (change.resource.type == metadata::ConfigResourceType::broker) {
      all_topics = true;  // defaults of topics that do not set the key themselves
    }
  }
  if (all_topics) {
    for (const auto& [name, topic] : image->topics()) {
      if (HostedTopic* here = hosted(topic->id)) {
        refresh_settings(*here);
      }
    }
  }
  if (!delta.brokers_changed.empty()) {
    brokers_changed(now.instant);
  }
  if (std::exchange(awaiting, false)) {
    hurry_awaited(now.instant);
  }
  return errors;
}

void Broker::Impl::refresh_settings(HostedTopic& topic) {
  topic.facts.settings = settings_of(topic.facts.name);
  for (const auto& partition : topic.partitions) {
    if (partition != nullptr && partition->log() != nullptr) {
      partition->log()->set_config(topic.facts.settings.log);
    }
  }
}

Broker::Broker(BrokerOptions options, log::LogManager& logs, event::EventSink* events,
               std::shared_ptr<event::NodeCounters> counters, SettingsOf settings_of, Prng prng)
    : impl_(std::make_unique<Impl>(std::move(options), logs, events,
                                   counters != nullptr ? std::move(counters) : std::make_shared<event::NodeCounters>(),
                                   std::move(settings_of), prng)) {}
Broker::~Broker() = default;

std::vector<Error> Broker::apply(metadata::ImagePtr image, const metadata::MetadataDelta& delta, Now now) {
  impl_->replicas.note_time(now);
  return impl_->apply(std::move(image), delta, now);
}
void Broker::produce(const ProduceCaller& caller, wire::ProduceRequest& request, Now now, BrokerOutputs& out) {
  impl_->replicas.note_time(now);
  impl_->produce(caller, request, now, out);
}
void Broker::fetch(const Ticket& ticket, const wire::FetchRequest& request, std::int16_t version, Now now,
                   BrokerOutputs& out) {
  impl_->replicas.note_time(now);
  impl_->fetch(ticket, request, version, now, out);
}
void Broker::delete_records(const Ticket& ticket, const wire::DeleteRecordsRequest& request, Now now, BrokerOutputs& out) {
  impl_->replicas.note_time(now);
  impl_->delete_records(ticket, request, now, out);
}

void Broker::append_internal(const std::string& topic, PartitionIndex partition, Bytes batch, Now now, Committed done,
                             const log::TransactionTerms& transaction) {
  impl_->append_internal(topic, partition, std::move(batch), now, std::move(done), transaction);
}

Broker::TransactionQuestion Broker::transaction_question(const ProduceCaller& caller, const wire::ProduceRequest& request, Now now) {
  return impl_->transaction_question(caller, request, now);
}
void Broker::await_committed(const std::string& topic, PartitionIndex partition, Offset end, Committed done) {
  impl_->await_committed(topic, partition, end, std::move(done));
}
void Broker::settle(Now now, BrokerOutputs& out) { impl_->settle(now, out); }
void Broker::tick(Now now, BrokerOutputs& out) { impl_->tick(now, out); }
Instant Broker::next_deadline() const noexcept {
  if (!impl_->woken.empty() || !impl_->internal_done.empty()) {
    return Instant{};
  }
  const Parked* first = impl_->heap.earliest();
  return std::min(first == nullptr ? kNever : first->deadline, impl_->peer_deadline());
}
void Broker::disconnected(ConnectionId connection) {
  const auto it = impl_->by_connection.find(connection);
  if (it != impl_->by_connection.end()) {
    impl_->leave(*it->second);
  }
}
Partition* Broker::find(std::string_view topic, PartitionIndex partition) noexcept {
  return Impl::at(impl_->hosted(topic), partition);
}
Partition* Broker::find(const Uuid& topic_id, PartitionIndex partition) noexcept {
  return Impl::at(impl_->hosted(topic_id), partition);
}
void Broker::logs_moved(const std::vector<log::Moved>& moved) {
  for (const log::Moved& one : moved) {
    if (Partition* partition = find(one.topic_id, one.partition)) {
      partition->set_log(impl_->logs.find(one.topic_id, one.partition));
      impl_->wake_all(*partition);
    }
  }
}
void Broker::log_flushed(const Uuid& topic_id, PartitionIndex index, Now now) {
  Partition* partition = find(topic_id, index);
  if (partition != nullptr) {
    impl_->fetchers.log_flushed(*partition);
  }
  if (partition != nullptr && (partition->maybe_advance_high_watermark(now.instant) || !partition->produces.empty())) {
    impl_->wake_all(*partition);
  }
}
log::LogManager& Broker::logs() noexcept { return impl_->logs; }
std::size_t Broker::parked() const noexcept { return impl_->heap.size(); }
const FetchSessionCache& Broker::sessions() const noexcept { return impl_->sessions; }

}  // namespace hw::broker
