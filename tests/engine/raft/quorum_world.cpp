// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/raft/quorum_world.h"

#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>

#include "engine/base/assert.h"
#include "engine/raft/control_records.h"
#include "engine/raft/format.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/record_iterator.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::raft::test {

namespace {

constexpr WallTime kWall{1'790'000'000'000};
constexpr Duration kDiskFloor = microseconds(20);
constexpr Duration kNetFloor = microseconds(50);
const std::string kCluster = "a-cluster";

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6U) + (hash >> 2U);
  return hash * 0x100000001b3ULL;
}

std::uint64_t hash_of(ByteSpan bytes) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3ULL;
  }
  return hash;
}

// A message that went over the wire and back.
template <class Message>
Message through_codec(const Message& message, std::int16_t version) {
  wire::Writer writer;
  const bool encoded = encode(writer, message, version);
  HW_ASSERT(encoded, "the quorum's messages encode");
  wire::Reader reader(writer.finish().flatten());
  Message back;
  const bool decoded = decode(reader, back, version);
  HW_ASSERT(decoded, "and decode");
  return back;
}

}  // namespace

struct World::Node {
  std::optional<event::QuorumRoleChanged> told;  // the newest
  int id = 0;
  std::string host;
  bool observes = false;  // a broker: does not flush
  MemoryLog log;
  ElectionState disk_state;
  std::optional<Quorum> quorum;
  std::uint64_t life = 0;
  std::vector<ElectionState> writing;  // states on their way to the disk, in order
  bool flushing = false;
  bool flush_again = false;
  std::uint64_t last_token = 0;
  struct Asked {
    int from = -1;  // -1: the test itself
    std::uint64_t send = 0;
    std::uint64_t life = 0;
    std::int16_t version = 0;
    std::optional<std::pair<LeaderEpoch, ReplicaKey>> vote;  // a real vote that is asked for
  };
  std::map<std::uint64_t, Asked> asked;
  // Of the observer.
  std::vector<std::pair<Offset, LeaderEpoch>> noted;  // its log as it was looked at last
  Offset noted_commit{0};
  Offset high_watermark{0};
  std::optional<std::pair<LeaderEpoch, Offset>> led;  // while it leads: how far its log went
  bool stopping = false;
};

struct World::Event {
  Instant at;
  std::uint64_t sequence = 0;
  enum class Kind : std::uint8_t { request, response, failure, persisted, flushed, start, fault, propose, stop } kind{};
  int node = 0;              // where it happens
  std::uint64_t life = 0;    // of that node, where it matters
  int from = -1;
  std::uint64_t from_life = 0;
  std::uint64_t send = 0;
  std::int16_t version = 0;
  decltype(Send::body) request;
  decltype(Response::body) response;
};
struct World::Later {
  bool operator()(const Event& a, const Event& b) const noexcept {
    return std::pair(a.at, a.sequence) > std::pair(b.at, b.sequence);
  }
};

WorldOptions WorldOptions::drawn(std::uint64_t seed) {
  Prng prng(seed * 7919 + 13);
  WorldOptions options;
  constexpr int kSizes[] = {1, 3, 3, 3, 5, 2};
  options.voters = kSizes[prng.below(6)];
  options.observers = static_cast<int>(prng.below(3));
  if (prng.chance({1, 2})) {
    options.lose = {static_cast<std::uint32_t>(prng.below(20)), 100};
  }
  if (prng.chance({1, 2})) {
    options.repeat = {static_cast<std::uint32_t>(prng.below(20)), 100};
  }
  constexpr std::int64_t kSlowest[] = {1, 5, 50, 400};
  options.slowest = milliseconds(kSlowest[prng.below(4)]);
  constexpr std::int64_t kDisks[] = {1, 10, 200};
  options.slowest_disk = milliseconds(kDisks[prng.below(3)]);
  options.crashes = prng.chance({2, 3});
  options.cuts = prng.chance({2, 3});
  options.hand_overs = prng.chance({1, 3});
  options.snapshots = prng.chance({1, 3});
  options.voter_changes = prng.chance({1, 4});
  options.through_codec = prng.chance({1, 4});
  return options;
}

