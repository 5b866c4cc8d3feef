// SPDX-License-Identifier: Apache-2.0
// AdminHost: the administrator of a simulated cluster. It makes the topics of the workload, and meanwhile does what the run has drawn
// (Deed). A deed may fail; what it must not do is break what the checks hold the cluster to.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/base/prng.h"
#include "engine/client/admin.h"
#include "engine/metadata/image/image.h"
#include "engine/sim/client_host.h"
#include "engine/sim/options.h"

namespace hw::sim {

class AdminHost final : public ClientHost {
 public:
  // The newest image that any node has; null: none.
  using NewestImage = std::function<metadata::ImagePtr()>;

  AdminHost(ClientSetting setting, client::ClusterConfig config, const Options& options, NewestImage newest, Prng prng);
  // Asks until it is there.
  void create(const client::NewTopic& topic);
  [[nodiscard]] std::size_t missing() const noexcept { return wanted_.size(); }
  // Deeds of the run, until end().
  void begin_deeds();
  void end() noexcept { doing_ = false; }
  [[nodiscard]] std::uint64_t deeds() const noexcept { return done_; }

 private:
  using Take = std::function<void(const client::AdminResult& result)>;
  void core_step(const client::Input& input) override;
  [[nodiscard]] Instant core_deadline() const override { return core_.next_deadline(); }
  void ask(const client::NewTopic& topic);
  void next_deed();
  void perform(Deed deed);
  void come_and_go();
  void grow(const metadata::TopicImage& topic);
  void delete_records(const metadata::TopicImage& topic, std::int32_t partition);
  void reassign(const metadata::MetadataImage& image, const metadata::TopicImage& topic, std::int32_t partition);
  void elect(const metadata::TopicImage& topic, std::int32_t partition);
  void configure(const metadata::TopicImage& topic);
  void change_voters();
  void add_or_remove_voter(const client::AdminResult& quorum);
  template <class Response, class Body>
  void call(client::Target target, Body body, Take take = {});

  client::Admin core_;
  client::AdminOutputs out_;
  const Options& options_;
  NewestImage newest_;
  Prng prng_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, client::NewTopic> asked_;
  std::map<std::uint64_t, Take> taken_by_;
  std::set<std::string> wanted_;
  std::vector<std::string> scratch_topics_;
  std::int64_t scratch_count_ = 0;
  bool doing_ = false;
  std::uint64_t done_ = 0;
};

}  // namespace hw::sim
