// SPDX-License-Identifier: Apache-2.0
// BatchReader: stored batches by offset, for whoever reads much (scans, exports) or wants the bytes themselves.
//
// Thread rule: read() from any thread; `done` runs on a thread of the reader's own, one call after the other, never on the
// caller's. It may outlive its session: afterwards reads do nothing and `done` is dropped. The bytes are slices of what the
// engine holds wherever that is memory; keep them no longer than needed.
#pragma once

#include <QString>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "ui/session/session.h"

namespace hw::ui {

struct BatchQuery {
  std::string topic;
  std::int32_t partition = 0;
  std::int64_t from_offset = 0;
  std::int32_t max_bytes = 1 << 20;  // at least one batch comes, however large
  bool committed = false;            // no further than the last stable offset
};

struct BatchAnswer {
  QString error;  // empty: fine
  Bytes bytes;    // whole batches end to end; the first may begin before from_offset; empty at the end
  std::int64_t log_start_offset = 0;
  std::int64_t high_watermark = 0;
  std::int64_t last_stable_offset = 0;
  std::int64_t log_end_offset = 0;
  struct Aborted {
    std::int64_t producer_id = -1;
    std::int64_t first_offset = 0;
  };
  std::vector<Aborted> aborted;  // with `committed` only
};

class BatchReader {
 public:
  virtual ~BatchReader() = default;
  virtual void read(const BatchQuery& query, std::function<void(BatchAnswer)> done) = 0;
};

}  // namespace hw::ui
