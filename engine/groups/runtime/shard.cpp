// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/runtime/shard.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/assert.h"
#include "engine/base/trial.h"

namespace hw::groups {
namespace {

// A position that moves on is in the counters; an event again only so often.
constexpr Duration kTellAgain = seconds(1);

// A batch of many tombstones, well below the least max.message.bytes that anybody would set for the
// offsets topic.
constexpr std::size_t kPieceBytes = 256U << 10U;
constexpr std::size_t kRecordOverheadMaxBytes = 21;  // lengths, attributes, deltas

// Loaded values are slices of whole log reads, which must not stay in memory for one record.
std::optional<Bytes> kept(const std::optional<Bytes>& value) {
  return value ? std::optional<Bytes>(Bytes::copy_of(value->span())) : std::nullopt;
}

}  // namespace

wire::ErrorCode coordinator_error(wire::ErrorCode append_error) noexcept {
  using wire::ErrorCode;
  if (append_error == ErrorCode::unknown_topic_or_partition ||
      append_error == ErrorCode::not_enough_replicas ||
      append_error == ErrorCode::request_timed_out) {
    return ErrorCode::coordinator_not_available;
  }
  if (append_error == ErrorCode::not_leader_or_follower ||
      append_error == ErrorCode::kafka_storage_error) {
    return ErrorCode::not_coordinator;
  }
  if (append_error == ErrorCode::message_too_large ||
      append_error == ErrorCode::record_list_too_large ||
      append_error == ErrorCode::invalid_fetch_size) {
    return ErrorCode::unknown_server_error;
  }
  return append_error;
}

bool Shard::load(const Record& record, ProducerId producer) {
  HW_ASSERT(loading_, "records are loaded before the shard is active");
  return replay(record, loading_as_, producer);
}

void Shard::load_marker(ProducerId producer, bool commit) {
  HW_ASSERT(loading_, "records are loaded before the shard is active");
  replay_marker(producer, commit, loading_as_);
}

AppendId Shard::load_uncommitted() {
  loading_as_ = next_append(runtime_.last_append, partition_);
  runtime_.last_append = loading_as_;
  open_.push_back({loading_as_, false, [](wire::ErrorCode, Now) {}});
  return loading_as_;
}

bool Shard::replay(const Record& record, AppendId epoch, ProducerId producer) {
  std::optional<RecordKey> key = decode_key(record.key);
  if (!key) {
    return false;
  }
  if (auto* offset_key = std::get_if<OffsetKey>(&*key)) {
    std::optional<CommittedOffset> next;
    if (record.value) {
      std::optional<wire::OffsetCommitValue> value = decode_offset_value(*record.value);
      if (!value) {
        return false;
      }
      next = CommittedOffset{value->offset.value(),
                             value->leader_epoch.value(),
                             std::move(value->metadata),
                             value->commit_timestamp,
                             value->expire_timestamp,
                             value->topic_id,
                             ++last_order_};
    }
    replay_offset(std::move(*offset_key), std::move(next), epoch, producer);
  } else if (auto* group_key = std::get_if<GroupKey>(&*key)) {
    if (record.value && !decode_group_value(*record.value)) {
      return false;
    }
    if (epoch == 0) {
      group_records_.set_committed(group_key->group, kept(record.value));
    } else {
      group_records_.set(epoch, group_key->group, loading_ ? kept(record.value) : record.value);
    }
  } else if (auto* consumer_key = std::get_if<ConsumerKey>(&*key)) {
    std::optional<std::shared_ptr<const ConsumerValue>> next;
    if (record.value) {
      std::optional<ConsumerValue> value = decode_consumer_value(consumer_key->kind, *record.value);
      if (!value) {
        return false;
      }
      next = std::make_shared<const ConsumerValue>(std::move(*value));
    }
    if (!loading_) {  // loaded groups are built when all is there
      change_consumer(*consumer_key, next ? next->get() : nullptr);
    }
    if (epoch == 0) {
      consumer_records_.set_committed(*consumer_key, std::move(next));
    } else {
      consumer_records_.set(epoch, *consumer_key, std::move(next));
      consumer_changes_.emplace_back(epoch, consumer_key->group);
    }
  }
  return true;
}

template <class Timeline>
void Shard::change(Timeline& timeline, AppendId epoch, const typename Timeline::Cells::key_type& key, std::optional<CommittedOffset> next) {
  if (epoch == 0) {
    timeline.set_committed(key, std::move(next));
  } else {
    timeline.set(epoch, key, std::move(next));
  }
}

void Shard::replay_offset(OffsetKey key, std::optional<CommittedOffset> next, AppendId epoch, ProducerId producer) {
  if (next && producer != kNoProducerId) {
    pending_of_[producer].insert(key);
    change(pending_, epoch, {std::move(key), producer}, std::move(next));
    return;
  }
  if (!next && !pending_.cells().empty()) {  // deleted, for open transactions as well
    std::vector<std::pair<OffsetKey, ProducerId>> gone;
    for (auto cell = pending_.cells().lower_bound({key, kNoProducerId}); cell != pending_.cells().end() && cell->first.first == key; ++cell) {
      if (cell->second.latest() != nullptr) {
        gone.push_back(cell->first);
      }
    }
    for (const auto& one : gone) {
      change(pending_, epoch, one, std::nullopt);
    }
  }
  if (epoch == 0 && trial::has_bug(trial::Canary::forgets_commits) && offsets_.latest(key) != nullptr) {
    return;
  }
  change(offsets_, epoch, key, std::move(next));
}

void Shard::replay_marker(ProducerId producer, bool commit, AppendId epoch) {
  const auto found = pending_of_.find(producer);
  if (found == pending_of_.end()) {
    return;
  }
  const std::set<OffsetKey> keys = epoch == 0 ? std::exchange(found->second, {}) : found->second;  // else when it is committed
  for (const OffsetKey& key : keys) {
    const CommittedOffset* pending = pending_.latest(std::pair{key, producer});
    if (pending == nullptr) {
      continue;
    }
    std::optional<CommittedOffset> value = *pending;
    change(pending_, epoch, {key, producer}, std::nullopt);
    // What was committed beside the transaction and after it stays.
    const CommittedOffset* known = offsets_.latest(key);
    if (commit && (known == nullptr || known->order < value->order)) {
      change(offsets_, epoch, key, std::move(value));
    }
  }
  if (epoch == 0) {
    pending_of_.erase(producer);
  }
}

bool Shard::has_pending_offset(const OffsetKey& key) const {
  for (auto cell = pending_.cells().lower_bound({key, kNoProducerId}); cell != pending_.cells().end() && cell->first.first == key; ++cell) {
    if (cell->second.latest() != nullptr) {
      return true;
    }
  }
  return false;
}

bool Shard::has_pending_offsets(std::string_view group) const {
  if (pending_.cells().empty()) {
    return false;
  }
  for (auto cell = pending_.cells().lower_bound({OffsetKey{std::string(group), {}, 0}, kNoProducerId});
       cell != pending_.cells().end() && cell->first.first.group == group; ++cell) {
    if (cell->second.latest() != nullptr) {
      return true;
    }
  }
  return false;
}

void Shard::change_consumer(const ConsumerKey& key, const ConsumerValue* value) {
  Group* known = find_group(key.group);
  ConsumerGroup* group = as_consumer(known);
  if (value == nullptr && key.kind == ConsumerRecord::group) {
    if (group != nullptr) {
      groups_.erase(key.group);
    }
    return;
  }
  if (group == nullptr) {
    if (value == nullptr) {
      return;  // it was taken out before its tombstones were written
    }
    HW_ASSERT(known == nullptr, "a name belongs to one kind of group at a time");
    auto made = std::make_shared<ConsumerGroup>(key.group, ++runtime_.last_serial);
    group = made.get();
    groups_.emplace(key.group, std::move(made));
  }
  group->apply(key.kind, key.name, value);
}

std::shared_ptr<ConsumerGroup> Shard::build_consumer(std::string_view id, View view) const {
  std::shared_ptr<ConsumerGroup> group;
  for (auto cell = consumer_records_.cells().lower_bound(
           ConsumerKey{std::string(id), ConsumerRecord::group, {}});
       cell != consumer_records_.cells().end() && cell->first.group == id; ++cell) {
    const std::shared_ptr<const ConsumerValue>* value =
        view == View::latest ? cell->second.latest() : cell->second.committed();
    if (value == nullptr) {
      continue;
    }
    if (!group) {
      group = std::make_shared<ConsumerGroup>(std::string(id), ++runtime_.last_serial);
    }
    group->apply(cell->first.kind, cell->first.name, value->get());
  }
  return group;
}

std::shared_ptr<const Group> Shard::find_committed(std::string_view id) const {
  const bool open = std::any_of(consumer_changes_.begin(), consumer_changes_.end(),
                                [&](const auto& change) { return change.second == id; });
  const auto found = groups_.find(id);
  if (!open) {
    return found == groups_.end() ? nullptr : found->second;
  }
  if (std::shared_ptr<ConsumerGroup> group = build_consumer(id, View::committed)) {
    return group;
  }
  return found == groups_.end() || found->second->kind() == GroupKind::consumer ? nullptr
                                                                                : found->second;
}

void Shard::roll_back(AppendId id) {
  group_records_.rollback(id);
  offsets_.rollback(id);
  pending_.rollback(id);
  consumer_records_.rollback(id);
  while (!consumer_changes_.empty() && consumer_changes_.back().first >= id) {
    const std::string group = std::move(consumer_changes_.back().second);
    consumer_changes_.pop_back();
    if (std::find(restored_.begin(), restored_.end(), group) == restored_.end()) {
      restored_.push_back(group);
    }
  }
  for (const std::string& group : restored_) {
    const auto known = groups_.find(group);
    std::shared_ptr<ConsumerGroup> built = build_consumer(group, View::latest);
    if (!built) {
      if (known != groups_.end() && known->second->kind() == GroupKind::consumer) {
        groups_.erase(known);
      }
      continue;
    }
    if (ConsumerGroup* before = find_consumer(group); before != nullptr) {
      built->seen = std::move(before->seen);
    } else if (known != groups_.end()) {
      displaced_.push_back(known->second);
    }
    groups_[group] = std::move(built);
  }
}

void Shard::end_load(Now now) {
  HW_ASSERT(loading_, "a shard is loaded once");
  loading_ = false;
  // Groups as the newest record has them; offsets only as far as they are committed. A deletion that
  // is on its way has taken its group already.
  for (const auto& [id, cell] : group_records_.cells()) {
    if (cell.latest() == nullptr) {
      continue;
    }
    const std::optional<wire::GroupMetadataValue> value = decode_group_value(*cell.latest());
    HW_ASSERT(value.has_value(), "replay keeps only values that decode");
    trial::mark(trial::Mark::group_loaded);
    groups_.emplace(id, std::make_shared<ClassicGroup>(id, ++runtime_.last_serial, *value));
  }
  for (const auto& [key, cell] : consumer_records_.cells()) {
    if (cell.latest() != nullptr && find_consumer(key.group) == nullptr) {
      groups_[key.group] = build_consumer(key.group, View::latest);
    }
  }
  // Offsets without a group record: a consumer that assigns itself ("simple" group).
  for (const auto& [key, cell] : offsets_.cells()) {
    if (cell.committed() == nullptr || cell.latest() == nullptr) {
      continue;
    }
    if (groups_.find(key.group) == groups_.end()) {
      create_classic(key.group, now);
    }
    offset_changed(key, cell.committed(), now);
  }
  for (const auto& [key, cell] : pending_.cells()) {
    if (cell.latest() != nullptr && groups_.find(key.first.group) == groups_.end()) {
      create_classic(key.first.group, now);
    }
  }
}

Group* Shard::find_group(std::string_view id) const {
  const auto found = groups_.find(id);
  return found == groups_.end() ? nullptr : found->second.get();
}

ClassicGroup* Shard::find_classic(std::string_view id) const {
  return as_classic(find_group(id));
}

ClassicGroup* Shard::find_classic(std::string_view id, std::uint64_t serial) const {
  ClassicGroup* group = find_classic(id);
  return group != nullptr && group->serial() == serial ? group : nullptr;
}

ClassicGroup& Shard::create_classic(std::string_view id, Now now) {
  auto group = std::make_shared<ClassicGroup>(std::string(id), ++runtime_.last_serial, now.wall);
  ClassicGroup& created = *group;
  groups_.emplace(std::string(id), std::move(group));
  return created;
}

void Shard::open(AppendId id, Outcome outcome, Instant time_out) {
  open_.push_back({id, false, std::move(outcome), ++last_serial_});
  if (time_out != kNever) {
    time_outs_.push_back({time_out, last_serial_});
  }
}

void Shard::append(std::vector<Record> records, Outcome outcome, Instant time_out, std::optional<TransactionalWrite> transaction) {
  HW_ASSERT(!records.empty() && staged_.empty(), "an append has records, and is not within another");
  const AppendId id = next_append(runtime_.last_append, partition_);
  runtime_.last_append = id;
  for (const Record& record : records) {
    const bool fine = replay(record, id, transaction ? transaction->producer_id : kNoProducerId);
    HW_ASSERT(fine, "what the coordinator writes, it can read");
  }
  open(id, std::move(outcome), time_out);
  runtime_.outputs.appends.push_back({id, partition_, std::move(records), transaction, {}});
}

void Shard::append_marker(const EndMarker& marker, Outcome outcome, Now now) {
  HW_ASSERT(staged_.empty(), "a marker is not within another append");
  const AppendId id = next_append(runtime_.last_append, partition_);
  runtime_.last_append = id;
  replay_marker(marker.producer_id, marker.commit, id);
  open(id, std::move(outcome), time_out_of(now));
  runtime_.outputs.appends.push_back({id, partition_, {}, {}, marker});
}

void Shard::append_in_pieces(std::vector<Record> records) {
  auto from = records.begin();
  std::size_t size = 0;
  for (auto at = records.begin(); at != records.end(); ++at) {
    const std::size_t record =
        at->key.size() + (at->value ? at->value->size() : 0) + kRecordOverheadMaxBytes;
    if (at != from && size + record > kPieceBytes) {
      append({std::make_move_iterator(from), std::make_move_iterator(at)},
             [](wire::ErrorCode, Now) {});
      from = at;
      size = 0;
    }
    size += record;
  }
  if (from != records.end()) {
    append({std::make_move_iterator(from), std::make_move_iterator(records.end())},
           [](wire::ErrorCode, Now) {});
  }
}

void Shard::stage(Record record) {
  if (staged_.empty()) {
    staged_as_ = next_append(runtime_.last_append, partition_);
    runtime_.last_append = staged_as_;
  }
  const bool fine = replay(record, staged_as_);
  HW_ASSERT(fine, "what the coordinator writes, it can read");
  staged_.push_back(std::move(record));
}

void Shard::append_staged(Outcome outcome, Now now) {
  HW_ASSERT(!staged_.empty(), "an append has records");
  open(staged_as_, std::move(outcome), time_out_of(now));
  open_.back().undo = std::exchange(staged_undo_, {});
  runtime_.outputs.appends.push_back({staged_as_, partition_, std::exchange(staged_, {}), {}, {}});
}

void Shard::undo_staged(Now now) {
  if (staged_.empty()) {
    return;
  }
  roll_back(staged_as_);
  staged_.clear();
  undo(std::exchange(staged_undo_, {}), now);
}

void Shard::undo(const std::vector<std::function<void(Now)>>& steps, Now now) {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    (*step)(now);
  }
}

