// SPDX-License-Identifier: Apache-2.0
#include "ui/views/record_cache.h"

#include <algorithm>

#include "ui/painting/shapes.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

// Control records: the key is a 16-bit version and a 16-bit type, 0 abort, 1 commit (KIP-98).
RecordCache::Kind marker_of(const RecordRow& row) {
  if (row.key && row.key->size() >= 4) {
    return static_cast<int>(row.key->data()[3]) == 0 ? RecordCache::Kind::abort_marker : RecordCache::Kind::commit_marker;
  }
  return RecordCache::Kind::commit_marker;
}

RecordCache::Cell cell_of(const RecordRow& row) {
  RecordCache::Cell cell;
  if (row.control) {
    cell.kind = marker_of(row);
  } else if (!row.value) {
    cell.kind = RecordCache::Kind::tombstone;
  } else if (row.value->empty()) {
    cell.kind = RecordCache::Kind::empty_value;
  }
  if (row.key && !row.control) {
    cell.hue = static_cast<std::int8_t>(Theme::current().keyHueIndex(row.key->span()));
    const QString letter = key_letter(row.key->span());
    cell.letter = letter.isEmpty() ? u'\0' : letter.front().unicode();
  }
  cell.transactional = row.transactional;
  cell.batch_base = row.batch_base_offset;
  cell.batch_records = row.batch_records;
  cell.size_bytes =
      static_cast<std::int32_t>(std::min<std::size_t>((row.key ? row.key->size() : 0) + (row.value ? row.value->size() : 0),
                                                      static_cast<std::size_t>(INT32_MAX)));
  cell.timestamp_ms = row.timestamp_ms;
  return cell;
}

}  // namespace

void RecordCache::clear() {
  cells_.clear();
  ranges_.clear();
}

void RecordCache::addRange(std::int64_t from, std::int64_t to) {
  std::vector<geometry::Run> merged;
  geometry::Run fresh{from, to};
  for (const geometry::Run& run : ranges_) {
    if (run.to < fresh.from || run.from > fresh.to) {
      merged.push_back(run);
    } else {
      fresh.from = std::min(fresh.from, run.from);
      fresh.to = std::max(fresh.to, run.to);
    }
  }
  merged.push_back(fresh);
  std::sort(merged.begin(), merged.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  ranges_ = std::move(merged);
}

void RecordCache::insert(std::int64_t from, std::int64_t to, std::span<const RecordRow> rows) {
  if (to <= from) {
    return;
  }
  if (cells_.size() + rows.size() > kMaxCells) {
    // Keep a neighbourhood of what is looked at now, forget the rest.
    const std::int64_t near_from = from - static_cast<std::int64_t>(kMaxCells / 4);
    const std::int64_t near_to = to + static_cast<std::int64_t>(kMaxCells / 4);
    std::erase_if(cells_, [&](const auto& entry) { return entry.first < near_from || entry.first >= near_to; });
    std::vector<geometry::Run> kept;
    for (const geometry::Run& run : ranges_) {
      const geometry::Run part{std::max(run.from, near_from), std::min(run.to, near_to)};
      if (part.from < part.to) {
        kept.push_back(part);
      }
    }
    ranges_ = std::move(kept);
    if (cells_.size() + rows.size() > kMaxCells) {
      clear();
    }
  }
  for (const RecordRow& row : rows.first(std::min(rows.size(), kMaxCells))) {
    cells_[row.offset] = cell_of(row);
  }
  addRange(from, to);
}

const RecordCache::Cell* RecordCache::find(std::int64_t offset) const {
  const auto at = cells_.find(offset);
  return at == cells_.end() ? nullptr : &at->second;
}

bool RecordCache::known(std::int64_t offset) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const geometry::Run& run) { return run.from <= offset && offset < run.to; });
}

std::optional<std::pair<std::int64_t, std::int64_t>> RecordCache::missing(std::int64_t from, std::int64_t to) const {
  std::int64_t at = from;
  for (const geometry::Run& run : ranges_) {
    if (run.to <= at) {
      continue;
    }
    if (run.from > at) {
      return at < to ? std::optional(std::make_pair(at, std::min(to, run.from))) : std::nullopt;
    }
    at = run.to;
  }
  return at < to ? std::optional(std::make_pair(at, to)) : std::nullopt;
}

std::vector<geometry::Run> RecordCache::batches(std::int64_t from, std::int64_t to) const {
  std::vector<geometry::Run> runs;
  for (auto at = cells_.lower_bound(from); at != cells_.end() && at->first < to; ++at) {
    if (runs.empty() || at->second.batch_base > runs.back().from) {
      runs.push_back({at->second.batch_base, at->first + 1});
    } else {
      runs.back().to = at->first + 1;
    }
  }
  return runs;
}

}  // namespace hw::ui
