// driftscope schema [--json|--typescript]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/protocol/schema.hpp"
#include "native/cli/commands/commands.hpp"

namespace driftscope {

namespace commands::schema {

static Command declare(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "For machines: the schema itself, as the program was built from it");
  auto typescript = std::make_shared<bool>(false);
  app.add_flag("--typescript", *typescript, "Declarations of the messages and of a client, a .d.ts file")
      ->excludes("--json");
  app.footer(
      "The command line, the page and bench processes talk to one service in these messages: a request, "
      "then\n"
      "its response. A request with an unknown field, without a required one, or with a value out of range "
      "is\n"
      "answered by an error that names the field and what was expected.\n\n"
      "  driftscope schema | less\n"
      "  driftscope schema --json | jq '.requests[] | select(.name == \"start\") | .fields'");
  return [json, typescript] {
    if (*typescript)
      print_out("{}", schema_declarations());
    else if (*json)
      print_out("{}", schema_json());
    else
      print_out("{}", schema_text());
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 100,
             .name = "schema",
             .summary = "Print the messages that the service understands, for client authors.",
             .declare = declare});
}

}  // namespace commands::schema

}  // namespace driftscope