World::World(WorldOptions options, std::uint64_t seed) : options_(options), prng_(seed) {
  for (int i = 0; i < options_.voters + options_.observers; ++i) {
    auto node = std::make_unique<Node>();
    node->id = i + 1;
    node->host = "h" + std::to_string(node->id);
    node->observes = i >= options_.voters;
    nodes_.push_back(std::move(node));
  }
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    start(i);
  }
}

World::~World() = default;

Voter World::voter(int node) const {
  const int id = nodes_[static_cast<std::size_t>(node)]->id;
  return {{BrokerId(id), Uuid{77, static_cast<std::uint64_t>(id)}},
          {{"CONTROLLER", nodes_[static_cast<std::size_t>(node)]->host, static_cast<std::uint16_t>(9000 + id)}}};
}

const Quorum& World::quorum(int node) const { return *nodes_[static_cast<std::size_t>(node)]->quorum; }
MemoryLog& World::log(int node) { return nodes_[static_cast<std::size_t>(node)]->log; }

void World::start(int index) {
  Node& node = *nodes_[static_cast<std::size_t>(index)];
  if (node.quorum) {
    return;
  }
  Config config;
  config.self = voter(index);
  config.cluster_id = kCluster;
  for (int i = 0; i < options_.voters; ++i) {
    config.voters.push_back(voter(i));
  }
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    const Voter other = voter(i);
    config.addresses.push_back({other.key.id, other.endpoints.front().host, other.endpoints.front().port});
  }
  config.always_flush = !node.observes || options_.voter_changes;
  ++node.life;
  node.stopping = false;
  node.noted.clear();
  node.high_watermark = Offset(0);
  node.noted_commit = Offset(0);
  node.led.reset();
  node.quorum.emplace(std::move(config), node.disk_state, node.log, Prng(prng_.next()), now_);
  if (!node.quorum->problem().empty()) {
    violated("a log that was written well does not load: " + node.quorum->problem());
  }
  step(index, Tick{kWall});
}

void World::crash(int index) {
  Node& node = *nodes_[static_cast<std::size_t>(index)];
  if (!node.quorum) {
    return;
  }
  node.quorum.reset();
  // A state that was being written is there, or the one before it.
  if (!node.writing.empty() && prng_.chance({1, 2})) {
    node.disk_state = node.writing.front();
  }
  node.writing.clear();
  node.flushing = node.flush_again = false;
  node.asked.clear();
  node.log.crash(prng_);
}

void World::moved_to(int index, const std::string& host) { nodes_[static_cast<std::size_t>(index)]->host = host; }

void World::hand_over(int index) {
  nodes_[static_cast<std::size_t>(index)]->stopping = true;
  step(index, Resign{});
}

std::optional<int> World::leader() const {
  std::optional<int> found;
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    const Node& node = *nodes_[static_cast<std::size_t>(i)];
    if (node.quorum && node.quorum->is_leader() &&
        (!found || quorum(*found).epoch() < node.quorum->epoch())) {
      found = i;
    }
  }
  return found;
}

