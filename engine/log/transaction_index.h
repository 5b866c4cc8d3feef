// SPDX-License-Identifier: Apache-2.0
// TransactionIndex: the aborted transactions that end in one segment (.txnindex, KIP-98). The file is there only where there is one.
//
//   version i16 (0) · producer id i64 · first offset i64 · last offset i64 (its marker) · last stable offset i64
//
// Entries come in the order of their markers. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/env/disk.h"

namespace hw::log {

struct AbortedTxnEntry {
  ProducerId producer_id;
  Offset first_offset;
  Offset last_offset;
  Offset last_stable_offset;
  friend bool operator==(const AbortedTxnEntry&, const AbortedTxnEntry&) = default;
};

class TransactionIndex {
 public:
  TransactionIndex(env::Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}
  Result<void> append(const AbortedTxnEntry& entry);
  // All entries; read once, then kept.
  Result<const std::vector<AbortedTxnEntry>*> entries();
  // Drops those whose marker is at or above `offset`.
  Result<void> truncate_to(Offset offset);
  Result<void> reset() { return truncate_to(Offset(0)); }
  [[nodiscard]] std::shared_ptr<env::File> file() const { return file_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  void moved_to(std::string path) { path_ = std::move(path); }
  void mark_new() { loaded_ = true; }  // the segment was just made: there is nothing to read

 private:
  Result<void> load();
  env::Disk& disk_;
  std::string path_;
  bool loaded_ = false;
  std::shared_ptr<env::File> file_;
  std::vector<AbortedTxnEntry> entries_;
};

}  // namespace hw::log
