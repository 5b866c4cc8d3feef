// SPDX-License-Identifier: Apache-2.0
// Client quotas as administration sees them: what may be set (AlterClientQuotas) and what is set (DescribeClientQuotas).
// What they do to clients is engine/quotas. Source: KIP-13, KIP-55, KIP-257, KIP-546, KIP-599, KIP-612.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/metadata/image/image.h"
#include "engine/metadata/image/record.h"
#include "engine/metadata/refusal.h"
#include "engine/wire/msg/alter_client_quotas.h"
#include "engine/wire/msg/describe_client_quotas.h"

namespace hw::metadata {

// The entity of a request: a type named twice counts once, with the later name.
[[nodiscard]] QuotaEntity quota_entity(const wire::AlterClientQuotasRequest::EntryData& entry);
// The records that carry out one entry, or why it is refused. `newest`: with what is not committed yet.
[[nodiscard]] Result<std::vector<Record>, Refusal> quota_records(const wire::AlterClientQuotasRequest::EntryData& entry,
                                                                 const MetadataImage& newest);
[[nodiscard]] wire::DescribeClientQuotasResponse describe_client_quotas(const wire::DescribeClientQuotasRequest& request,
                                                                        const MetadataImage& image);

}  // namespace hw::metadata