void World::violated(const std::string& what) {
  if (violation_.empty()) {
    violation_ = "at " + std::to_string((now_ - Instant{1'000'000'000}).ms()) + " ms: " + what;
  }
}

Duration World::drawn(Duration most) {
  return nanoseconds(static_cast<std::int64_t>(prng_.below(static_cast<std::uint64_t>(std::max<std::int64_t>(most.ns, 1)))));
}

bool World::cut(int from, int to) const { return cuts_.contains({from, to}); }

void World::isolate(int node) {
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    if (i != node) {
      cuts_.insert({i, node});
      cuts_.insert({node, i});
    }
  }
}
void World::heal() { cuts_.clear(); }

// ---------------------------------------------------------------- events

void World::schedule(Duration after, Event event) {
  event.at = now_ + after;
  event.sequence = ++sequence_;
  queue_.push_back(std::move(event));
  std::push_heap(queue_.begin(), queue_.end(), Later{});
}

void World::advance(Duration duration) {
  const Instant until = now_ + duration;
  while (violation_.empty()) {
    Instant next = queue_.empty() ? kNever : queue_.front().at;
    int due = -1;
    for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
      const Node& node = *nodes_[static_cast<std::size_t>(i)];
      if (node.quorum && node.quorum->next_deadline() < next) {
        next = node.quorum->next_deadline();
        due = i;
      }
    }
    if (next > until) {
      now_ = until;
      return;
    }
    if (next > now_) {
      now_ = next;
    }
    if (due >= 0) {
      step(due, Tick{WallTime{kWall.ms + (now_ - Instant{}).ms()}});
      if (nodes_[static_cast<std::size_t>(due)]->quorum &&
          nodes_[static_cast<std::size_t>(due)]->quorum->next_deadline() <= now_) {
        violated("a tick leaves a deadline that is over: " +
                 std::string(state_name(nodes_[static_cast<std::size_t>(due)]->quorum->view().state)));
      }
      continue;
    }
    std::pop_heap(queue_.begin(), queue_.end(), Later{});
    Event event = std::move(queue_.back());
    queue_.pop_back();
    handle(event);
  }
}

void World::handle(Event& event) {
  Node& node = *nodes_[static_cast<std::size_t>(event.node)];
  trace_ = mix(trace_, static_cast<std::uint64_t>(event.kind) * 31 + static_cast<std::uint64_t>(event.node));
  trace_ = mix(trace_, static_cast<std::uint64_t>(now_.ns));
  switch (event.kind) {
    case Event::Kind::request:
      if (node.quorum) {
        deliver_request(event.node, event);
      } else {
        Event failure;
        failure.kind = Event::Kind::failure;
        failure.node = event.from;
        failure.life = event.from_life;
        failure.send = event.send;
        schedule(kNetFloor, std::move(failure));
      }
      break;
    case Event::Kind::response:
      if (node.quorum && node.life == event.life) {
        step(event.node, Response{event.send, std::move(event.response)});
      }
      break;
    case Event::Kind::failure:
      if (node.quorum && node.life == event.life) {
        step(event.node, Failed{event.send});
      }
      break;
    case Event::Kind::persisted:
      if (node.quorum && node.life == event.life && !node.writing.empty()) {
        node.disk_state = node.writing.front();
        node.writing.erase(node.writing.begin());
        step(event.node, Persisted{node.disk_state});
      }
      break;
    case Event::Kind::flushed:
      if (node.quorum && node.life == event.life) {
        node.flushing = false;
        node.log.flush();
        const bool again = std::exchange(node.flush_again, false);
        step(event.node, Flushed{node.log.end_offset()});
        if (again && node.quorum && !node.flushing) {
          node.flushing = true;
          Event more;
          more.kind = Event::Kind::flushed;
          more.node = event.node;
          more.life = node.life;
          schedule(kDiskFloor + drawn(options_.slowest_disk), std::move(more));
        }
      }
      break;
    case Event::Kind::start:
      start(event.node);
      break;
    case Event::Kind::stop:
      crash(event.node);
      break;
    case Event::Kind::fault:
      if (faulty_) {
        some_fault();
        Event next;
        next.kind = Event::Kind::fault;
        schedule(drawn(milliseconds(1500)), std::move(next));
      }
      break;
    case Event::Kind::propose: {
      propose();
      Event next;
      next.kind = Event::Kind::propose;
      schedule(drawn(milliseconds(200)), std::move(next));
      break;
    }
  }
}

void World::propose() {
  // Whoever believes to lead takes records, also one that was deposed and does not know.
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    Node& node = *nodes_[static_cast<std::size_t>(i)];
    if (node.quorum && node.quorum->is_leader()) {
      Outputs out;
      node.quorum->append({Bytes::copy_of("record " + std::to_string(++proposed_))}, kWall, now_, out);
      perform(i, out);
      check(i);
    }
  }
}

