#include "native/cli/commands/capture_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

namespace driftscope {
namespace {

/// "lenet5-chrome-fast-threads=2.safetensors".
std::string default_name(const std::string& model, const Target& target) {
  std::string name = std::filesystem::path(model).stem().string() + "-" + target.text();
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '=' || c == '-' || c == '_' || c == '.';
    if (!plain) c = '-';
  }
  return name + ".safetensors";
}

/// 0, or a number of runs.
CLI::Validator none_or(int least, int most) {
  return CLI::Validator(
      [least, most](const std::string& text) -> std::string {
        const CLI::Range range(least, most);
        return text == "0" ? std::string() : range(text);
      },
      fmt::format("0 or INT in [{} - {}]", least, most));
}

}  // namespace

DeviceChecks device_checks(const CaptureOptions& options) {
  return {.compare_runs = options.repeat_check == CaptureOptions::not_given,
          .memory = options.memory_runs == CaptureOptions::not_given};
}

TraceOption parse_trace_option(const std::string& text, const std::string& model, const Target& target) {
  if (const auto mode = capture_from(text)) return {mode, default_name(model, target)};
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos && colon + 1 < text.size())
    if (const auto mode = capture_from(text.substr(0, colon))) return {mode, text.substr(colon + 1)};
  return {std::nullopt, text};
}

void add_capture_options(CLI::App& app, CaptureOptions& options) {
  app.add_option("--capture-nodes", options.filter.nodes,
                 "Keep only the values of nodes with these names (globs, separated by commas: conv*,fc?), "
                 "and what is needed to judge them")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  app.add_option("--capture-ops", options.filter.ops,
                 "Keep only the values of these operators, as in Conv,Gemm")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  app.add_option("--capture-range", options.filter.range,
                 "Keep only the values of the nodes A..B, both included: names, or positions in the graph "
                 "counted from 0; either end may be omitted");
  app.add_flag("--observer-check", options.perturbation_check,
               "Run once more without capturing (outputs only, fused) and say whether that changed the "
               "outputs' bits");
  app.add_option(
         "--repeat-check", options.repeat_check,
         "Run N times and compare the values of every run with those of the first, bit for bit (NaN "
         "equals NaN, +0 and -0 differ). Where they differ, the first differing layer is judged in "
         "both runs to show which is right. Differing runs make the exit code 1. On devices of the hub "
         "(remote:NAME) 5 runs are compared without this option, and differing ones are shown and "
         "leave the exit code; 0: none are")
      ->option_text("N")
      ->check(none_or(2, 100000));
  app.add_option(
         "--memory-runs", options.memory_runs,
         "Then run up to N more times in fresh processes, without capturing values, and say whether "
         "memory grows from run to run: the engine's heap, the process or the browser's processes, the "
         "GPU process. Ends early once the result is clear, after two minutes, or before memory runs out. "
         "Memory that grows makes the exit code 1. On devices of the hub (remote:NAME) it is watched without "
         "this option, over 40 runs if ten seconds are enough for them, and is shown alone; 0: it is not")
      ->option_text("N")
      ->check(none_or(20, 1000000));
}

std::string capture_text(const CaptureOptions& options) {
  std::string text;
  if (!options.filter.nodes.empty())
    text += fmt::format(" --capture-nodes {}", fmt::join(options.filter.nodes, ","));
  if (!options.filter.ops.empty())
    text += fmt::format(" --capture-ops {}", fmt::join(options.filter.ops, ","));
  if (!options.filter.range.empty()) text += " --capture-range " + options.filter.range;
  if (options.perturbation_check) text += " --observer-check";
  if (options.repeat_check >= 0) text += fmt::format(" --repeat-check {}", options.repeat_check);
  if (options.memory_runs >= 0) text += fmt::format(" --memory-runs {}", options.memory_runs);
  return text;
}

Result<std::optional<std::vector<std::string>>> captured_values(const Graph& graph,
                                                                const CaptureOptions& options) {
  if (options.filter.empty()) return std::optional<std::vector<std::string>>();
  DRIFTSCOPE_TRY(auto values, chosen_values(graph, options.filter));
  return std::optional(std::move(values));
}

}  // namespace driftscope
