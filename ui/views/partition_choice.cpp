// SPDX-License-Identifier: Apache-2.0
#include "ui/views/partition_choice.h"

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

PartitionChoice PartitionChoice::of(const std::optional<Bytes>& key, std::int32_t partitions,
                                    std::optional<std::int32_t> fixed) {
  PartitionChoice choice;
  if (fixed) {
    choice.partition = fixed;
    choice.sentence = tr("You chose partition %1; the key plays no part.").arg(*fixed);
    return choice;
  }
  if (partitions <= 0) {
    choice.sentence = tr("The topic does not exist yet. Producing creates it, if auto-creation is on.");
    return choice;
  }
  if (!key) {
    choice.sentence = tr("No key: the producer spreads records over the partitions, batch by batch.");
    return choice;
  }
  choice.partition = client::partition_for_key(key->span(), partitions);
  choice.formula = formula_for(*key, partitions, *choice.partition);
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
    choice.sentence = tr("A Java client would have chosen partition %1. This record is in %2: another partitioner, a "
                         "chosen partition, or the topic had another number of partitions.")
                          .arg(*choice.partition).arg(actual);
  }
  return choice;
}

}  // namespace hw::ui