void World::some_fault() {
  const auto any = [&] { return static_cast<int>(prng_.below(nodes_.size())); };
  const auto what = prng_.below(10);
  if (what < 3 && options_.crashes) {
    const int victim = prng_.chance({1, 3}) ? leader().value_or(any()) : any();
    crash(victim);
    Event back;
    back.kind = Event::Kind::start;
    back.node = victim;
    schedule(drawn(seconds(4)), std::move(back));
  } else if (what < 6 && options_.cuts) {
    const int victim = prng_.chance({1, 2}) ? leader().value_or(any()) : any();
    if (prng_.chance({1, 2})) {
      isolate(victim);
    } else {
      const int other = any();
      if (other != victim) {
        cuts_.insert({victim, other});
        if (prng_.chance({1, 2})) {
          cuts_.insert({other, victim});
        }
      }
    }
  } else if (what < 8) {
    heal();
  } else if (what == 8 && options_.hand_overs) {
    if (const std::optional<int> leading = leader()) {
      hand_over(*leading);
      Event stop;
      stop.kind = Event::Kind::stop;
      stop.node = *leading;
      schedule(drawn(milliseconds(500)), std::move(stop));
      Event back;
      back.kind = Event::Kind::start;
      back.node = *leading;
      schedule(milliseconds(500) + drawn(seconds(3)), std::move(back));
    }
  } else {
    if (options_.snapshots) {
      take_snapshot(any());
    }
    if (options_.voter_changes) {
      some_voter_change();
    }
  }
}

void World::take_snapshot(int index) {
  Node& node = *nodes_[static_cast<std::size_t>(index)];
  if (!node.quorum) {
    return;
  }
  const Offset end = node.quorum->high_watermark();
  const MemoryLog::Batch* last = end > Offset(0) ? node.log.find(end - 1) : nullptr;
  if (last == nullptr || last->last + 1 != end) {
    return;
  }
  const auto newest = node.log.latest_snapshot();
  if (newest && newest->end_offset >= end) {
    return;
  }
  std::uint64_t digest = 0;
  for (const auto& [base, batch] : committed_) {
    if (batch.last < end) {
      digest = batch.digest;
    }
  }
  const SnapshotId id{end, last->epoch};
  const Bytes whole = encode_snapshot(id, node.quorum->voters_at(end).all(), node.quorum->kraft_version_at(end),
                                      {Bytes::copy_of(std::to_string(digest))}, kWall, kWall);
  node.log.add_snapshot(id, whole);
  const std::size_t before = node.log.batches().size();
  const Result<void> cut = node.log.delete_before(id);
  HW_ASSERT(cut.has_value(), "a log in memory can be cut");
  const std::size_t gone = std::min(node.noted.size(), before - node.log.batches().size());
  node.noted.erase(node.noted.begin(), node.noted.begin() + static_cast<std::ptrdiff_t>(gone));
}

void World::some_voter_change() {
  const std::optional<int> leading = leader();
  if (!leading) {
    return;
  }
  const int index = static_cast<int>(prng_.below(nodes_.size()));
  const Voter subject = voter(index);
  if (quorum(*leading).voters().find(subject.key.id) == nullptr) {
    wire::AddRaftVoterRequest add;
    add.cluster_id = kCluster;
    add.timeout_ms = 1000;
    add.voter_id = subject.key.id.value();
    add.voter_directory_id = subject.key.directory;
    for (const VoterEndpoint& endpoint : subject.endpoints) {
      auto& listener = add.listeners.emplace_back();
      listener.name = endpoint.listener;
      listener.host = endpoint.host;
      listener.port = endpoint.port;
    }
    ask(*leading, add, 1);
  } else if (quorum(*leading).voters().size() > 1) {
    wire::RemoveRaftVoterRequest remove;
    remove.cluster_id = kCluster;
    remove.voter_id = subject.key.id.value();
    remove.voter_directory_id = subject.key.directory;
    ask(*leading, remove, 0);
  }
}

void World::ask(int index, PeerRequest request, std::int16_t version) {
  Node& node = *nodes_[static_cast<std::size_t>(index)];
  const std::uint64_t token = ++node.last_token;
  node.asked[token] = {-1, 0, 0, version, std::nullopt};
  step(index, Request{token, version, std::move(request)});
}

