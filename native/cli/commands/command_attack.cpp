// driftscope attack MODEL --method M --epsilon E --dataset D --targets T,…
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>

#include "core/base/json.hpp"
#include "core/dataset/dataset_format.hpp"
#include "core/dataset/npy.hpp"
#include "core/report/attack_page.hpp"
#include "native/cli/commands/attack_document.hpp"
#include "native/cli/commands/attack_text.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/commands/runner_options.hpp"
#include "native/host/attack_pictures.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

struct AttackOptions {
  std::string model;
  std::string method;
  std::string dataset;
  std::vector<std::string> targets;
  std::string gradient_target = default_target("strict");
  std::string store;
  std::string folder;
  std::string html;
  std::string json;
  std::vector<std::string> with;  ///< documents of other attacks, for R
  bool quiet = false;
  AttackPlan plan;
  RunnerOptions runner;
};

/// The samples of a report in one tensor.
Result<Tensor> stacked(const AttackReport& report,
                       const std::function<const std::vector<float>&(std::size_t)>& value_of) {
  Shape shape = report.shape;
  shape.insert(shape.begin(), std::ssize(report.samples));
  DRIFTSCOPE_TRY(Tensor all, Tensor::make(DType::float32, shape));
  auto values = all.mutable_values<float>();
  for (std::size_t i = 0; i < report.samples.size(); ++i) {
    const std::vector<float>& one = value_of(i);
    std::ranges::copy(one, values.begin() + static_cast<std::ptrdiff_t>(i * one.size()));
  }
  return all;
}

/// What is kept, and shown: originals, and what became of each sample on each target, in the data's units.
Result<AttackResults> results_of(const documents::Attack& document, const AttackReport& report) {
  AttackResults results{.attack = document};
  DRIFTSCOPE_TRY(results.originals, stacked(report, [&](std::size_t i) -> const std::vector<float>& {
                   return report.originals[i];
                 }));
  for (const AttackedTarget& target : report.targets) {
    DRIFTSCOPE_TRY(results.changed.emplace_back(),
                   stacked(report, [&](std::size_t i) -> const std::vector<float>& {
                     return target.outcomes[i].values;
                   }));
  }
  return results;
}

// FOLDER/attack.json, and beside it originals.npy and TARGET.npy.
Status keep_adversarials(const std::string& folder, const AttackResults& results, const std::string& json) {
  DRIFTSCOPE_CHECK(make_folders(folder));
  const auto write = [&](const std::string& name, const Tensor& all) -> Status {
    DRIFTSCOPE_TRY(const auto bytes, write_npy(all));
    return write_file(std::filesystem::path(folder) / name, bytes);
  };
  DRIFTSCOPE_CHECK(write(attack_array_file(), *results.originals));
  for (std::size_t t = 0; t < results.changed.size(); ++t)
    DRIFTSCOPE_CHECK(write(attack_array_file(results.attack.results[t].target), *results.changed[t]));
  return write_file(std::filesystem::path(folder) / attack_file, json);
}

Status run_attack_command(AttackOptions options) {
  AttackPlan& plan = options.plan;
  DRIFTSCOPE_TRY(plan.method, find_attack_method(options.method));
  DRIFTSCOPE_TRY(plan.targets, read_targets(options.targets));
  DRIFTSCOPE_TRY(plan.gradient_target, read_target(options.gradient_target));
  if (plan.method->needs_epsilon && !(plan.epsilon > 0.0))
    return bad_input(
        fmt::format("--epsilon: {} needs it, the largest change of an element in the data's units "
                    "(pixels in [0, 1]): --epsilon 0.1",
                    options.method));
  if (!options.store.empty() && options.store != "8bit")
    return bad_input(fmt::format("--store {}: expected 8bit", options.store));
  plan.in_8_bits = options.store == "8bit";
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(options.model));
  DRIFTSCOPE_TRY(const GivenDataset dataset, read_dataset(options.dataset, model));
  plan.model = &model;
  plan.dataset = &dataset;
  ProgressLine line(options.quiet);
  const TargetProgress progress = [&](std::string_view step, std::int64_t done, std::int64_t total) {
    line.update(step, done, total);
  };
  DRIFTSCOPE_TRY(const AttackReport report, run_attack(plan, options.runner, progress));
  line.clear();
  if (report.samples.empty())
    return bad_input(
        "no sample of the data set is answered rightly by all targets: there is nothing to attack");
  documents::Attack document = attack_document(plan, options.dataset, report);
  DRIFTSCOPE_CHECK(add_robustness(options.with, document));
  const std::string json = json_text(encode(document), 1) + "\n";
  if (!options.folder.empty() || !options.html.empty()) {
    DRIFTSCOPE_TRY(const AttackResults results, results_of(document, report));
    if (!options.folder.empty()) DRIFTSCOPE_CHECK(keep_adversarials(options.folder, results, json));
    if (!options.html.empty()) DRIFTSCOPE_CHECK(write_file(options.html, attack_page({results})));
  }
  if (!options.folder.empty() && plan.in_8_bits && report.pictures)
    DRIFTSCOPE_CHECK(keep_pictures(options.folder, plan, report));
  if (options.json != "-") print_attack({options.model, dataset.samples, report, document});
  if (options.json.empty()) return {};
  return write_json(options.json, json);
}

}  // namespace

