// driftscope: parses the command line and turns what happened into an exit code.
#include <malloc.h>

#include <csignal>
#include <exception>
#include <map>

#include "native/cli/commands.hpp"
#include "native/server/cleanup.hpp"

namespace driftscope {
namespace {

Exit run_command_line(int argc, char** argv) {
  CLI::App app{
      "Driftscope runs an ONNX model on the PC and in browsers, keeps what every layer computed, and\n"
      "says where two places first differ, whether that is a bug or rounding, and what it costs.",
      "driftscope"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "driftscope " DRIFTSCOPE_VERSION);
  app.footer(
      "Targets are host/engine[:option=value,…]: hosts pc, chrome, firefox, safari (WebKitGTK), file;\n"
      "engines reference (double, the judge), strict (float32, the same bits everywhere) and ort (ONNX\n"
      "Runtime). In a browser the option wasm=relaxed-threads|simd-threads|relaxed|simd insists on one\n"
      "of the builds; else the best one that the browser can run is taken.\n\n"
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

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 prints help, version or the mistake; everything but help and version is wrong use.
    return app.exit(error) == 0 ? Exit::ok : Exit::bad_input;
  }
  return commands.at(app.get_subcommands().front())();
}

}  // namespace
}  // namespace driftscope

int main(int argc, char** argv) {
  // What layers make comes and goes by the megabyte. What is freed is kept for the next: getting fresh
  // pages takes longer than computing many a layer.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  // A limit on file sizes and a closed pipe are errors of a write, which says so; not our death.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  const driftscope::SignalWatcher signals;  // before any other thread
  try {
    return static_cast<int>(driftscope::run_command_line(argc, argv));
  } catch (const std::bad_alloc&) {
    driftscope::print_error(driftscope::limit_error("out of memory"));
    return static_cast<int>(driftscope::Exit::bad_input);
  } catch (const std::exception& error) {
    driftscope::print_error(driftscope::internal_error(error.what()));
    return static_cast<int>(driftscope::Exit::fault);
  }
}
