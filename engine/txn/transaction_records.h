// SPDX-License-Identifier: Apache-2.0
// The records of __transaction_state, byte for byte as Kafka writes them: the key is a transactional id, the value all that is
// known of it; no value: the id has expired.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/bytes.h"
#include "engine/txn/transaction.h"

namespace hw::txn {

// Nothing where the bytes are not a key or value of a version that is known.
[[nodiscard]] std::optional<std::string> decode_key(const Bytes& key);
[[nodiscard]] std::optional<Transaction> decode_value(const Bytes& value);

// Nothing where the text is too long to be written.
[[nodiscard]] std::optional<Bytes> encode_key(std::string_view transactional_id);
// `flexible`: version 1, which brokers write from transaction.version 1 on; version 0 leaves out what came later.
[[nodiscard]] std::optional<Bytes> encode_value(const Transaction& transaction, bool flexible);

}  // namespace hw::txn
