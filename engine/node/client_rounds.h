// SPDX-License-Identifier: Apache-2.0
// What the questions of client_admin.cpp are made of: rows that several brokers answer together.
//
// Rounds: rows that belong to partition leaders or group coordinators. One round finds out who is in charge of each row, asks
// every broker once for all of its rows, and leaves the rows whose broker was the wrong one, or away, to the next round, until
// the time is up. Gathered: several requests that need no finding out.
// Thread rule: started from any thread; everything after runs on the runner's thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/client/cluster.h"
#include "engine/node/client_admin.h"
#include "engine/node/client_runner.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/metadata.h"

namespace hw::node {

[[nodiscard]] inline std::optional<Error> error_of(wire::ErrorCode code, const std::optional<std::string>& message) {
  if (code == wire::ErrorCode::none) {
    return std::nullopt;
  }
  Errc kind = Errc::invalid;
  if (code == wire::ErrorCode::unknown_topic_or_partition || code == wire::ErrorCode::group_id_not_found) {
    kind = Errc::not_found;
  }
  std::string text = client::describe(code);
  if (message && !message->empty()) {
    text += ": " + *message;
  }
  return Error{kind, std::move(text)};
}

template <class Row>
class Rounds;

struct Asker {
  ClientRunner& runner;
  std::string bootstrap;
  Duration timeout;

  template <class Response, class Body>
  void ask(client::Target target, Body body, std::function<void(Result<Response>)> done,
           std::int16_t highest = INT16_MAX) const {
    client::CallOptions options;
    options.timeout = timeout;
    options.highest = highest;
    runner.call<Response>(bootstrap, std::move(target), std::move(body), std::move(done), options);
  }
  // For a wave of Rounds: asks its broker; take(wave, response) calls wave.each() for every row it finds.
  template <class Response, class Wave, class Body, class Take>
  void ask_once(Wave& wave, Body body, Take take) const {
    client::CallOptions options;
    options.timeout = timeout;
    options.retry_codes = false;  // another round asks somebody else
    runner.call<Response>(
        bootstrap, client::Target::broker_id(wave.broker), std::move(body),
        [wave, take](Result<Response> response) mutable {
          if (response) {
            take(wave, *response);
            wave.answered();
          } else {
            wave.failed(response.error());
          }
        },
        options);
  }
};

// Rows of several independent requests; `done` once all are answered.
template <class Row>
class Gathered {
 public:
  using Done = std::function<void(Result<std::vector<Row>>)>;
  Gathered(std::vector<Row> rows, std::size_t open, Done done) : rows_(std::move(rows)), open_(open), done_(std::move(done)) {
    if (open_ == 0) {
      done_(std::move(rows_));
    }
  }
  [[nodiscard]] std::vector<Row>& rows() noexcept { return rows_; }
  void answered() {
    if (--open_ == 0) {
      done_(std::move(rows_));
    }
  }
  void failed(const std::vector<std::size_t>& indexes, const Error& error) {
    for (const std::size_t index : indexes) {
      rows_[index].error = error;
    }
    if (indexes.size() == rows_.size()) {  // nothing else was asked
      done_(Unexpected(error));
      return;
    }
    answered();
  }

 private:
  std::vector<Row> rows_;
  std::size_t open_;
  Done done_;
};

inline std::string key_of(const TopicPartitionName& name) { return name.topic + '/' + std::to_string(name.partition); }
inline const std::string& key_of(const std::string& id) { return id; }
template <class Row>
  requires requires(const Row& row) { row.partition; }
std::string row_key(const Row& row) {
  return key_of(row.partition);
}
template <class Row>
  requires requires(const Row& row) { row.id; }
const std::string& row_key(const Row& row) {
  return row.id;
}

template <class Row>
class Rounds : public std::enable_shared_from_this<Rounds<Row>> {
 public:
  using Done = std::function<void(Result<std::vector<Row>>)>;
  // One request to one broker. A row stands in it at most once by key, so rows that ask the same partition come in waves.
  struct Wave {
    std::shared_ptr<Rounds> rounds;
    std::int32_t broker = -1;
    std::vector<std::size_t> indexes;
    std::map<std::string, std::size_t> places;  // by key, what has not been answered
    [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rounds->rows_; }

    template <class Key, class Fill>
    void each(const Key& key, wire::ErrorCode code, const std::optional<std::string>& message, Fill fill) {
      const auto found = places.find(key_of(key));
      if (found == places.end()) {
        return;
      }
      Row& row = rounds->rows_[found->second];
      row.error = error_of(code, message);
      if (client::worth_another_attempt(code)) {
        rounds->again_.push_back(found->second);
      } else {
        fill(row);
      }
      places.erase(found);
    }
    void answered() {
      for (const auto& [key, index] : places) {
        rounds->rows_[index].error = Error{Errc::corrupt, "the broker does not answer about it"};
      }
      rounds->close_one();
    }
    void failed(const Error& error) {
      for (const std::size_t index : indexes) {
        rounds->rows_[index].error = error;
        if (error.code == Errc::closed || error.code == Errc::not_found) {
          rounds->again_.push_back(index);  // the broker is gone; somebody else may be in charge
        }
      }
      rounds->close_one();
    }
  };
  // Says who is in charge of the rows at `indexes`: found(index, broker), or settled(index, code) where nobody is.
  struct Finder {
    std::function<void(const Asker&, std::shared_ptr<Rounds>, std::vector<std::size_t>)> find;
  };
  using Ask = std::function<void(Wave&)>;