namespace commands::attack {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<AttackOptions>();
  std::string methods = "How: ";
  for (const AttackMethod& method : attack_method_table().all())
    methods += fmt::format("{}{} ({})", &method == attack_method_table().all().data() ? "" : "; ",
                           method.name, method.help);
  app.add_option("model", options->model, "The model, an .onnx file")->required();
  app.add_option("--method", options->method, methods)->required()->type_name("METHOD");
  app.add_option("--epsilon", options->plan.epsilon,
                 "Largest change of an element, in the data's units: pixels are in [0, 1]")
      ->type_name("E");
  app.add_option("--dataset", options->dataset, fmt::format("Labelled samples: {}", dataset_forms()))
      ->required()
      ->type_name("DATASET");
  app.add_option("--targets", options->targets, "Where the model is attacked: HOST/ENGINE, by commas")
      ->required()
      ->type_name("TARGETS");
  app.add_option("--samples", options->plan.samples,
                 "At most so many: the first of the data set that all targets answer rightly")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
  app.add_option("--steps", options->plan.steps, "Steps of the method instead of its own number")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
  app.add_flag(
      "--all-steps", options->plan.all_steps,
      "Take all steps of fgsm and bim and ask at the end, as Foolbox does; otherwise a sample stops at "
      "its first wrong answer");
  app.add_option("--seed", options->plan.seed, "Of the random numbers")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53));
  auto* const gradient = app.add_option("--gradient-target", options->gradient_target,
                                        "Where the gradient runs; success is always a target's own answer")
                             ->capture_default_str()
                             ->type_name("TARGET");
  app.add_flag("--white-box", options->plan.white_box, "Run the gradient on each attacked target itself")
      ->excludes(gradient);
  app.add_option(
         "--store", options->store,
         "8bit: round the adversarials as 8-bit pictures before judging them; -o then keeps PNG files "
         "too, a folder a class")
      ->type_name("8bit");
  app.add_flag("--as-published", options->plan.as_published,
               "Repeat the mistake of the study that used the method (fgsm: results are not clipped)");
  app.add_option(
         "--separate", options->plan.separations,
         "For so many of the results that two targets answer differently, name the layer that separates "
         "them")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31));
  app.add_option(
         "--with", options->with,
         "Documents of other attacks (--json), of this model or others, to compute R over all of them")
      ->type_name("FILE");
  app.add_option("-o,--output", options->folder,
                 "Keep the results in this folder: attack.json, and .npy files in the data's units, "
                 "originals and one a target. 'driftscope report' makes a page of several such folders")
      ->type_name("DIR");
  app.add_option("--html", options->html,
                 "Write a page: success and transfer with intervals, adversarial examples as pictures")
      ->type_name("FILE");
  app.add_option("--json", options->json, "Write the results as JSON ('-': standard output)")
      ->type_name("OUT");
  app.add_flag("-q,--quiet", options->quiet, "No progress");
  add_runner_options(app, options->runner);
  app.footer(
      "Every target is asked for its own answers; then each is shown the adversarials of the others. What "
      "the "
      "methods do\nis in docs/attacks.md.\n\n"
      "  driftscope attack lenet5.onnx --method fgsm --epsilon 0.1 --dataset "
      "idx:images.idx3-ubyte,labels.idx1-ubyte \\\n      --targets pc/strict,chrome/fast");
  return [options] {
    const Status status = run_attack_command(*options);
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 77,
             .name = "attack",
             .summary = "Change inputs a little until targets answer wrongly.",
             .declare = declare});
}

}  // namespace commands::attack

}  // namespace driftscope