void World::deliver_request(int index, Event& event) {
  Node& node = *nodes_[static_cast<std::size_t>(index)];
  const std::uint64_t token = ++node.last_token;
  Node::Asked asked{event.from, event.send, event.from_life, event.version, std::nullopt};
  std::visit(
      [&](auto& body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, wire::ApiVersionsRequest>) {
          wire::ApiVersionsResponse response;
          auto& feature = response.supported_features.emplace_back();
          feature.name = "kraft.version";
          feature.max_version = 1;
          Event back;
          back.kind = Event::Kind::response;
          back.node = event.from;
          back.life = event.from_life;
          back.send = event.send;
          back.response = response;
          schedule(kNetFloor + drawn(options_.slowest), std::move(back));
        } else {
          if constexpr (std::is_same_v<T, wire::VoteRequest>) {
            const auto& partition = body.topics.front().partitions.front();
            if (!partition.pre_vote) {
              asked.vote = {LeaderEpoch(partition.replica_epoch), {partition.replica_id, partition.replica_directory_id}};
            }
          }
          node.asked[token] = asked;
          step(index, Request{token, event.version, std::move(body)});
        }
      },
      event.request);
}

void World::send_reply(int index, Reply& reply) {
  Node& node = *nodes_[static_cast<std::size_t>(index)];
  const auto it = node.asked.find(reply.token);
  if (it == node.asked.end()) {
    violated("an answer that nobody waits for, or a second one");
    return;
  }
  const Node::Asked asked = it->second;
  node.asked.erase(it);
  if (const auto* vote = std::get_if<wire::VoteResponse>(&reply.body); vote != nullptr && asked.vote) {
    const bool granted = !vote->topics.empty() && vote->topics.front().partitions.front().vote_granted;
    if (granted) {
      const auto [known, fresh] = votes_.emplace(std::pair(index, asked.vote->first), asked.vote->second);
      if (!fresh && known->second != asked.vote->second) {
        violated("node " + std::to_string(node.id) + " votes twice in epoch " + std::to_string(asked.vote->first.value()));
      }
      const ElectionState& disk = node.disk_state;
      if (disk.epoch < asked.vote->first || (disk.epoch == asked.vote->first && disk.voted != asked.vote->second)) {
        violated("a vote leaves before it is durable");
      }
    }
  }
  if (asked.from < 0) {
    answer_ = std::move(reply.body);
    return;
  }
  Event event;
  event.kind = Event::Kind::response;
  event.node = asked.from;
  event.life = asked.life;
  event.send = asked.send;
  const bool carried = std::visit(
      [&](auto& body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_constructible_v<decltype(event.response), T>) {
          event.response = options_.through_codec ? through_codec(body, asked.version) : std::move(body);
          return true;
        } else {
          return false;
        }
      },
      reply.body);
  HW_ASSERT(carried, "peers only ask what peers ask");
  if (cut(index, asked.from) || (faulty_ && prng_.chance(options_.lose))) {
    return;
  }
  schedule(kNetFloor + drawn(options_.slowest), std::move(event));
}

// ---------------------------------------------------------------- one replica

void World::step(int index, const Input& input) {
  Node& node = *nodes_[static_cast<std::size_t>(index)];
  Outputs out;
  node.quorum->step(input, now_, out);
  for (const event::Any& any : out.events) {
    if (const auto* role = std::get_if<event::QuorumRoleChanged>(&any)) {
      node.told = *role;
    }
  }
  // What is told is what is.
  const QuorumView is = node.quorum->view();
  if (!node.told || static_cast<int>(node.told->role) != static_cast<int>(is.state) || node.told->epoch != is.epoch.value() ||
      node.told->leader != is.leader.value_or(kNoBroker)) {
    violated("node " + std::to_string(node.id) + " is " + state_name(is.state) + " and told something else");
  }
  perform(index, out);
  check(index);
}

