// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/consumer/topic_hash.h"

#include <algorithm>
#include <string_view>

#include <xxhash.h>

#include "engine/groups/runtime/java_string.h"

namespace hw::groups {
namespace {

// Numbers little endian; a text as its UTF-16 code units, and how many they are after it.
class Hash {
 public:
  void put_long(std::uint64_t value) { put(value, 8); }

  void put_int(std::size_t value) { put(value, 4); }

  void put_byte(std::uint8_t value) { put(value, 1); }

  void put_string(std::string_view text) {
    const std::u16string units = java_units(text);
    for (const char16_t unit : units) {
      put(unit, 2);
    }
    put_int(units.size());
  }

  [[nodiscard]] std::int64_t value() const {
    return static_cast<std::int64_t>(XXH3_64bits(bytes_.data(), bytes_.size()));
  }

 private:
  void put(std::uint64_t value, int bytes) {
    for (; bytes > 0; --bytes, value >>= 8U) {
      bytes_.push_back(static_cast<char>(value & 0xFFU));
    }
  }

  std::string bytes_;
};

constexpr std::uint8_t kForm = 0;  // of what is hashed; Kafka would count it up with a change

}  // namespace

std::int64_t topic_hash(TopicFacts topic) {
  Hash hash;
  hash.put_byte(kForm);
  hash.put_long(topic.id.high);
  hash.put_long(topic.id.low);
  hash.put_string(topic.name);
  hash.put_int(topic.racks.size());
  for (std::size_t partition = 0; partition < topic.racks.size(); ++partition) {
    hash.put_int(partition);
    std::ranges::sort(topic.racks[partition]);
    for (const std::string& rack : topic.racks[partition]) {
      hash.put_int(java_length(rack));
      hash.put_string(rack);
    }
  }
  return hash.value();
}

std::int64_t group_metadata_hash(const std::map<std::string, std::int64_t>& topics) {
  if (topics.empty()) {
    return 0;
  }
  Hash hash;
  for (const auto& [name, topic] : topics) {
    hash.put_long(static_cast<std::uint64_t>(topic));
  }
  return hash.value();
}

}  // namespace hw::groups
