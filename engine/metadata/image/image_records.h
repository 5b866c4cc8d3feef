// SPDX-License-Identifier: Apache-2.0
// An image written out, and two images compared: what snapshots of the metadata log need (KIP-630).
//
// records_of(image), replayed into an empty builder, gives an equal image. Whoever adds something to the image adds it here.
// Thread rule: pure functions.
#pragma once

#include <vector>

#include "engine/metadata/image/image.h"
#include "engine/metadata/image/record.h"

namespace hw::metadata {

// In Kafka's order: metadata.version first, then the other features, brokers, controllers, topics with their partitions, configurations, client
// quotas, producer ids.
[[nodiscard]] std::vector<Record> records_of(const MetadataImage& image);

// What leads from one image to another of the same cluster: as if the records in between had been replayed.
[[nodiscard]] MetadataDelta difference(const MetadataImage& from, const MetadataImage& to);

}  // namespace hw::metadata
