// SPDX-License-Identifier: Apache-2.0
#include "ui/views/partition_choice.h"

#include <array>

#include "engine/client/partitioner.h"
#include "ui/painting/shapes.h"

namespace hw::ui {

namespace {

QString formula_for(const Bytes& key, std::int32_t partitions, std::int32_t result) {
  const auto hash = static_cast<std::uint32_t>(client::murmur2(key.span()));
  const QString name = key.empty() ? QStringLiteral("\"\"") : QStringLiteral("\"%1\"").arg(key_text(key.span(), 24));
  return QStringLiteral("murmur2(%1) = 0x%2\n& 0x7fffffff % %3 = %4")
      .arg(name)
      .arg(hash, 8, 16, QLatin1Char('0'))
      .arg(partitions)
      .arg(result);
}

}  // namespace

std::uint32_t crc32_ieee(ByteSpan bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) {
        c = (c & 1U) != 0 ? 0xedb88320U ^ (c >> 1) : c >> 1;
      }
      t[i] = c;
    }
    return t;
  }();
  std::uint32_t crc = 0xffffffffU;
  for (const std::byte b : bytes) {
    crc = table[(crc ^ static_cast<std::uint32_t>(b)) & 0xffU] ^ (crc >> 8);
  }
  return ~crc;
}

PartitionChoice PartitionChoice::of(const std::optional<Bytes>& key, std::int32_t partitions,
                                    std::optional<std::int32_t> fixed) {
  PartitionChoice choice;
  if (fixed) {
    choice.partition = fixed;
    choice.sentence = tr("You chose partition %1; the key plays no part.").arg(*fixed);
    return choice;
  }
  if (partitions <= 0) {
    choice.sentence = tr("Create the topic first: sending from here does not create it.");
    return choice;
  }
  if (!key) {
    choice.sentence = tr("No key: the producer spreads records over the partitions, batch by batch.");
    return choice;
  }
  choice.partition = client::partition_for_key(key->span(), partitions);
  choice.formula = formula_for(*key, partitions, *choice.partition);
  const auto hash = static_cast<std::uint32_t>(client::murmur2(key->span()));
  choice.summary = QStringLiteral("murmur2(key) % %1 = %2").arg(partitions).arg(*choice.partition);
  choice.steps.emplace_back(QStringLiteral("murmur2(key)"), QStringLiteral("0x%1").arg(hash, 8, 16, QLatin1Char('0')));
  choice.steps.emplace_back(QStringLiteral("& 0x7fffffff"), QString::number(hash & 0x7fffffffU));
  choice.steps.emplace_back(QStringLiteral("% %1").arg(partitions), QString::number(*choice.partition));
  const std::uint32_t crc = crc32_ieee(key->span());
  choice.steps.emplace_back(tr("CRC32, as librdkafka"), QStringLiteral("0x%1 % %2 = %3")
                                                            .arg(crc, 8, 16, QLatin1Char('0'))
                                                            .arg(partitions)
                                                            .arg(crc % static_cast<std::uint32_t>(partitions)));
  choice.sentence = key->empty()
                        ? tr("An empty key is a key: always partition %1 while the topic has %2 partitions.")
                              .arg(*choice.partition).arg(partitions)
                        : tr("This key always goes to partition %1 while the topic has %2 partitions.")
                              .arg(*choice.partition).arg(partitions);
  return choice;
}

PartitionChoice PartitionChoice::explain(const std::optional<Bytes>& key, std::int32_t partitions,
                                         std::int32_t actual) {
  PartitionChoice choice = of(key, partitions, std::nullopt);
  if (!key) {
    choice.sentence = tr("No key: the producer chose partition %1.").arg(actual);
    choice.partition = actual;
  } else if (choice.partition && *choice.partition != actual) {
    const auto crc = crc32_ieee(key->span()) % static_cast<std::uint32_t>(partitions);
    choice.summary = tr("%1, murmur2 says %2").arg(actual).arg(*choice.partition);
    if (static_cast<std::int32_t>(crc) == actual) {
      choice.summary = tr("crc32(key) % %1 = %2, murmur2 says %3").arg(partitions).arg(actual).arg(*choice.partition);
      choice.sentence = tr("A Java client would have chosen partition %1. This record is where CRC32 puts it, as librdkafka's "
                           "producers do.")
                            .arg(*choice.partition);
      return choice;
    }
    choice.sentence = tr("A Java client would have chosen partition %1. This record is in %2: another partitioner, a "
                         "chosen partition, or the topic had another number of partitions.")
                          .arg(*choice.partition).arg(actual);
  }
  return choice;
}

}  // namespace hw::ui