void World::perform(int index, Outputs& out) {
  Node& node = *nodes_[static_cast<std::size_t>(index)];
  if (!out.broken.empty()) {
    violated("node " + std::to_string(node.id) + " cannot go on: " + out.broken);
  }
  if (out.persist) {
    node.writing.push_back(*out.persist);
    Event event;
    event.kind = Event::Kind::persisted;
    event.node = index;
    event.life = node.life;
    schedule(kDiskFloor + (node.writing.size() > 1 ? Duration{} : drawn(options_.slowest_disk)), std::move(event));
  }
  if (out.flush) {
    if (node.flushing) {
      node.flush_again = true;
    } else {
      node.flushing = true;
      Event event;
      event.kind = Event::Kind::flushed;
      event.node = index;
      event.life = node.life;
      schedule(kDiskFloor + drawn(options_.slowest_disk), std::move(event));
    }
  }
  if (out.log_restarted) {
    ++snapshot_loads_;
    node.noted.clear();
    node.noted_commit = node.log.start_offset();
    const auto id = node.log.latest_snapshot();
    const Result<Bytes> whole = node.log.read_snapshot(*id, 0, 1 << 30);
    wire::BatchCursor cursor(whole->span());
    wire::BatchView batch;
    std::string digest;
    while (cursor.next(batch)) {
      if (!batch.control()) {
        Result<wire::RecordIterator> records = wire::RecordIterator::open(batch);
        wire::RecordView record;
        if (records && records->next(record)) {
          digest = std::string(as_text(*record.value));
        }
      }
    }
    std::uint64_t expected = 0;
    for (const auto& [base, committed] : committed_) {
      if (committed.last < id->end_offset) {
        expected = committed.digest;
      }
    }
    if (digest != std::to_string(expected)) {
      violated("state machine safety: node " + std::to_string(node.id) + " begins behind a snapshot of another history");
    }
  }
  for (Send& send : out.sends) {
    const int to = static_cast<int>(send.to.port) - 9001;
    if (const auto* fetch = std::get_if<wire::FetchRequest>(&send.body); fetch != nullptr && node.quorum->view().voter) {
      if (fetch->topics.front().partitions.front().fetch_offset > node.log.durable_offset()) {
        violated("node " + std::to_string(node.id) + " fetches from behind what it holds durably");
      }
    }
    if (const auto* vote = std::get_if<wire::VoteRequest>(&send.body)) {
      const auto& partition = vote->topics.front().partitions.front();
      if (!partition.pre_vote && node.disk_state.epoch < LeaderEpoch(partition.replica_epoch)) {
        violated("a candidate asks for votes before its own is durable");
      }
      if (!partition.pre_vote) {
        const auto [known, fresh] = votes_.emplace(std::pair(index, LeaderEpoch(partition.replica_epoch)), voter(index).key);
        if (!fresh && known->second != voter(index).key) {
          violated("node " + std::to_string(node.id) + " votes twice in epoch " + std::to_string(partition.replica_epoch));
        }
      }
    }
    const bool nowhere = to < 0 || to >= static_cast<int>(nodes_.size());
    const bool lost = nowhere || cut(index, to) || (faulty_ && prng_.chance(options_.lose));
    if (lost) {
      if (nowhere || prng_.chance({1, 4})) {  // refused, and it knows
        Event failure;
        failure.kind = Event::Kind::failure;
        failure.node = index;
        failure.life = node.life;
        failure.send = send.id;
        schedule(kNetFloor, std::move(failure));
      }
      continue;
    }
    const int copies = faulty_ && prng_.chance(options_.repeat) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      Event event;
      event.kind = Event::Kind::request;
      event.node = to;
      event.from = index;
      event.from_life = node.life;
      event.send = send.id;
      event.version = send.version;
      event.request = options_.through_codec
                          ? std::visit([&](const auto& body) { return decltype(send.body)(through_codec(body, send.version)); },
                                       send.body)
                          : send.body;
      schedule(kNetFloor + drawn(options_.slowest), std::move(event));
    }
  }
  for (Reply& reply : out.replies) {
    send_reply(index, reply);
  }
}

// ---------------------------------------------------------------- the observer