void Shard::when_settled(Outcome outcome, Now now) {
  if (open_.empty()) {
    outcome(wire::ErrorCode::none, now);
  } else {
    open(0, std::move(outcome), time_out_of(now));
  }
}

void Shard::tick(Now now) {
  while (next_deadline() <= now.instant) {
    const std::uint64_t serial = time_outs_.front().serial;
    time_outs_.pop_front();
    const auto late = std::lower_bound(open_.begin(), open_.end(), serial,
                                       [](const Open& one, std::uint64_t wanted) { return one.serial < wanted; });
    if (late == open_.end() || late->serial != serial || !late->outcome) {
      continue;  // committed, or rolled back
    }
    const Outcome outcome = std::exchange(late->outcome, {});
    if (late->id == 0) {
      open_.erase(late);
    }
    outcome(coordinator_error(wire::ErrorCode::request_timed_out), now);
  }
}

bool Shard::pending(AppendId id) const {
  return std::any_of(open_.begin(), open_.end(), [id](const Open& open) { return open.id == id; });
}

void Shard::on_committed(AppendId id, wire::ErrorCode error, Now now) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [id](const Open& open) { return open.id == id; });
  if (found == open_.end()) {
    return;  // rolled back with an earlier one
  }
  if (error == wire::ErrorCode::none) {
    found->committed = true;
    settle(now);
    return;
  }
  // What is wrong with one producer is not wrong with whoever stands behind it: they ask again.
  const bool of_one_producer = error == wire::ErrorCode::invalid_producer_epoch || error == wire::ErrorCode::transaction_coordinator_fenced ||
                               error == wire::ErrorCode::invalid_txn_state;
  const wire::ErrorCode answer = coordinator_error(error);
  const wire::ErrorCode of_others = of_one_producer ? wire::ErrorCode::coordinator_not_available : answer;
  std::vector<Open> failed(std::make_move_iterator(found), std::make_move_iterator(open_.end()));
  open_.erase(found, open_.end());
  roll_back(id);
  for (auto open = failed.rbegin(); open != failed.rend(); ++open) {
    undo(open->undo, now);
    if (open->outcome) {
      open->outcome(open->id == id ? answer : of_others, now);
    }
  }
}

