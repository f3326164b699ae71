#include "native/cli/commands/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "core/runtime/resolve_target.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/os/cleanup.hpp"
#include "native/os/resource_limits.hpp"

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
  return fmt::format(
      "Targets are host/engine[:option=value,…]: hosts pc, chrome, firefox, safari (WebKitGTK), file;\n"
      "engines, each with its options:\n{}"
      "In a browser the option wasm={} insists on one\n"
      "of the builds; else the best one that the browser can run is taken.",
      engine_list, fmt::join(wasm_builds, "|"));
}

/// Options of every command, before or behind its name.
struct Limits {
  std::uint64_t memory = 0;  // bytes; 0: by what is free
  double seconds = 0.0;      // 0: none
};

void add_limits(CLI::App& app, Limits& limits) {
  app.add_option(
         "--max-memory", limits.memory,
         "Of this process, as in 4GiB or 500MB: a model that needs more is refused. Default: four fifths "
         "of what is free when it starts. Browsers have limits of their own")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1} << 20, std::uint64_t{1} << 50));
  app.add_option("--max-time", limits.seconds, "Seconds after which everything is ended (default: none)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 1e9));
}

void set_limits(const Limits& limits, std::optional<TimeLimit>& time) {
  const std::int64_t free = available_memory();
  if (limits.memory > 0)
    limit_memory(static_cast<std::int64_t>(limits.memory));
  else if (free > 0)
    limit_memory(free / 2);
  if (limits.seconds <= 0.0) return;
  time.emplace(std::chrono::milliseconds(static_cast<std::int64_t>(limits.seconds * 1000.0)),
               [seconds = limits.seconds] {
                 CleanupRegistry::instance().undo_all([seconds] {
                   print_error(limit_error(fmt::format(
                       "the {} s of --max-time are over; nothing was left behind, allow more for this model",
                       seconds)));
                   std::_Exit(static_cast<int>(Exit::bad_input));
                 });
               });
}

std::map<const CLI::App*, Command> declare(CLI::App& app, Limits& limits) {
  app.name("driftscope");
  app.description(
      "Driftscope runs an ONNX model on the PC and in browsers, keeps what every layer computed, and\n"
      "says where two places first differ, whether that is a bug or rounding, and what it costs.");
  app.require_subcommand(1);
  app.fallthrough();
  add_limits(app, limits);
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
    // CLI11 prints help, version or the mistake; everything but help and version is a usage error.
    return app.exit(error) == 0 ? Exit::ok : Exit::bad_input;
  }
  std::optional<TimeLimit> time;
  set_limits(limits, time);
  return commands.at(app.get_subcommands().front())();
}

}  // namespace driftscope
