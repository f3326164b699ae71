#include "native/cli/commands/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>

#include "core/runtime/resolve_target.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/limit_options.hpp"
#include "native/cli/commands/parse_error.hpp"
#include "native/host/host.hpp"

namespace driftscope {
namespace {

std::string targets_help() {
  std::string engine_list;
  for (const auto& engine : engines()) {
    const EngineInfo& info = engine->info();
    engine_list += fmt::format("  {:<10} {}\n", info.name, info.summary);
    for (const std::string& option : option_lines(info))
      engine_list += fmt::format("  {:<10}   {}\n", "", option);
  }
  std::vector<std::string_view> hosts;
  for (const auto& host : host_table().all()) hosts.push_back(host->facts().name);
  return fmt::format(
      "Targets are host/engine[:option=value,…]: hosts {} (safari is WebKitGTK on Linux);\n"
      "engines, each with its options:\n"
      "{}In a browser and in Node the option wasm={} selects one\n"
      "of the builds; else the best one that the browser can run is used.",
      fmt::join(hosts, ", "), engine_list, fmt::join(wasm_builds, "|"));
}

/// An option of a list takes one argument each time that it is there: what follows may be the model.
void take_one_each(CLI::App& command) {
  for (CLI::Option* const option : command.get_options())
    if (option->nonpositional()) option->allow_extra_args(false);
  for (CLI::App* const inner : command.get_subcommands([](CLI::App*) { return true; })) take_one_each(*inner);
}

std::map<const CLI::App*, Command> declare(CLI::App& app, Limits& limits) {
  app.name("driftscope");
  app.description(
      "Driftscope runs an ONNX model on the PC and in browsers, keeps what every layer computed, and\n"
      "says where two places first differ, whether that is a bug or rounding, and what it costs.");
  app.require_subcommand(1);
  app.fallthrough();
  add_limits(app, limits);  // before a command's name or behind it
  app.set_version_flag("--version", "driftscope " DRIFTSCOPE_VERSION);
  app.footer(targets_help() +
             "\n\n"
             "  driftscope compare lenet5.onnx --left pc/strict --right chrome/strict,firefox/strict\n"
             "  driftscope verify model.onnx trace-from-anywhere.safetensors\n\n"
             "Exit codes: 0 no fault; 1 a fault or a failed check; 2 wrong use or bad input; 3 something\n"
             "needed is missing here.");
  std::vector<CommandInfo> table = command_table().all();
  std::ranges::sort(table, {}, &CommandInfo::order);
  std::map<const CLI::App*, Command> commands;
  for (const CommandInfo& info : table) {
    CLI::App* command = app.add_subcommand(std::string(info.name), std::string(info.summary));
    commands[command] = info.declare(*command);
    take_one_each(*command);
  }
  return commands;
}

}  // namespace

void declare_commands(CLI::App& app) {
  static Limits unused;
  (void)declare(app, unused);
}

Exit run_command_line(int argc, char** argv) {
  CLI::App app;
  Limits limits;
  const std::map<const CLI::App*, Command> commands = declare(app, limits);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return print_parse_error(app, error);
  }
  std::optional<TimeLimit> time;
  set_limits(limits, time);
  return commands.at(app.get_subcommands().front())();
}

}  // namespace driftscope
