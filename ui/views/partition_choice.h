// SPDX-License-Identifier: Apache-2.0
// Why a record goes to a partition, in a formula and a sentence. Numbers come from engine/client/partitioner.h.
#pragma once

#include <QCoreApplication>
#include <QString>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"

namespace hw::ui {

struct PartitionChoice {
  Q_DECLARE_TR_FUNCTIONS(PartitionChoice)

 public:
  QString formula;   // mono; empty where there is none
  QString sentence;
  QString summary;   // "murmur2(key) % 3 = 2"
  // The formula step by step, and what librdkafka's partitioner (CRC-32) would say: name, words.
  std::vector<std::pair<QString, QString>> steps;
  std::optional<std::int32_t> partition;  // where it goes; nullopt: the producer spreads

  // `fixed`: chosen by hand. `key` nullopt: null. `partitions` ≤ 0: the topic does not exist yet.
  [[nodiscard]] static PartitionChoice of(const std::optional<Bytes>& key, std::int32_t partitions,
                                          std::optional<std::int32_t> fixed);
  // Does a record that is in `actual` agree with what a Java client would have chosen?
  [[nodiscard]] static PartitionChoice explain(const std::optional<Bytes>& key, std::int32_t partitions,
                                               std::int32_t actual);
};

// CRC-32 of IEEE 802.3 (not the CRC-32C of batches): librdkafka's "consistent" partitioners take it modulo the partitions.
[[nodiscard]] std::uint32_t crc32_ieee(ByteSpan bytes);

}  // namespace hw::ui
