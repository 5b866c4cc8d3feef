// SPDX-License-Identifier: Apache-2.0
// 05: who is in sync is a replica; the leader is in sync, or there is none; eligible leaders (KIP-966) are replicas that are not in
// sync, and there are none while enough are in sync. A broker that is fenced leads nothing.
#include <fmt/core.h>

#include <algorithm>

#include "engine/sim/checks/all.h"

namespace hw::sim {

namespace {

bool among(BrokerId id, const std::vector<BrokerId>& all) { return std::find(all.begin(), all.end(), id) != all.end(); }
std::string text_of(const std::vector<BrokerId>& all) {
  std::string text;
  for (const BrokerId id : all) {
    text += (text.empty() ? "" : ",") + std::to_string(id.value());
  }
  return "[" + text + "]";
}

class InSync final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] const char* name() const noexcept override { return "05 leaders and who is in sync"; }

  void sample() override {
    for (const auto& node : watched().nodes) {
      const api::Insides in = node->insides();
      if (in.image == nullptr || in.image == last_[node->id()]) {
        continue;
      }
      last_[node->id()] = in.image;
      for (const auto& [name, topic] : in.image->topics()) {
        if (!checked_.insert(topic).second) {
          continue;
        }
        for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
          look(*node, name + "-" + std::to_string(i), topic->partitions[i], min_insync(*in.image, name));
        }
      }
      look_at_brokers(*node, *in.image);
      if (checked_.size() > kMostKept) {
        checked_.clear();
      }
    }
  }

 private:
  static constexpr std::size_t kMostKept = 4'096;

  [[nodiscard]] std::size_t min_insync(const metadata::MetadataImage& image, const std::string& topic) const {
    const metadata::ConfigMap* set = image.find_configs({metadata::ConfigResourceType::topic, topic});
    const auto value = set == nullptr ? metadata::ConfigMap::const_iterator{} : set->find("min.insync.replicas");
    return static_cast<std::size_t>(set == nullptr || value == set->end() ? watched().options.min_insync : std::stoi(value->second));
  }

  void look(const NodeHost& node, const std::string& partition, const metadata::PartitionImage& p, std::size_t min_insync) {
    const auto all_of = [&](const std::vector<BrokerId>& part) {
      return std::all_of(part.begin(), part.end(), [&](BrokerId id) { return among(id, p.replicas); });
    };
    std::string why;
    if (!all_of(p.isr) || !all_of(p.elr)) {
      why = "somebody is no replica";
    } else if (p.leader != kNoBroker && !among(p.leader, p.isr)) {
      why = "the leader is not in sync";
    } else if (std::any_of(p.elr.begin(), p.elr.end(), [&](BrokerId id) { return among(id, p.isr); })) {
      why = "an eligible leader is in sync as well";
    } else if (!p.elr.empty() && p.isr.size() >= min_insync) {
      why = "enough are in sync, so nobody else may be eligible";
    } else if (p.leader != kNoBroker && p.isr.empty()) {
      why = "nobody is in sync";
    }
    if (!why.empty()) {
      wrong(fmt::format("{}: {}: leader {}, replicas {}, ISR {}, ELR {}: {}", node_text(node), partition, p.leader.value(),
                        text_of(p.replicas), text_of(p.isr), text_of(p.elr), why));
    }
  }

  // A broker that is fenced leads nothing, and is in sync only where nobody else is (so that it can lead again when it is back).
  void look_at_brokers(const NodeHost& node, const metadata::MetadataImage& image) {
    const auto fenced = [&](BrokerId id) {
      const metadata::BrokerImage* broker = image.find_broker(id);
      return broker == nullptr || broker->fenced;
    };
    for (const auto& [name, topic] : image.topics()) {
      for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
        const metadata::PartitionImage& p = topic->partitions[i];
        if (p.leader != kNoBroker && fenced(p.leader)) {
          wrong(fmt::format("{}: {}-{}: its leader {} is fenced", node_text(node), name, i, p.leader.value()));
        } else if (p.isr.size() > 1 && std::any_of(p.isr.begin(), p.isr.end(), fenced)) {
          wrong(fmt::format("{}: {}-{}: in sync are {}, and one of them is fenced", node_text(node), name, i, text_of(p.isr)));
        }
      }
    }
  }

  std::map<BrokerId, metadata::ImagePtr> last_;
  std::set<std::shared_ptr<const metadata::TopicImage>> checked_;
};

}  // namespace

CheckPtr make_in_sync(const Watched& watched, const Check::Report& report) { return std::make_unique<InSync>(watched, report); }

}  // namespace hw::sim
