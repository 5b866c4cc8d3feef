// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/image/record.h"

#include <string>
#include <type_traits>
#include <utility>

#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::metadata {
namespace {

constexpr std::uint32_t kFrameVersion = 1;

// Record types are the api keys of Kafka's record schemas.
template <class T>
struct TypeOf;
#define HW_RECORD_TYPE(name, number)                  \
  template <>                                         \
  struct TypeOf<wire::name> {                         \
    static constexpr std::uint32_t value = (number);  \
    static constexpr const char* text = #name;        \
  }
HW_RECORD_TYPE(RegisterBrokerRecord, 0);
HW_RECORD_TYPE(UnregisterBrokerRecord, 1);
HW_RECORD_TYPE(TopicRecord, 2);
HW_RECORD_TYPE(PartitionRecord, 3);
HW_RECORD_TYPE(ConfigRecord, 4);
HW_RECORD_TYPE(PartitionChangeRecord, 5);
HW_RECORD_TYPE(FenceBrokerRecord, 7);
HW_RECORD_TYPE(UnfenceBrokerRecord, 8);
HW_RECORD_TYPE(RemoveTopicRecord, 9);
HW_RECORD_TYPE(FeatureLevelRecord, 12);
HW_RECORD_TYPE(ClientQuotaRecord, 14);
HW_RECORD_TYPE(ProducerIdsRecord, 15);
HW_RECORD_TYPE(BrokerRegistrationChangeRecord, 17);
HW_RECORD_TYPE(NoOpRecord, 20);
HW_RECORD_TYPE(BeginTransactionRecord, 23);
HW_RECORD_TYPE(EndTransactionRecord, 24);
HW_RECORD_TYPE(AbortTransactionRecord, 25);
HW_RECORD_TYPE(RegisterControllerRecord, 27);
HW_RECORD_TYPE(ClearElrRecord, 28);
HW_RECORD_TYPE(UnregisterControllerRecord, 29);
#undef HW_RECORD_TYPE

template <class T>
std::int16_t version_to_write(const T&) {
  return T::kHighestVersion;
}
// Kafka writes the lowest version that carries what is set.
std::int16_t version_to_write(const wire::BrokerRegistrationChangeRecord& record) {
  if (record.cordoned_log_dirs) {
    return 3;
  }
  if (!record.log_dirs.empty()) {
    return 2;
  }
  return record.in_controlled_shutdown != 0 ? 1 : 0;
}

template <class T>
Result<Record> decode_body(wire::Reader& reader, std::uint32_t version) {
  if (version > static_cast<std::uint32_t>(T::kHighestVersion)) {
    return fail(Errc::unsupported, std::string(TypeOf<T>::text) + " version " + std::to_string(version) +
                                       " was written by a newer release");
  }
  T record;
  if (!decode(reader, record, static_cast<std::int16_t>(version)) || reader.remaining() != 0) {
    return fail(Errc::corrupt, std::string("a ") + TypeOf<T>::text + " does not decode: " +
                                   (reader.ok() ? "bytes are left over" : reader.error()));
  }
  return Record(std::move(record));
}

// Tries the alternatives of the variant until one has the type.
template <std::size_t I = 0>
Result<Record> decode_known(wire::Reader& reader, std::uint32_t type, std::uint32_t version) {
  using T = std::variant_alternative_t<I, Record>;
  if constexpr (std::is_same_v<T, UnknownRecord>) {
    UnknownRecord record;
    record.type = type;
    record.version = version;
    record.body = reader.raw(reader.remaining());
    return Record(std::move(record));
  } else {
    if (TypeOf<T>::value == type) {
      return decode_body<T>(reader, version);
    }
    return decode_known<I + 1>(reader, type, version);
  }
}

}  // namespace

Result<Bytes> encode_record(const Record& record) {
  wire::Writer writer(128);
  writer.uvarint(kFrameVersion);
  const bool ok = std::visit(
      [&writer](const auto& body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, UnknownRecord>) {
          writer.uvarint(body.type);
          writer.uvarint(body.version);
          writer.raw(body.body.span());
          return writer.ok();
        } else {
          const std::int16_t version = version_to_write(body);
          writer.uvarint(TypeOf<T>::value);
          writer.uvarint(static_cast<std::uint32_t>(version));
          return encode(writer, body, version);
        }
      },
      record);
  if (!ok) {
    return fail(Errc::invalid, std::string(record_name(record)) + " does not encode: " + writer.error());
  }
  return writer.finish().flatten();
}

Result<Record> decode_record(const Bytes& value) {
  wire::Reader reader(value);
  const std::uint32_t frame_version = reader.uvarint();
  const std::uint32_t type = reader.uvarint();
  const std::uint32_t version = reader.uvarint();
  if (!reader.ok()) {
    return fail(Errc::truncated, "a metadata record ends inside its header");
  }
  if (frame_version != kFrameVersion) {
    return fail(Errc::corrupt, "a metadata record has frame version " + std::to_string(frame_version));
  }
  return decode_known(reader, type, version);
}

const char* record_name(const Record& record) noexcept {
  return std::visit(
      [](const auto& body) -> const char* {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, UnknownRecord>) {
          return "UnknownRecord";
        } else {
          return TypeOf<T>::text;
        }
      },
      record);
}

}  // namespace hw::metadata
