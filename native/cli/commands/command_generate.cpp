// driftscope generate MODEL --prompt TOKENS|FILE.npy|--prompt-text TEXT|--dataset D… --targets T,…
//     [--steps N] [--free] [--json OUT]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/dataset/npy.hpp"
#include "core/decode/generation_page.hpp"
#include "core/decode/generation_text.hpp"
#include "core/decode/read_generation.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/generate_prompts.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/host/generation_run.hpp"
#include "native/host/generation_texts.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct GenerateOptions {
  std::string model;
  PromptOptions prompts;
  std::vector<std::string> inputs, targets;
  std::string reference = default_target("strict");
  std::string page, keep, json;
  GenerationPlan plan;
  bool no_verify = false;
  bool quiet = false;
  RunnerOptions runner;
};

/// Inputs that decoding does not make are given one by one, with their names.
Status read_other_inputs(const GenerateOptions& options, GenerationPlan& plan) {
  for (const std::string& spec : options.inputs) {
    const auto equals = spec.find('=');
    if (equals == std::string::npos || !spec.ends_with(".npy"))
      return bad_input(fmt::format("--input {}: expected NAME=FILE.npy", in_quotes(spec)));
    const std::string path = spec.substr(equals + 1);
    DRIFTSCOPE_TRY(const auto bytes, read_file(path));
    auto tensor = read_npy(bytes);
    if (!tensor.ok()) return in_context(std::move(tensor).error(), path);
    plan.others.push_back({spec.substr(0, equals), *std::move(tensor)});
  }
  return {};
}

Status read_generation_targets(const GenerateOptions& options, GenerationPlan& plan) {
  DRIFTSCOPE_TRY(const Target reference, read_target(options.reference));
  DRIFTSCOPE_TRY(plan.targets, read_targets(options.targets));
  std::erase_if(plan.targets, [&](const Target& target) { return target.text() == reference.text(); });
  plan.targets.insert(plan.targets.begin(), reference);
  return {};
}

bool has_fault(const documents::Generate& results) {
  for (const documents::GenerateTarget& target : results.targets)
    for (const documents::GenerateSequence& sequence : target.sequences)
      for (const documents::GenerateStep& step : sequence.steps)
        if (step.verdict == "fault" || step.flip == "fault") return true;
  return false;
}

Result<Exit> run_generate(GenerateOptions& options) {
  GenerationPlan& plan = options.plan;
  DRIFTSCOPE_CHECK(read_generation_targets(options, plan));
  DRIFTSCOPE_CHECK(read_other_inputs(options, plan));
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(options.model));
  DRIFTSCOPE_TRY(GivenPrompts given, read_prompts(options.prompts, model));
  plan.prompts = std::move(given.tokens);
  plan.model = &model;
  plan.verify = !options.no_verify;
  plan.keep = options.keep;
  ProgressLine line(options.quiet);
  TargetRunner runner(options.runner);
  DRIFTSCOPE_TRY(
      documents::Generate results,
      run_generation(plan, runner, [&](std::string_view step, std::int64_t done, std::int64_t total) {
        line.update(step, done, total);
      }));
  line.clear();
  if (given.tokenizer) {
    results.tokenizer = given.tokenizer_file;
    DRIFTSCOPE_CHECK(add_texts(*given.tokenizer, results));
  }
  if (!options.json.empty()) DRIFTSCOPE_CHECK(write_json(options.json, json_text(encode(results), 1) + "\n"));
  if (!options.keep.empty()) {
    const std::string beside = (std::filesystem::path(options.keep) / generation_file).string();
    DRIFTSCOPE_CHECK(write_json(beside, json_text(encode(results), 1) + "\n"));
  }
  if (!options.page.empty()) DRIFTSCOPE_CHECK(write_file(options.page, generation_page(results)));
  if (options.json != "-") {
    print_out("{}  {} prompt{}, {} steps, tokens of {}\n", model.name, plan.prompts.size(),
              plan.prompts.size() == 1 ? "" : "s", plan.steps, results.reference);
    print_out("{}\n{}", generation_text(results), token_lines(results));
  }
  const bool incomplete =
      std::ranges::any_of(results.targets, [](const auto& target) { return !target.error.empty(); });
  return has_fault(results) ? Exit::fault : incomplete ? Exit::missing : Exit::ok;
}

}  // namespace

namespace commands::generate {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<GenerateOptions>();
  app.add_option("model", options->model, "A decoder: tokens in, logits out, with or without caches")
      ->required()
      ->type_name("MODEL");
  add_prompt_options(app, options->prompts);
  app.add_option("--targets,--right", options->targets, "The targets to judge, as of compare")
      ->take_all()
      ->type_name("T,…");
  app.add_option("--reference,--left", options->reference, "The target whose tokens all get")
      ->capture_default_str()
      ->type_name("T");
  app.add_option("--steps", options->plan.steps, "Tokens to make")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--stop-at", options->plan.stop_at, "A token that ends a sequence; several are allowed")
      ->take_all()
      ->type_name("TOKEN");
  app.add_flag("--free", options->plan.free, "Targets also decode from their own tokens");
  app.add_flag("--no-verify", options->no_verify, "Only tokens and times: layers are not recorded");
  app.add_option("--measure", options->plan.measured_ms,
                 "How long each time is measured, in unwatched runs; 0: not at all")
      ->check(CLI::Range(0, 600000))
      ->capture_default_str()
      ->type_name("MS");
  app.add_option("--input", options->inputs, "An input that decoding does not make, as an encoder's answer")
      ->take_all()
      ->type_name("NAME=FILE.npy");
  app.add_option("-o,--output,--html", options->page, "A page with the tables and a map of steps and layers")
      ->type_name("PAGE");
  app.add_option(
         "--keep", options->keep,
         "A folder for the trace of every step, for driftscope verify, and the results as generate.json, for "
         "driftscope gui")
      ->type_name("DIR");
  app.add_option("--json", options->json, "The results as JSON ('-': standard output)")->type_name("OUT");
  app.add_flag("--quiet", options->quiet, "No progress");
  add_runner_options(app, options->runner);
  app.footer(
      "The reference decodes greedily. Every target then gets the reference's tokens and its own caches, and "
      "each layer\nof each step is judged from what it really read. Where a target would have chosen another "
      "token, the table says why:\nrounding, if all its layers so far are rounding; a fault, if one is "
      "not.\n\n"
      "Inputs are recognised by their names, as usual converters give them: input_ids, attention_mask, "
      "position_ids,\npast_key_values.N.key → present.N.key, use_cache_branch.\n\n"
      "  driftscope generate decoder.onnx --prompt 1,15043,29892 --steps 32 --targets pc/ort,chrome/ort\n"
      "  driftscope generate llm/onnx/model_q4.onnx --prompt-text \"Once upon a time\" --targets pc/ort\n"
      "  driftscope generate llm/onnx/model_q4.onnx --dataset imdb:reviews --samples 4 --prompt-tokens 32 "
      "--targets pc/ort\n"
      "  driftscope generate model_q4.onnx --prompt prompts.npy --targets chrome/ort-webgpu --json "
      "q4.json\n\n"
      "Exit code 0: no fault; 1: a fault; 2: wrong use; 3: a target could not run.");
  return [options] {
    const Result<Exit> exit = run_generate(*options);
    if (!exit.ok()) return print_error(exit.error()), exit_of(exit.error());
    return *exit;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 26,
             .name = "generate",
             .summary = "Let a language model decode on several targets, and judge every step and layer.",
             .declare = declare});
}

}  // namespace commands::generate

}  // namespace driftscope