  static void start(const Asker& asker, std::vector<Row> rows, Finder finder, Ask ask, Done done) {
    const auto rounds = std::make_shared<Rounds>(asker, std::move(rows), std::move(finder), std::move(ask), std::move(done));
    std::vector<std::size_t> all(rounds->rows_.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = i;
    }
    if (all.empty()) {
      rounds->done_(std::move(rounds->rows_));
      return;
    }
    rounds->finder_.find(asker, rounds, std::move(all));
  }
  Rounds(const Asker& asker, std::vector<Row> rows, Finder finder, Ask ask, Done done)
      : asker_(asker),
        rows_(std::move(rows)),
        finder_(std::move(finder)),
        ask_(std::move(ask)),
        done_(std::move(done)),
        until_(std::chrono::steady_clock::now() + std::chrono::nanoseconds(asker.timeout.ns)) {}

  [[nodiscard]] std::vector<Row>& rows() noexcept { return rows_; }
  void settled(std::size_t index, wire::ErrorCode code, const std::optional<std::string>& message = std::nullopt) {
    rows_[index].error = error_of(code, message);
    if (client::worth_another_attempt(code)) {
      again_.push_back(index);
    }
  }
  // After a finding that told nothing at all.
  void give_up(const Error& error, const std::vector<std::size_t>& indexes) {
    if (indexes.size() == rows_.size()) {
      done_(Unexpected(error));
      return;
    }
    done_(std::move(rows_));  // the rows that are missing say why, from the round before
  }
  void go(const std::map<std::int32_t, std::vector<std::size_t>>& by_broker) {
    std::vector<Wave> waves;
    for (const auto& [broker, indexes] : by_broker) {
      std::map<std::string, std::size_t> seen;
      std::vector<Wave> of_broker;
      for (const std::size_t index : indexes) {
        const std::string key = row_key(rows_[index]);
        const std::size_t turn = seen[key]++;
        if (turn >= of_broker.size()) {
          of_broker.push_back({this->shared_from_this(), broker, {}, {}});
        }
        of_broker[turn].indexes.push_back(index);
        of_broker[turn].places[key] = index;
      }
      for (Wave& wave : of_broker) {
        waves.push_back(std::move(wave));
      }
    }
    open_ = waves.size() + 1;
    for (Wave& wave : waves) {
      ask_(wave);
    }
    close_one();
  }

 private:
  void close_one() {
    if (--open_ != 0) {
      return;
    }
    if (again_.empty() || std::chrono::steady_clock::now() >= until_) {
      done_(std::move(rows_));
      return;
    }
    constexpr std::int64_t kBetweenRoundsMs = 100;
    asker_.runner.after(kBetweenRoundsMs, [self = this->shared_from_this()] {
      std::vector<std::size_t> indexes;
      indexes.swap(self->again_);
      self->finder_.find(self->asker_, self, std::move(indexes));
    });
  }

