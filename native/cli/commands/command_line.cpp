#include "native/cli/commands/command_line.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <map>

#include "core/runtime/resolve_target.hpp"
#include "native/cli/commands/commands.hpp"

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

}  // namespace

Exit run_command_line(int argc, char** argv) {
  CLI::App app{
      "Driftscope runs an ONNX model on the PC and in browsers, keeps what every layer computed, and\n"
      "says where two places first differ, whether that is a bug or rounding, and what it costs.",
      "driftscope"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "driftscope " DRIFTSCOPE_VERSION);
  app.footer(targets_help() +
             "\n\n"
             "  driftscope compare lenet5.onnx --left pc/strict --right chrome/strict,firefox/strict\n"
             "  driftscope verify model.onnx trace-from-anywhere.safetensors\n\n"
             "Exit codes: 0 no fault; 1 a fault or a failed check; 2 wrong use or bad input; 3 something\n"
             "needed is missing here.");
  std::map<const CLI::App*, Command> commands;
  const auto add = [&](const char* name, const char* description, Command (*declare)(CLI::App&)) {
    CLI::App* command = app.add_subcommand(name, description);
    commands[command] = declare(*command);
  };
  add("run", "Run a model on one target; print its layers, write a trace.", add_run);
  add("verify", "Judge traces made anywhere: is each layer right, rounding, or a fault?", add_verify);
  add("compare", "Run a model on several targets and compare them layer by layer.", add_compare);
  add("baseline", "Keep what a model gives, and fail when it becomes worse.", add_baseline);
  add("bench", "Measure models on several targets side by side: time, memory, download.", add_bench);
  add("bench-worker", "A process of a bench.", add_bench_worker);
  add("conformance", "Run the ONNX conformance cases on any target.", add_conformance);
  add("serve", "Serve the page on this machine, to be opened in any browser here.", add_serve);
  add("gui", "Show runs and comparisons in a window; start new ones there.", add_gui);
  add("doctor", "Show what this machine can run, and why not the rest.", add_doctor);
  add("schema", "Print the messages that the service understands, for people who write clients.", add_schema);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 prints help, version or the mistake; everything but help and version is wrong use.
    return app.exit(error) == 0 ? Exit::ok : Exit::bad_input;
  }
  return commands.at(app.get_subcommands().front())();
}

}  // namespace driftscope
