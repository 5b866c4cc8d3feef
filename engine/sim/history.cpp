// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/history.h"

#include <charconv>

namespace hw::sim {

Bytes value_of(const RecordName& name, std::size_t size) {
  std::string text = name.text() + " ";
  if (text.size() < size) {
    text.resize(size, '.');
  }
  return Bytes::copy_of(text);
}

RecordName name_of(std::string_view value) {
  RecordName name;
  const char* const end = value.data() + value.size();
  const auto producer = std::from_chars(value.data(), end, name.producer);
  if (producer.ec != std::errc{} || producer.ptr == end || *producer.ptr != ':') {
    return {};
  }
  const auto number = std::from_chars(producer.ptr + 1, end, name.number);
  return number.ec == std::errc{} ? name : RecordName{};
}

std::string text_of(const PartitionKey& key) { return key.first + "-" + std::to_string(key.second); }

}  // namespace hw::sim