void Shard::abandon_open(Now now) {
  std::deque<Open> failed;
  failed.swap(open_);
  time_outs_.clear();
  for (auto open = failed.rbegin(); open != failed.rend(); ++open) {
    if (open->outcome) {
      open->outcome(wire::ErrorCode::not_coordinator, now);
    }
  }
  open_.clear();
  time_outs_.clear();
}

void Shard::settle(Now now) {
  while (!open_.empty() && (open_.front().committed || open_.front().id == 0)) {
    Open open = std::move(open_.front());
    open_.pop_front();
    if (open.id != 0) {
      group_records_.commit(open.id, [](const std::string&, const Bytes*, const Bytes*) {});
      offsets_.commit(
          open.id, [&](const OffsetKey& key, const CommittedOffset*, const CommittedOffset* next) {
            offset_changed(key, next, now);
          });
      pending_.commit(open.id, [&](const auto& key, const CommittedOffset*, const CommittedOffset* next) {
        if (next != nullptr && find_group(key.first.group) == nullptr) {
          create_classic(key.first.group, now);
        } else if (const auto of = pending_of_.find(key.second); next == nullptr && of != pending_of_.end() && pending_.latest(key) == nullptr) {
          of->second.erase(key.first);
          if (of->second.empty()) {
            pending_of_.erase(of);
          }
        }
      });
      consumer_records_.commit(open.id, [](const ConsumerKey&, const auto*, const auto*) {});
      while (!consumer_changes_.empty() && consumer_changes_.front().first <= open.id) {
        consumer_changes_.pop_front();
      }
    }
    // Nobody is to be woken for what is over.
    while (!time_outs_.empty() && time_outs_.front().serial <= open.serial) {
      time_outs_.pop_front();
    }
    if (open.outcome) {
      open.outcome(wire::ErrorCode::none, now);
    }
  }
}