void World::note_batches(int index) {
  Node& node = *nodes_[static_cast<std::size_t>(index)];
  const std::vector<MemoryLog::Batch>& batches = node.log.batches();
  // What was cut, and written again perhaps, since.
  if (node.noted.size() > batches.size()) {
    node.noted.resize(batches.size());
  }
  while (!node.noted.empty() && node.noted.back() != std::pair(batches[node.noted.size() - 1].base,
                                                                batches[node.noted.size() - 1].epoch)) {
    node.noted.pop_back();
  }
  while (node.noted.size() < batches.size()) {
    const std::size_t place = node.noted.size();
    const MemoryLog::Batch& batch = batches[place];
    node.noted.emplace_back(batch.base, batch.epoch);
    Known fresh;
    fresh.last = batch.last;
    fresh.hash = hash_of(batch.bytes.span());
    if (place > 0) {
      const MemoryLog::Batch& before = batches[place - 1];
      fresh.before = std::pair(before.base, before.epoch);
      if (before.epoch > batch.epoch) {
        violated("epochs fall in the log of node " + std::to_string(node.id));
      }
    }
    const auto [known, added] = batches_.emplace(std::pair(batch.base, batch.epoch), fresh);
    if (added) {
      continue;
    }
    const bool same_past = !known->second.before || !fresh.before || known->second.before == fresh.before;
    if (known->second.hash != fresh.hash || known->second.last != fresh.last || !same_past) {
      violated("log matching: offset " + std::to_string(batch.base.value()) + " of epoch " +
               std::to_string(batch.epoch.value()) + " differs in node " + std::to_string(node.id));
    }
    if (!known->second.before) {
      known->second.before = fresh.before;
    }
  }
}

void World::note_commits(int index) {
  Node& node = *nodes_[static_cast<std::size_t>(index)];
  const Offset end = node.quorum->high_watermark();
  for (Offset at = std::max(node.noted_commit, node.log.start_offset()); at < end;) {
    const MemoryLog::Batch* batch = node.log.find(at);
    if (batch == nullptr || batch->last >= end) {
      violated("node " + std::to_string(node.id) + " does not hold whole what it says is committed");
      return;
    }
    const std::uint64_t hash = hash_of(batch->bytes.span());
    const auto known = committed_.find(batch->base);
    if (known != committed_.end()) {
      if (known->second.epoch != batch->epoch || known->second.hash != hash) {
        violated("state machine safety: offset " + std::to_string(batch->base.value()) + " is committed twice, with epochs " +
                 std::to_string(known->second.epoch.value()) + " and " + std::to_string(batch->epoch.value()));
        return;
      }
    } else if (batch->base == committed_end_) {
      const std::uint64_t before = committed_.empty() ? 0 : committed_.rbegin()->second.digest;
      committed_[batch->base] = {batch->epoch, hash, mix(before, hash), batch->last};
      committed_end_ = batch->last + 1;
    } else {
      violated("state machine safety: batches of node " + std::to_string(node.id) + " lie across those that are committed");
      return;
    }
    at = batch->last + 1;
    node.noted_commit = at;
  }
}

void World::check(int index) {
  Node& node = *nodes_[static_cast<std::size_t>(index)];
  const QuorumView view = node.quorum->view();
  trace_ = mix(trace_, static_cast<std::uint64_t>(view.state) * 1009 + static_cast<std::uint64_t>(view.epoch.value()));
  trace_ = mix(trace_, static_cast<std::uint64_t>(view.log_end_offset.value()) * 31 +
                           static_cast<std::uint64_t>(view.high_watermark.value()));
  note_batches(index);
  if (view.high_watermark < node.high_watermark) {
    violated("the high watermark of node " + std::to_string(node.id) + " falls");
  }
  node.high_watermark = view.high_watermark;
  if (view.high_watermark > view.log_end_offset) {
    violated("node " + std::to_string(node.id) + " has lost what it said is committed");
    return;
  }
  const bool leads = view.state == QuorumView::State::leader;
  if (leads && (!node.led || node.led->first != view.epoch)) {
    const auto [known, fresh] = leaders_.emplace(view.epoch, index);
    if (!fresh) {
      violated("election safety: nodes " + std::to_string(nodes_[static_cast<std::size_t>(known->second)]->id) + " and " +
               std::to_string(node.id) + " lead epoch " + std::to_string(view.epoch.value()));
    }
    for (const auto& [base, committed] : committed_) {
      if (committed.last < node.log.start_offset()) {
        continue;  // in its snapshot
      }
      const MemoryLog::Batch* batch = node.log.find(base);
      if (batch == nullptr || batch->base != base || batch->epoch != committed.epoch ||
          hash_of(batch->bytes.span()) != committed.hash) {
        violated("leader completeness: node " + std::to_string(node.id) + " leads epoch " +
                 std::to_string(view.epoch.value()) + " without offset " + std::to_string(base.value()));
        break;
      }
    }
    node.led = std::pair(view.epoch, view.log_end_offset);
  } else if (leads) {
    if (view.log_end_offset < node.led->second) {
      violated("leader append-only: the log of node " + std::to_string(node.id) + " shrinks while it leads");
    }
    node.led->second = view.log_end_offset;
  } else {
    node.led.reset();
  }
  if (leads && view.high_watermark > committed_end_) {
    // Raft, figure 8.
    const MemoryLog::Batch* last = node.log.find(view.high_watermark - 1);
    if (last == nullptr || last->epoch != view.epoch) {
      violated("node " + std::to_string(node.id) + " commits records of an older epoch alone");
    }
  }
  note_commits(index);
}

