// SPDX-License-Identifier: Apache-2.0
#include "engine/log/log_directory.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace hw::log {
namespace {

template <class Number>
bool read_number(std::string_view word, Number& into) {
  const auto [at, error] = std::from_chars(word.data(), word.data() + word.size(), into);
  return error == std::errc{} && at == word.data() + word.size() && !word.empty();
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' || text.back() == '\n')) {
    text.remove_suffix(1);
  }
  return text;
}

// Lines of `key<separator>value`; '#' and '!' begin comments.
std::map<std::string, std::string> read_pairs(std::string_view text, char separator) {
  std::map<std::string, std::string> pairs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t at = line.find(separator);
    if (line.empty() || line.front() == '#' || line.front() == '!' || at == std::string_view::npos) {
      continue;
    }
    pairs[std::string(trim(line.substr(0, at)))] = std::string(trim(line.substr(at + 1)));
  }
  return pairs;
}

}  // namespace

std::string format_meta(const MetaProperties& meta) {
  return "#\ncluster.id=" + meta.cluster_id + "\ndirectory.id=" + meta.directory_id.text() +
         "\nnode.id=" + std::to_string(meta.node_id.value()) + "\nversion=" + std::to_string(meta.version) + "\n";
}

Result<MetaProperties> parse_meta(std::string_view text) {
  const std::map<std::string, std::string> pairs = read_pairs(text, '=');
  const auto get = [&](const char* key) {
    const auto it = pairs.find(key);
    return it == pairs.end() ? std::string() : it->second;
  };
  MetaProperties meta;
  if (!read_number(get("version"), meta.version)) {
    return fail(Errc::corrupt, "meta.properties has no version");
  }
  if (meta.version != 1) {
    return fail(Errc::unsupported, "meta.properties has version " + std::to_string(meta.version) +
                                       "; this program knows version 1, so the folder was written by " +
                                       (meta.version > 1 ? "a newer version" : "a version that used ZooKeeper"));
  }
  meta.cluster_id = get("cluster.id");
  std::int32_t node = -1;
  if (meta.cluster_id.empty() || !read_number(get("node.id"), node) || node < 0) {
    return fail(Errc::corrupt, "meta.properties lacks cluster.id or node.id");
  }
  meta.node_id = BrokerId(node);
  if (const std::string id = get("directory.id"); !id.empty()) {
    const std::optional<Uuid> parsed = Uuid::parse(id);
    if (!parsed) {
      return fail(Errc::corrupt, "the directory.id of meta.properties is not an id");
    }
    meta.directory_id = *parsed;
  }
  return meta;
}

std::string format_clean_shutdown(std::int64_t broker_epoch) {
  return "{\"version\":0,\"brokerEpoch\":" + std::to_string(broker_epoch) + "}";
}

Result<std::int64_t> parse_clean_shutdown(std::string_view text) {
  // Two known members; nothing else is ever in it.
  std::int64_t epoch = -1;
  std::int32_t version = -1;
  const auto member = [&](std::string_view name, auto& into) {
    const std::string quoted = "\"" + std::string(name) + "\":";
    const std::size_t at = text.find(quoted);
    if (at == std::string_view::npos) {
      return false;
    }
    const std::string_view rest = text.substr(at + quoted.size());
    return read_number(trim(rest.substr(0, rest.find_first_of(",}"))), into);
  };
  if (!member("version", version) || !member("brokerEpoch", epoch)) {
    return fail(Errc::corrupt, "the clean shutdown file cannot be read");
  }
  return epoch;
}

std::string format_partition_metadata(const Uuid& topic_id) { return "version: 0\ntopic_id: " + topic_id.text(); }

Result<Uuid> parse_partition_metadata(std::string_view text) {
  const std::map<std::string, std::string> pairs = read_pairs(text, ':');
  const auto version = pairs.find("version");
  const auto id = pairs.find("topic_id");
  if (version == pairs.end() || id == pairs.end()) {
    return fail(Errc::corrupt, "partition.metadata lacks version or topic_id");
  }
  if (version->second != "0") {
    return fail(Errc::unsupported, "partition.metadata has version " + version->second);
  }
  const std::optional<Uuid> parsed = Uuid::parse(id->second);
  if (!parsed || parsed->is_zero()) {
    return fail(Errc::corrupt, "the topic_id of partition.metadata is not an id");
  }
  return *parsed;
}

std::string partition_directory(std::string_view topic, PartitionIndex partition) {
  return std::string(topic) + "-" + std::to_string(partition.value());
}

std::optional<DirectoryName> parse_partition_directory(std::string_view name) {
  const std::size_t dash = name.find_last_of('-');
  std::int32_t partition = -1;
  if (dash == std::string_view::npos || dash == 0 || !read_number(name.substr(dash + 1), partition) || partition < 0) {
    return std::nullopt;
  }
  return DirectoryName{std::string(name.substr(0, dash)), PartitionIndex(partition)};
}

std::size_t future_directory_length(std::string_view topic, PartitionIndex partition) {
  return partition_directory(topic, partition).size() + std::string_view(".").size() + 32 + std::string_view("-future").size();
}

std::string renamed_directory(std::string_view topic, PartitionIndex partition, const Uuid& unique,
                              std::string_view suffix) {
  std::string hex = unique.hex();
  std::erase(hex, '-');
  const std::string tail = "-" + std::to_string(partition.value()) + "." + hex + std::string(suffix);
  return std::string(topic.substr(0, std::min(topic.size(), 255 - tail.size()))) + tail;
}

}  // namespace hw::log
