// SPDX-License-Identifier: Apache-2.0
// BatchAnatomy: one stored batch taken apart: every field of its header and of its records with the place of its bytes.
//
// Two spaces of bytes: the batch as stored, and its records decompressed (the same bytes where nothing is compressed, at
// another place). Made off the UI thread, immutable afterwards. At most kFull records get all their fields, the one asked for
// always; of further ones only the extent is told, up to kListed.
#pragma once

#include <QString>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/base/bytes.h"
#include "ui/session/session.h"

namespace hw::ui {

struct BytesField {
  // What it is; words and colours are the window's.
  enum class Kind : std::uint8_t {
    base_offset,
    length,
    leader_epoch,
    magic,
    crc,
    attributes,
    last_offset_delta,
    base_timestamp,
    max_timestamp,
    producer_id,
    producer_epoch,
    base_sequence,
    record_count,
    records,  // all of them, compressed or not
    record,
    record_length,
    record_attributes,
    timestamp_delta,
    offset_delta,
    key_length,
    key,
    value_length,
    value,
    header_count,
    header,
    header_name_length,
    header_name,
    header_value_length,
    header_value,
  };
  Kind kind = Kind::base_offset;
  bool in_records = false;   // place in the decompressed records, not in the batch
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t number = 0;   // of a number; of a record its offset
  std::int32_t index = -1;   // of a record in its batch, or of a header in its record
  std::vector<BytesField> children;
};

struct BatchAnatomy {
  static constexpr std::int32_t kFull = 64;
  static constexpr std::int32_t kListed = 1'000;
  QString error;            // why there is nothing, or no records; translated
  Bytes stored;             // the whole batch
  Bytes records;            // its records, decompressed; a slice of `stored` where they are not compressed
  bool compressed = false;
  std::uint32_t computed_crc = 0;
  bool crc_ok = false;
  std::vector<BytesField> header;
  BytesField all_records;
  RecordRow row;            // the record that was asked for, whole
  bool found = false;       // it is there
  [[nodiscard]] std::int64_t recordsSize() const { return static_cast<std::int64_t>(records.size()); }
};
using BatchAnatomyPtr = std::shared_ptr<const BatchAnatomy>;

// Pure; any thread. `stored` begins with the batch.
[[nodiscard]] BatchAnatomy anatomy_of(const Bytes& stored, std::int32_t partition, std::int64_t offset);
// Reads the batch that holds `offset` and takes it apart on the reader's thread. `done` is called on the UI thread; not at
// all where `context` has gone by then.
void read_anatomy(const std::shared_ptr<BatchReader>& reader, const std::string& topic, std::int32_t partition,
                  std::int64_t offset, QObject* context, std::function<void(BatchAnatomyPtr)> done);

}  // namespace hw::ui