  Asker asker_;
  std::vector<Row> rows_;
  Finder finder_;
  Ask ask_;
  Done done_;
  std::chrono::steady_clock::time_point until_;
  std::size_t open_ = 0;
  std::vector<std::size_t> again_;
};

template <class Row>
typename Rounds<Row>::Finder leaders() {
  return {[](const Asker& asker, std::shared_ptr<Rounds<Row>> rounds, std::vector<std::size_t> indexes) {
    wire::MetadataRequest request;
    request.allow_auto_topic_creation = false;
    request.topics.emplace();
    std::set<std::string> names;
    for (const std::size_t index : indexes) {
      names.insert(rounds->rows()[index].partition.topic);
    }
    for (const std::string& name : names) {
      request.topics->emplace_back().name = name;
    }
    client::CallOptions options;
    options.timeout = asker.timeout;
    options.retry_codes = false;
    asker.runner.call<wire::MetadataResponse>(
        asker.bootstrap, client::Target::any(), std::move(request),
        [rounds, indexes = std::move(indexes)](Result<wire::MetadataResponse> response) {
          if (!response) {
            return rounds->give_up(response.error(), indexes);
          }
          const std::map<std::string, client::TopicInfo> topics = client::topics_of(*response);
          std::map<std::int32_t, std::vector<std::size_t>> by_broker;
          for (const std::size_t index : indexes) {
            const TopicPartitionName& name = rounds->rows()[index].partition;
            const auto topic = topics.find(name.topic);
            if (topic == topics.end() || topic->second.error != wire::ErrorCode::none) {
              rounds->settled(index, topic == topics.end() ? wire::ErrorCode::unknown_topic_or_partition : topic->second.error);
            } else if (name.partition < 0 || static_cast<std::size_t>(name.partition) >= topic->second.partitions.size()) {
              rounds->settled(index, wire::ErrorCode::unknown_topic_or_partition);
            } else if (const BrokerId leader = topic->second.partitions[static_cast<std::size_t>(name.partition)].leader;
                       leader == kNoBroker) {
              rounds->settled(index, wire::ErrorCode::leader_not_available);
            } else {
              by_broker[leader.value()].push_back(index);
            }
          }
          rounds->go(by_broker);
        },
        options);
  }};
}

template <class Row>
typename Rounds<Row>::Finder coordinators() {
  return {[](const Asker& asker, std::shared_ptr<Rounds<Row>> rounds, std::vector<std::size_t> indexes) {
    wire::FindCoordinatorRequest request;
    std::set<std::string> ids;
    for (const std::size_t index : indexes) {
      ids.insert(rounds->rows()[index].id);
    }
    request.coordinator_keys.assign(ids.begin(), ids.end());
    client::CallOptions options;
    options.timeout = asker.timeout;
    options.retry_codes = false;
    asker.runner.call<wire::FindCoordinatorResponse>(
        asker.bootstrap, client::Target::any(), std::move(request),
        [rounds, indexes = std::move(indexes)](Result<wire::FindCoordinatorResponse> response) {
          if (!response) {
            return rounds->give_up(response.error(), indexes);
          }
          std::map<std::string, const wire::FindCoordinatorResponse::Coordinator*> found;
          for (const auto& one : response->coordinators) {
            found[one.key] = &one;
          }
          std::map<std::int32_t, std::vector<std::size_t>> by_broker;
          for (const std::size_t index : indexes) {
            const auto at = found.find(rounds->rows()[index].id);
            if (at == found.end()) {
              rounds->settled(index, wire::ErrorCode::coordinator_not_available);
            } else if (at->second->error_code != wire::ErrorCode::none) {
              rounds->settled(index, at->second->error_code, at->second->error_message);
            } else {
              by_broker[at->second->node_id.value()].push_back(index);
            }
          }
          rounds->go(by_broker);
        },
        options);
  }};
}

// Asks every broker (or those in `only`) the same. take(broker, address, response, rows) appends rows, or says why all fails.
template <class Response, class Row, class Body>
void each_broker(
    Asker asker, std::vector<std::int32_t> only, Body body,
    std::function<std::optional<Error>(std::int32_t, const client::Endpoint&, Result<Response>&, std::vector<Row>&)> take,
    std::function<void(Result<std::vector<Row>>)> done, std::int16_t highest = INT16_MAX) {
  wire::MetadataRequest metadata;
  metadata.topics.emplace();
  asker.ask<wire::MetadataResponse>(
      client::Target::any(), std::move(metadata),
      [asker, only = std::move(only), body = std::move(body), take = std::move(take), done = std::move(done),
       highest](Result<wire::MetadataResponse> response) {
        if (!response) {
          return done(Unexpected(std::move(response.error())));
        }
        std::map<std::int32_t, client::Endpoint> brokers;
        for (const auto& one : response->brokers) {
          brokers[one.node_id.value()] = {one.host, static_cast<std::uint16_t>(one.port)};
        }
        std::set<std::int32_t> asked(only.begin(), only.end());
        if (asked.empty()) {
          for (const auto& [broker, at] : brokers) {
            asked.insert(broker);
          }
        }
        struct All {
          std::map<std::int32_t, std::vector<Row>> rows;  // by broker, so that the order is theirs
          std::optional<Error> error;
          std::size_t open = 0;
        };
        const auto all = std::make_shared<All>();
        all->open = asked.size();
        for (const std::int32_t broker : asked) {
          asker.ask<Response>(
              client::Target::broker_id(broker), body,
              [all, broker, at = brokers[broker], take, done](Result<Response> answer) {
                if (std::optional<Error> error = take(broker, at, answer, all->rows[broker])) {
                  all->error = std::move(error);
                }
                if (--all->open != 0) {
                  return;
                }
                if (all->error) {
                  done(Unexpected(std::move(*all->error)));
                  return;
                }
                std::vector<Row> rows;
                for (auto& [of, some] : all->rows) {
                  std::move(some.begin(), some.end(), std::back_inserter(rows));
                }
                done(std::move(rows));
              },
              highest);
        }
      });
}

// Codes of a response's topics, in the order of `names`.
template <class Topics>
std::vector<PartitionResult> results_of(const std::vector<TopicPartitionName>& names, const Topics& topics) {
  std::map<TopicPartitionName, wire::ErrorCode> codes;
  for (const auto& topic : topics) {
    for (const auto& partition : topic.partitions) {
      codes[{topic.name, partition.partition_index.value()}] = partition.error_code;
    }
  }
  std::vector<PartitionResult> rows;
  for (const TopicPartitionName& name : names) {
    const auto found = codes.find(name);
    rows.push_back({name, found == codes.end() ? std::optional(Error{Errc::corrupt, "the broker does not answer about it"})
                                               : error_of(found->second, std::nullopt)});
  }
  return rows;
}

}  // namespace hw::node
