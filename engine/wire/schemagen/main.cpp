// SPDX-License-Identifier: Apache-2.0
// schemagen SCHEMAS OUTPUT                  writes the C++ of all schemas below SCHEMAS into OUTPUT
// schemagen --check SCHEMAS                 only parses and validates
// schemagen --check-evolution OLD NEW       says what in NEW breaks peers that speak OLD
// Exit code 0, 1 with errors as file:line, 2 for a wrong command line.
#include <iostream>
#include <string>
#include <vector>

#include "engine/wire/schemagen/check.h"
#include "engine/wire/schemagen/emit.h"
#include "engine/wire/schemagen/parser.h"

namespace {

using namespace hw::schemagen;

Schema load(const std::string& folder, Errors& errors) {
  Schema schema = parse_folder(folder, errors);
  if (errors.empty()) {
    check(schema, errors);
  }
  return schema;
}

int report(const Errors& errors) {
  for (const std::string& error : errors) {
    std::cerr << error << '\n';
  }
  return errors.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  Errors errors;
  if (arguments.size() == 2 && arguments[0] == "--check") {
    load(arguments[1], errors);
    return report(errors);
  }
  if (arguments.size() == 3 && arguments[0] == "--check-evolution") {
    const Schema before = load(arguments[1], errors);
    const Schema after = load(arguments[2], errors);
    if (errors.empty()) {
      check_evolution(before, after, errors);
    }
    return report(errors);
  }
  if (arguments.size() == 2 && !arguments[0].starts_with("--")) {
    const Schema schema = load(arguments[0], errors);
    if (errors.empty()) {
      emit_all(schema, arguments[1], errors);
    }
    return report(errors);
  }
  std::cerr << "usage: schemagen SCHEMAS OUTPUT | --check SCHEMAS | --check-evolution OLD NEW\n";
  return 2;
}
