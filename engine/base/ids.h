// SPDX-License-Identifier: Apache-2.0
// The numbers that Kafka's protocol and log are made of, each a type of its own.
#pragma once

#include <cstdint>

#include "engine/base/strong.h"

namespace hw {

using BrokerId = Strong<struct BrokerIdTag, std::int32_t>;
using PartitionIndex = Strong<struct PartitionIndexTag, std::int32_t>;
using LeaderEpoch = Strong<struct LeaderEpochTag, std::int32_t>;
using ProducerId = Strong<struct ProducerIdTag, std::int64_t>;
using ProducerEpoch = Strong<struct ProducerEpochTag, std::int16_t>;
using ConnectionId = Strong<struct ConnectionIdTag, std::uint64_t>;
using ChannelId = Strong<struct ChannelIdTag, std::uint64_t>;  // from one node to another

inline constexpr BrokerId kNoBroker{-1};
inline constexpr LeaderEpoch kNoLeaderEpoch{-1};
inline constexpr ProducerId kNoProducerId{-1};
inline constexpr ProducerEpoch kNoProducerEpoch{-1};

// A position in a partition's log. Points subtract to a distance; a point plus a distance is a point.
using OffsetDelta = std::int64_t;
class Offset {
 public:
  constexpr Offset() noexcept = default;
  explicit constexpr Offset(std::int64_t value) noexcept : value_(value) {}
  [[nodiscard]] constexpr std::int64_t value() const noexcept { return value_; }
  friend constexpr auto operator<=>(Offset, Offset) noexcept = default;
  friend constexpr bool operator==(Offset, Offset) noexcept = default;
  friend constexpr OffsetDelta operator-(Offset a, Offset b) noexcept { return a.value_ - b.value_; }
  friend constexpr Offset operator+(Offset a, OffsetDelta d) noexcept { return Offset(a.value_ + d); }
  friend constexpr Offset operator-(Offset a, OffsetDelta d) noexcept { return Offset(a.value_ - d); }
  constexpr Offset& operator+=(OffsetDelta d) noexcept {
    value_ += d;
    return *this;
  }

 private:
  std::int64_t value_ = 0;
};
inline constexpr Offset kNoOffset{-1};

}  // namespace hw

template <>
struct std::hash<hw::Offset> {
  std::size_t operator()(hw::Offset v) const noexcept { return std::hash<std::int64_t>{}(v.value()); }
};
