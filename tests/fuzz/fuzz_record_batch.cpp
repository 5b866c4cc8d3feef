// SPDX-License-Identifier: Apache-2.0
// Bytes as batches: cursor, iterator, validator and rebuilding must agree and stay inside their bounds. To get behind the
// checksum the CRC of every batch is put right in a copy before it is checked.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "engine/wire/record/record_iterator.h"
#include "engine/wire/record/validate.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::wire;  // NOLINT(google-build-using-namespace)

namespace {
constexpr std::size_t kBound = 1 << 20;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

// Every record is looked at; the number of good ones comes back.
std::int32_t walk(RecordIterator& records) {
  std::int32_t count = 0;
  for (RecordView record; records.next(record); ++count) {
    std::int32_t headers = 0;
    HeaderCursor cursor = record.headers();
    for (HeaderView header; cursor.next(header); ++headers) {
      require(header.key.size() <= static_cast<std::size_t>(record.size_bytes));
    }
    require(headers == record.header_count);
    (void)records.share(record.value.value_or(ByteSpan{}));
  }
  return count;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static RecordScratch scratch;
  std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data), reinterpret_cast<const std::byte*>(data) + size);
  (void)check_produce_request(bytes, 13);
  BatchCursor cursor(bytes);
  for (BatchView batch; cursor.next(batch);) {
    const auto at = static_cast<std::size_t>(batch.span().data() - bytes.data());
    const MutableByteSpan mutable_batch = MutableByteSpan(bytes).subspan(at, batch.size());
    seal_batch(mutable_batch);
    require(batch_intact(batch));
    Result<RecordIterator> records = RecordIterator::open(batch, kBound);
    const bool good = records && walk(*records) == batch.count() && !records->failed();
    set_base_offset(mutable_batch, Offset{0});
    ProduceRules rules;
    rules.max_decompressed_bytes = kBound;
    rules.compacted = (size & 1U) != 0;
    const ClientBatchCheck check = check_client_batch(batch, rules, WallTime{1'700'000'000'000}, scratch);
    if (check.verdict.ok()) {
      require(good);  // what a leader takes, a consumer can read
      require(static_cast<bool>(rebuild_batch(batch, Compression::lz4, std::nullopt, kBound)));
      stamp_batch(mutable_batch, Offset{100}, LeaderEpoch{1}, rules, WallTime{1'700'000'000'000}, check);
      require(batch_intact(batch));
    } else {
      require(!check.verdict.detail.empty());
    }
  }
  require(cursor.status() == BatchStatus::end || !cursor.problem().empty());
  return 0;
}