// ---------------------------------------------------------------- the whole

std::string World::converged() {
  const std::optional<int> leading = leader();
  if (!leading) {
    std::string all;
    for (const auto& node : nodes_) {
      const QuorumView other = node->quorum->view();
      all += "; node " + std::to_string(node->id) + " " + state_name(other.state) + " epoch " +
             std::to_string(other.epoch.value()) + " log " + std::to_string(node->log.last_epoch().value()) + "/" +
             std::to_string(other.log_end_offset.value()) + " voters";
      for (const Voter& each : node->quorum->voters().all()) {
        all += " " + std::to_string(each.key.id.value());
      }
    }
    return "nobody leads" + all;
  }
  const QuorumView view = quorum(*leading).view();
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    Node& node = *nodes_[static_cast<std::size_t>(i)];
    const QuorumView other = node.quorum->view();
    const std::string who = "node " + std::to_string(node.id) + " (" + state_name(other.state) + ")";
    if (other.epoch != view.epoch || other.leader != view.leader) {
      return who + " does not follow the leader of epoch " + std::to_string(view.epoch.value());
    }
    if (other.log_end_offset != view.log_end_offset || other.high_watermark != view.log_end_offset) {
      return who + " has log end " + std::to_string(other.log_end_offset.value()) + " and high watermark " +
             std::to_string(other.high_watermark.value()) + ", the leader log end " + std::to_string(view.log_end_offset.value());
    }
    if (!(node.quorum->voters() == quorum(*leading).voters())) {
      return who + " knows other voters";
    }
  }
  return committed_end_ == view.log_end_offset ? "" : "not everything is committed";
}

std::string World::run() {
  Event fault;
  fault.kind = Event::Kind::fault;
  schedule(milliseconds(500), std::move(fault));
  Event propose_event;
  propose_event.kind = Event::Kind::propose;
  schedule(milliseconds(10), std::move(propose_event));
  advance(options_.bad_days);
  // Everything works again. Records go on for a while, then it has to come to rest.
  faulty_ = false;
  heal();
  for (int i = 0; i < static_cast<int>(nodes_.size()) && violation_.empty(); ++i) {
    Node& node = *nodes_[static_cast<std::size_t>(i)];
    if (node.stopping) {
      crash(i);
    }
    start(i);
  }
  advance(options_.repair);
  std::erase_if(queue_, [](const Event& event) {
    return event.kind == Event::Kind::propose || event.kind == Event::Kind::stop;
  });
  std::make_heap(queue_.begin(), queue_.end(), Later{});
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    start(i);
  }
  const Offset before = committed_end_;
  propose();
  advance(seconds(3));
  if (violation_.empty()) {
    if (const std::string problem = converged(); !problem.empty()) {
      violated("repaired, but " + problem);
    } else if (committed_end_ <= before) {
      violated("repaired, but nothing is committed any more");
    }
  }
  return violation_;
}

}  // namespace hw::raft::test