void Shard::offset_changed(const OffsetKey& key, const CommittedOffset* next, Now now) {
  if (next == nullptr) {
    const auto gone = published_.find(key);
    if (gone != published_.end()) {
      gone->second.counters->offset.set(-1);
      published_.erase(gone);
      runtime_.emit(event::OffsetDeleted{key.group, key.topic, PartitionIndex(key.partition)});
    }
    return;
  }
  // A deletion that is on its way has taken the group already; its tombstone follows.
  if (find_group(key.group) == nullptr && offsets_.latest(key) != nullptr) {
    create_classic(key.group, now);
    runtime_.emit(event::GroupStateChanged{key.group, state_name(ClassicState::empty), 0,
                                           std::string(),
                                           "offsets were committed without joining"});
  }
  const auto [published, fresh] = published_.try_emplace(key);
  if (fresh) {
    published->second.counters = std::make_shared<event::CommittedCounters>();
  }
  published->second.counters->offset.set(next->offset);
  published->second.counters->committed_at_ms.set(next->commit_timestamp_ms);
  if (fresh || now.instant - published->second.told >= kTellAgain) {
    published->second.told = now.instant;
    runtime_.emit(event::OffsetCommitted{key.group, key.topic, PartitionIndex(key.partition),
                                         Offset(next->offset), published->second.counters});
  }
}

