// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/runtime/random_message.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/wire/runtime/writer.h"

namespace hw::wire {
namespace {

bool is_text_like(WireType type) {
  return type == WireType::string || type == WireType::bytes || type == WireType::records;
}

std::int64_t default_number(const FieldInfo& field) {
  std::string_view text = field.default_text;
  if (text == "true") {
    return 1;
  }
  const bool hex = text.starts_with("0x");
  text.remove_prefix(hex ? 2 : 0);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  return error == std::errc() ? value : 0;
}

class Generator {
 public:
  Generator(const MessageInfo& message, std::int16_t version, Prng* prng, const RandomOptions& options)
      : version_(version), compact_(version >= message.flexible_from), prng_(prng), options_(options) {}

  void structure(Writer& out, const StructInfo& info) {
    for (const FieldInfo& field : info.fields) {
      if (field.tag < 0 && field.versions.contains(version_)) {
        value(out, field);
      }
    }
    if (compact_) {
      tags(out, info);
    }
  }

 private:
  struct Tagged {
    std::uint32_t tag = 0;
    Bytes payload;
  };

  [[nodiscard]] bool chance(std::uint32_t numerator, std::uint32_t denominator) {
    return prng_ != nullptr && prng_->chance({numerator, denominator});
  }

  void tags(Writer& out, const StructInfo& info) {
    std::vector<Tagged> fields;
    std::uint32_t first_unknown = 0;
    for (const FieldInfo& field : info.fields) {
      if (field.tag < 0) {
        continue;
      }
      first_unknown = std::max(first_unknown, static_cast<std::uint32_t>(field.tag) + 1);
      if (!field.versions.contains(version_) || !chance(1, 2)) {
        continue;
      }
      Writer random;
      value(random, field);
      Bytes payload = random.finish().flatten();
      Writer plain;
      Generator defaults(*this);
      defaults.prng_ = nullptr;
      defaults.value(plain, field);
      if (!(payload == plain.finish().flatten())) {
        fields.push_back({static_cast<std::uint32_t>(field.tag), std::move(payload)});
      }
    }
    std::ranges::sort(fields, {}, &Tagged::tag);
    if (options_.unknown_tags && chance(1, 10)) {
      const std::uint32_t tag = first_unknown + static_cast<std::uint32_t>(prng_->below(300));
      fields.push_back({tag, random_bytes()});
      if (chance(1, 2)) {
        fields.push_back({tag + 1 + static_cast<std::uint32_t>(prng_->below(100'000)), random_bytes()});
      }
    }
    out.tag_count(fields.size());
    for (const Tagged& each : fields) {
      out.uvarint(each.tag);
      out.uvarint(static_cast<std::uint32_t>(each.payload.size()));
      out.raw(each.payload.span());
    }
  }

  void value(Writer& out, const FieldInfo& field) {
    if (is_null(field)) {
      null(out, field);
    } else if (field.array) {
      const std::size_t count = prng_ == nullptr ? 0 : static_cast<std::size_t>(prng_->below(options_.max_items + 1));
      out.array_length(count, compact_);
      for (std::size_t i = 0; i < count; ++i) {
        element(out, field);
      }
    } else {
      if (field.type == WireType::structure && field.nullable.contains(version_)) {
        out.int8(1);
      }
      element(out, field);
    }
  }

  bool is_null(const FieldInfo& field) {
    if (!field.nullable.contains(version_)) {
      return false;
    }
    if (prng_ != nullptr) {
      return chance(1, 4);
    }
    return field.default_text == "null" || (field.type == WireType::records && !field.array);
  }

  void null(Writer& out, const FieldInfo& field) {
    if (!field.array && field.type == WireType::structure) {
      out.int8(-1);
    } else if (!field.array && field.type == WireType::string) {
      out.null_string(compact_ && !field.never_compact);
    } else {
      out.null_bytes(compact_ && !field.never_compact);
    }
  }

  void element(Writer& out, const FieldInfo& field) {
    if (field.type == WireType::structure) {
      structure(out, *field.fields);
    } else if (is_text_like(field.type)) {
      text(out, field);
    } else {
      number(out, field);
    }
  }

  void text(Writer& out, const FieldInfo& field) {
    const bool compact = compact_ && !field.never_compact;
    if (field.type == WireType::string) {
      out.string(prng_ == nullptr ? std::string(field.default_text) : random_text(), compact);
    } else {
      out.bytes(prng_ == nullptr ? Bytes() : random_bytes(), compact);
    }
  }

  std::size_t random_size() {
    const std::size_t limit = chance(1, 30) ? options_.max_text * 10 : options_.max_text;
    return static_cast<std::size_t>(prng_->below(limit + 1));
  }

  std::string random_text() {
    static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789.-_ /:";
    std::string text;
    for (std::size_t left = random_size(); left > 0; --left) {
      text += chance(1, 40) ? std::string("\xc3\xa4") : std::string(1, kLetters[prng_->below(kLetters.size())]);
    }
    return text;
  }

  Bytes random_bytes() {
    ByteBuilder bytes;
    for (std::size_t left = random_size(); left > 0; --left) {
      *bytes.extend(1) = static_cast<std::byte>(prng_->below(256));
    }
    return bytes.finish();
  }

  // Small numbers, numbers of any size, and the ends of the range.
  std::int64_t random_number(const FieldInfo& field) {
    if (chance(1, 3)) {
      return prng_->between(-2, 100);
    }
    if (chance(1, 8)) {
      return default_number(field);
    }
    if (chance(1, 8)) {
      return chance(1, 2) ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
    }
    return static_cast<std::int64_t>(prng_->next());
  }

  void number(Writer& out, const FieldInfo& field) {
    const std::int64_t value = prng_ == nullptr ? default_number(field) : random_number(field);
    switch (field.type) {
      case WireType::boolean: out.boolean(prng_ == nullptr ? value != 0 : chance(1, 2)); return;
      case WireType::int8: out.int8(static_cast<std::int8_t>(value)); return;
      case WireType::int16: out.int16(static_cast<std::int16_t>(value)); return;
      case WireType::uint16: out.uint16(static_cast<std::uint16_t>(value)); return;
      case WireType::int32: out.int32(static_cast<std::int32_t>(value)); return;
      case WireType::uint32: out.uint32(static_cast<std::uint32_t>(value)); return;
      case WireType::int64: out.int64(value); return;
      case WireType::float64: out.float64(static_cast<double>(value) / 8); return;  // finite: NaN equals nothing
      case WireType::uuid:
        if (prng_ == nullptr || chance(1, 4)) {
          out.uuid(Uuid{});
        } else {
          out.uuid(Uuid{prng_->next(), prng_->next()});
        }
        return;
      case WireType::string:
      case WireType::bytes:
      case WireType::records:
      case WireType::structure: return;
    }
  }

  std::int16_t version_;
  bool compact_;
  Prng* prng_;  // null: defaults
  const RandomOptions& options_;
};

Bytes generate(const MessageInfo& message, std::int16_t version, Prng* prng, const RandomOptions& options) {
  Writer out;
  Generator(message, version, prng, options).structure(out, *message.root);
  return out.finish().flatten();
}

}  // namespace

Bytes random_message(const MessageInfo& message, std::int16_t version, Prng& prng, const RandomOptions& options) {
  return generate(message, version, &prng, options);
}

Bytes default_message(const MessageInfo& message, std::int16_t version) {
  return generate(message, version, nullptr, {});
}

}  // namespace hw::wire
