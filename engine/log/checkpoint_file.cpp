// SPDX-License-Identifier: Apache-2.0
#include "engine/log/checkpoint_file.h"

#include <charconv>
#include <optional>

namespace hw::log {
namespace {

// Takes the text up to `separator` off the front of `text`; nullopt where there is none.
std::optional<std::string_view> take(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at + 1);
  return word;
}

template <class Number>
bool read_number(std::string_view word, Number& into) {
  const auto [at, error] = std::from_chars(word.data(), word.data() + word.size(), into);
  return error == std::errc{} && at == word.data() + word.size();
}

// Version and count; leaves `text` at the first entry.
Result<std::size_t> read_head(std::string_view& text) {
  int version = -1;
  std::int32_t count = -1;
  const std::optional<std::string_view> first = take(text, '\n');
  const std::optional<std::string_view> second = take(text, '\n');
  if (!first || !second || !read_number(*first, version) || !read_number(*second, count) || count < 0) {
    return fail(Errc::corrupt, "a checkpoint file does not begin with its version and count");
  }
  if (version != 0) {
    return fail(Errc::unsupported, "a checkpoint file has version " + std::to_string(version) + ", known is 0");
  }
  return static_cast<std::size_t>(count);
}

}  // namespace

std::string format_offsets(const OffsetCheckpoint& offsets) {
  std::string text = "0\n" + std::to_string(offsets.size()) + "\n";
  for (const auto& [key, offset] : offsets) {
    text += key.first;
    text += ' ';
    text += std::to_string(key.second.value());
    text += ' ';
    text += std::to_string(offset.value());
    text += '\n';
  }
  return text;
}

Result<OffsetCheckpoint> parse_offsets(std::string_view text) {
  OffsetCheckpoint offsets;
  if (text.empty()) {
    return offsets;
  }
  HW_TRY(const std::size_t count, read_head(text));
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<std::string_view> line = take(text, '\n');
    std::int32_t partition = -1;
    std::int64_t offset = -1;
    if (line) {
      const std::optional<std::string_view> topic = take(*line, ' ');
      const std::optional<std::string_view> index = take(*line, ' ');
      if (topic && index && !topic->empty() && read_number(*index, partition) && read_number(*line, offset) &&
          partition >= 0) {
        offsets[{std::string(*topic), PartitionIndex(partition)}] = Offset(offset);
        continue;
      }
    }
    return fail(Errc::corrupt, "line " + std::to_string(i + 3) + " of an offset checkpoint cannot be read");
  }
  if (!text.empty()) {
    return fail(Errc::corrupt, "an offset checkpoint has more lines than it says");
  }
  return offsets;
}

std::string format_epochs(const std::vector<EpochEntry>& entries) {
  std::string text = "0\n" + std::to_string(entries.size()) + "\n";
  for (const EpochEntry& entry : entries) {
    text += std::to_string(entry.epoch.value()) + " " + std::to_string(entry.start_offset.value()) + "\n";
  }
  return text;
}

Result<std::vector<EpochEntry>> parse_epochs(std::string_view text) {
  std::vector<EpochEntry> entries;
  if (text.empty()) {
    return entries;
  }
  HW_TRY(const std::size_t count, read_head(text));
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<std::string_view> line = take(text, '\n');
    std::int32_t epoch = -1;
    std::int64_t start = -1;
    if (line) {
      const std::optional<std::string_view> word = take(*line, ' ');
      if (word && read_number(*word, epoch) && read_number(*line, start) && epoch >= 0 && start >= 0) {
        entries.push_back({LeaderEpoch(epoch), Offset(start)});
        continue;
      }
    }
    return fail(Errc::corrupt, "line " + std::to_string(i + 3) + " of a leader epoch checkpoint cannot be read");
  }
  if (!text.empty()) {
    return fail(Errc::corrupt, "a leader epoch checkpoint has more lines than it says");
  }
  return entries;
}

}  // namespace hw::log
