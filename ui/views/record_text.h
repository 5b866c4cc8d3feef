// SPDX-License-Identifier: Apache-2.0
// Keys, values and headers as text: always from the head of the bytes, so that a value of 20 MiB costs what a small one
// does. Null is not the empty string, and neither is the text "null". Thread rule: UI thread only.
#pragma once

#include <QString>
#include <cstdint>
#include <optional>

#include "engine/base/bytes.h"
#include "ui/session/session.h"

namespace hw::ui {

enum class ValueKind : std::uint8_t { null, empty, json, text, binary };

// What a value looks like, judged by at most its first 4 KiB.
[[nodiscard]] ValueKind value_kind(const std::optional<Bytes>& value);
[[nodiscard]] QString value_kind_name(ValueKind kind);
// One line of at most `max` characters: text with control characters shown as spaces, or hexadecimal. For null and
// empty the caller paints ∅ and "".
[[nodiscard]] QString value_line(const std::optional<Bytes>& value, int max = 400);
// Several lines for the detail pane: JSON indented, other text as it is; at most `max_bytes` are looked at.
// `cut` is set where the value goes on.
[[nodiscard]] QString value_block(const std::optional<Bytes>& value, std::size_t max_bytes, bool& cut);

// A key or value as the text of a JSON value: null, a JSON string, or {"base64": …} where it is not UTF-8.
[[nodiscard]] QString json_of(const std::optional<Bytes>& bytes);
// The whole record as JSON on several lines; values are cut at 1 MiB, and the JSON says so.
[[nodiscard]] QString record_json(const QString& topic, const RecordRow& row);
// A kcat line that reads exactly this record.
[[nodiscard]] QString kcat_line(const QString& bootstrap, const QString& topic, const RecordRow& row);
// "COMMIT marker, pid 4005 epoch 7" for a control record.
[[nodiscard]] QString marker_text(const RecordRow& row);
// An `hw` line that prints exactly this record.
[[nodiscard]] QString hw_line(const QString& bootstrap, const QString& topic, const RecordRow& row);
// "12:03:31.004" and "2026-11-29 12:03:31.004", in UTC or local time; empty for -1.
[[nodiscard]] QString time_text(std::int64_t ms_since_epoch, bool utc);
[[nodiscard]] QString date_time_text(std::int64_t ms_since_epoch, bool utc);
// "trace=ab12 · retry=∅"
[[nodiscard]] QString headers_line(const RecordRow& row, int max = 200);

}  // namespace hw::ui
