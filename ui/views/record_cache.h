// SPDX-License-Identifier: Apache-2.0
// RecordCache: what is known about the records of one partition near the visible range: enough to paint their cells.
// Bounded; what lies furthest from the newest insertion is forgotten. Offsets inside a known range without a record have
// been removed (or never existed). Thread rule: UI thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ui/geometry/lane_detail.h"
#include "ui/session/session.h"

namespace hw::ui {

class RecordCache {
 public:
  enum class Kind : std::uint8_t { record, tombstone, empty_value, commit_marker, abort_marker };
  struct Cell {
    Kind kind = Kind::record;
    std::int8_t hue = -1;  // of the key; -1: null
    char16_t letter = 0;
    bool transactional = false;
    std::int64_t batch_base = 0;
    std::int32_t batch_records = 0;
    std::int32_t size_bytes = 0;  // key and value
    std::int64_t timestamp_ms = -1;
  };
  static constexpr std::size_t kMaxCells = 8'192;

  // `rows` are all records of [from, to).
  void insert(std::int64_t from, std::int64_t to, std::span<const RecordRow> rows);
  void clear();
  [[nodiscard]] const Cell* find(std::int64_t offset) const;
  [[nodiscard]] bool known(std::int64_t offset) const;
  // The first part of [from, to) about which nothing is known.
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> missing(std::int64_t from, std::int64_t to) const;
  // Batches with their ends, ascending, from records that are here.
  [[nodiscard]] std::vector<geometry::Run> batches(std::int64_t from, std::int64_t to) const;

 private:
  void addRange(std::int64_t from, std::int64_t to);
  std::map<std::int64_t, Cell> cells_;
  std::vector<geometry::Run> ranges_;  // ascending, apart
};

}  // namespace hw::ui
