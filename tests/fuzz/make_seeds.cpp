// SPDX-License-Identifier: Apache-2.0
// make_seeds FOLDER: random messages of every API and version, one file each, in the form that fuzz_request_decoder reads.
// The same files on every run.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/base/prng.h"
#include "engine/wire/msg/messages.h"
#include "engine/wire/runtime/random_message.h"
#include "engine/wire/runtime/writer.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a tool for tests
using namespace hw::wire;  // NOLINT(google-build-using-namespace)

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  Prng prng(1);
  std::int16_t index = 0;
  for (const MessageInfo& info : all_messages()) {
    const bool is_api = info.kind == MessageKind::request || info.kind == MessageKind::response;
    for (int version = info.versions.low; version <= info.versions.high; ++version) {
      Writer seed;
      seed.int16(is_api ? info.key : index);
      seed.int16(static_cast<std::int16_t>(version));
      seed.int8(info.kind == MessageKind::request ? 0 : info.kind == MessageKind::response ? 1 : 2);
      seed.raw(random_message(info, static_cast<std::int16_t>(version), prng).span());
      const Bytes bytes = seed.finish().flatten();
      std::ofstream out(folder / (std::string(info.name) + "_v" + std::to_string(version)), std::ios::binary);
      out.write(bytes.text().data(), static_cast<std::streamsize>(bytes.size()));
      if (!out) {
        std::fprintf(stderr, "cannot write into %s\n", folder.c_str());
        return 1;
      }
    }
    ++index;
  }
  return 0;
}
