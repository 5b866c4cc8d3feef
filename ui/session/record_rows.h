// SPDX-License-Identifier: Apache-2.0
// Record batches as a log holds them → rows as a consumer would see them. Pure; runs on a worker thread.
#pragma once

#include "ui/session/session.h"

namespace hw::ui {

// Rows of `batches` within [query.from_offset, query.to_offset), at most query.max_records. Control records are rows
// too, marked as such. answer.next_offset is where the next read goes on. A batch that cannot be decoded ends the answer
// with an error in words.
void decode_rows(const BytesChain& batches, const ReadQuery& query, ReadAnswer& answer);

}  // namespace hw::ui
