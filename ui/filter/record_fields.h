// SPDX-License-Identifier: Apache-2.0
// The fields that a filter over records has, and a record as a Source. It takes plain views, so that batches can be judged
// without making rows of them. Thread rule: none; a RecordSource is used by one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/filter/filter_types.h"

namespace hw::ui::filter {

enum class RecordField : int {
  topic,
  partition,
  offset,
  time,
  key,
  value,
  hdr,
  size,
  key_size,
  value_size,
  headers,
  tombstone,
  control,
  transactional,
  compression,
  batch,
  batch_records,
  epoch,
  producer_id,
  producer_epoch,
  sequence,
};

struct RecordFacts {
  struct Header {
    std::string_view name;
    std::optional<std::string_view> value;
  };
  std::string_view topic;
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::int64_t timestamp_ms = -1;
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  std::vector<Header> headers;
  std::int32_t header_count = 0;
  std::int64_t size_bytes = 0;  // key, value and headers
  bool control = false;
  bool transactional = false;
  std::string_view compression;
  std::int64_t batch_base_offset = 0;
  std::int32_t batch_records = 0;
  std::int32_t leader_epoch = -1;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  std::int32_t sequence = -1;  // of the record, -1: none
};

// key, value and headers are what a word alone is looked for in.
[[nodiscard]] const VocabularyPtr& record_vocabulary();

class RecordSource final : public Source {
 public:
  RecordFacts facts;
  [[nodiscard]] Datum get(const FieldRef& ref, std::size_t occurrence) const override;

 private:
  mutable std::string unescaped_;
};

}  // namespace hw::ui::filter