std::string Shard::dump() const {
  std::string text;
  const auto add = [&text](std::string_view part) {
    text += part;
    text += '|';
  };
  for (const auto& [id, cell] : group_records_.cells()) {
    if (cell.committed() == nullptr) {
      continue;
    }
    const std::optional<wire::GroupMetadataValue> value = decode_group_value(*cell.committed());
    HW_ASSERT(value.has_value(), "replay keeps only values that decode");
    add("group " + id);
    add(value->protocol_type);
    add(std::to_string(value->generation));
    add(value->protocol.value_or("-"));
    add(value->leader.value_or("-"));
    add(std::to_string(value->current_state_timestamp));
    for (const auto& member : value->members) {
      add("member " + member.member_id);
      add(member.group_instance_id.value_or("-"));
      add(member.client_id);
      add(member.client_host);
      add(std::to_string(member.rebalance_timeout));
      add(std::to_string(member.session_timeout));
      add(member.subscription.text());
      add(member.assignment.text());
    }
    text += '\n';
  }
  for (const auto& [key, cell] : consumer_records_.cells()) {
    if (const auto* value = cell.committed(); value != nullptr) {
      add("consumer " + key.group);
      add(std::to_string(static_cast<int>(key.kind)));
      add(key.name);
      add(encode_consumer_value(**value).text());
      text += '\n';
    }
  }
  for (const auto& [key, cell] : offsets_.cells()) {
    if (const CommittedOffset* value = cell.committed(); value != nullptr) {
      add("offset " + key.group);
      add(key.topic);
      add(std::to_string(key.partition));
      add(std::to_string(value->offset));
      add(std::to_string(value->leader_epoch));
      add(value->metadata);
      add(std::to_string(value->commit_timestamp_ms));
      add(std::to_string(value->expire_timestamp_ms));
      add(value->topic_id.text());
      text += '\n';
    }
  }
  for (const auto& [key, cell] : pending_.cells()) {
    if (const CommittedOffset* value = cell.committed(); value != nullptr) {
      add("pending " + key.first.group);
      add(key.first.topic);
      add(std::to_string(key.first.partition));
      add(std::to_string(key.second.value()));
      add(std::to_string(value->offset));
      text += '\n';
    }
  }
  return text;
}

}  // namespace hw::groups
