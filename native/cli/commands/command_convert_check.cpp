// driftscope convert-check A B [--input X]… [--dataset D] [--map FILE] [--write-map FILE] [--json OUT]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/convert_check/check_view.hpp"
#include "core/dataset/dataset_format.hpp"
#include "core/runtime/engine.hpp"
#include "core/trace/trace_file.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/layer_options.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/host/convert_check_run.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct ConvertCheckOptions {
  ConvertCheckRequest request;
  std::string target = default_target();
  std::string map;
  std::string write_map;
  std::string json;
  LayerChoice layers;
  bool quiet = false;
};

Result<convert::ValueMap> map_from(const std::string& path) {
  if (path.empty()) return convert::ValueMap{};
  DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
  auto map = convert::read_value_map({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!map.ok()) return in_context(std::move(map).error(), path);
  return map;
}

Result<Exit> run_convert_check(ConvertCheckOptions& options) {
  DRIFTSCOPE_TRY(options.request.target, read_target(options.target));
  DRIFTSCOPE_TRY(options.request.map, map_from(options.map));
  ProgressLine line(options.quiet);
  DRIFTSCOPE_TRY(
      const convert::CheckView view,
      check_conversion(options.request, [&](std::string_view step, std::int64_t done, std::int64_t total) {
        line.update(step, done, total);
      }));
  line.clear();
  if (options.json != "-") print_out("{}", convert::check_text(view, options.layers));
  if (!options.write_map.empty())
    DRIFTSCOPE_CHECK(write_json(options.write_map, convert::value_map_json(view.check.alignment)));
  if (!options.json.empty()) DRIFTSCOPE_CHECK(write_json(options.json, convert::check_json(view)));
  return view.check.first_parting ? Exit::fault : Exit::ok;
}

}  // namespace

namespace commands::convert_check {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<ConvertCheckOptions>();
  ConvertCheckRequest& request = options->request;
  app.add_option("A", request.a, "The original: an .onnx file, or a trace of it (.safetensors)")->required();
  app.add_option("B", request.b, "The converted model")->required();
  add_input_options(app, request.inputs);
  app.add_option(
      "--dataset", request.dataset,
      fmt::format("Also run both on a whole data set, described beside A: on how many samples they agree, "
                  "and how many are right ({})",
                  dataset_forms()));
  app.add_option("--target", options->target, "Where both run: host/engine[:option=value,…]")
      ->capture_default_str();
  app.add_option(
      "--map", options->map,
      "Which value of A corresponds to which of B (JSON, as --write-map writes it): these pairs are taken as "
      "they are, the others are found");
  app.add_option("--write-map", options->write_map,
                 "Write all pairs, to inspect and edit ('-': standard output)");
  app.add_option("--json", options->json, "Write everything as JSON ('-': standard output)");
  add_layer_option(app, options->layers);
  app.add_flag("--quiet", options->quiet, "No progress line");
  add_runner_options(app, request.runner);
  app.footer(
      "Both run on the same input. Their values are paired by the map, by name, by structure and by\n"
      "contents, also with other axes (NCHW and NHWC). Each of B's layers is then judged in isolation: A's\n"
      "operator with A's weights on B's inputs, against B's result, with the budget of float32 rounding.\n"
      "Where they diverge, operators, attributes and weights are compared to say why.\n\n"
      "Exit code 1: a layer of B does not compute what A's does, beyond rounding.");
  return [options] {
    const auto exit = run_convert_check(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 35,
             .name = "convert-check",
             .summary = "Compare a converted model with its original: where do they diverge, and why?",
             .declare = declare});
}

}  // namespace commands::convert_check

}  // namespace driftscope
