// SPDX-License-Identifier: Apache-2.0
// 07: nodes that have replayed the metadata log up to the same offset hold the same image, whether from records or from a snapshot.
#include <fmt/core.h>

#include "engine/metadata/image/image_records.h"
#include "engine/sim/checks/all.h"

namespace hw::sim {

namespace {

class ImagesEqual final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] const char* name() const noexcept override { return "07 images are equal at equal offsets"; }

  void sample() override {
    for (const auto& node : watched().nodes) {
      const api::Insides in = node->insides();
      if (in.image == nullptr || in.image == last_[node->id()]) {
        continue;
      }
      last_[node->id()] = in.image;
      const std::uint64_t hash = hash_of(*in.image);
      const auto [it, fresh] = hashes_.try_emplace(in.image->offset(), hash, node->id());
      if (!fresh && it->second.first != hash) {
        wrong(fmt::format("{} has another image at offset {} than node {}", node_text(*node), in.image->offset().value(),
                          it->second.second.value()));
      }
    }
  }

 private:
  static std::uint64_t hash_of(const metadata::MetadataImage& image) {
    std::uint64_t hash = static_cast<std::uint64_t>(image.epoch());
    for (const metadata::Record& record : metadata::records_of(image)) {
      const Result<Bytes> bytes = metadata::encode_record(record);
      for (const std::byte b : bytes ? bytes->span() : ByteSpan{}) {
        hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001b3ULL;
      }
    }
    return hash;
  }

  std::map<BrokerId, metadata::ImagePtr> last_;
  std::map<Offset, std::pair<std::uint64_t, BrokerId>> hashes_;
};

}  // namespace

CheckPtr make_images_equal(const Watched& watched, const Check::Report& report) {
  return std::make_unique<ImagesEqual>(watched, report);
}

}  // namespace hw::sim
