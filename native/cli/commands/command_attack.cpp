// driftscope attack MODEL --method M --epsilon E --dataset D --targets T,…
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>

#include "core/attack/robustness.hpp"
#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/dataset/dataset_format.hpp"
#include "core/dataset/npy.hpp"
#include "core/report/attack_page.hpp"
#include "core/report/text_table.hpp"
#include "core/statistics/rate.hpp"
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
  std::string gradient_target = "pc/strict";
  std::string store;
  std::string folder;
  std::string html;
  std::string json;
  std::vector<std::string> with;  ///< documents of other attacks, for R
  bool quiet = false;
  AttackPlan plan;
  RunnerOptions runner;
};

struct MeanDistances {
  double linf = 0.0;
  double l2 = 0.0;
  double changed = 0.0;  ///< elements
  std::int64_t successes = 0;
  std::int64_t queries = 0;
};

MeanDistances distances_of(const AttackReport& report, const AttackedTarget& target, bool words) {
  MeanDistances mean;
  for (std::size_t i = 0; i < target.outcomes.size(); ++i) {
    mean.queries += target.outcomes[i].queries;
    if (!target.outcomes[i].success) continue;
    ++mean.successes;
    for (std::size_t at = 0; at < report.originals[i].size(); ++at)
      mean.changed += report.originals[i][at] != target.outcomes[i].values[at] ? 1.0 : 0.0;
    if (words) continue;  // numbers of words have no distance
    mean.linf += linf_distance(report.originals[i], target.outcomes[i].values);
    mean.l2 += l2_distance(report.originals[i], target.outcomes[i].values);
  }
  const double count = std::max<double>(1.0, static_cast<double>(mean.successes));
  mean.linf /= count;
  mean.l2 /= count;
  mean.changed /= count;
  return mean;
}

double share_of(std::int64_t some, std::int64_t all) {
  return all == 0 ? 0.0 : static_cast<double>(some) / static_cast<double>(all);
}

std::string percent(std::int64_t some, std::int64_t all) {
  return fmt::format("{:.2f} %", 100.0 * share_of(some, all));
}

void print_report(const AttackOptions& options, const AttackReport& report) {
  print_out("{}  {}  {} of {} samples, which all targets answer rightly\n", options.model, options.method,
            report.samples.size(), options.plan.dataset->samples);
  TextTable table;
  table.column("target", Align::left);
  for (const char* title : {"success", "of", "mean L∞", "mean L2", "mean changed", "queries"})
    table.column(title, Align::right);
  for (const AttackedTarget& target : report.targets) {
    const MeanDistances mean = distances_of(report, target, options.plan.method->replaces_words);
    table.row({target.target, percent(mean.successes, std::ssize(report.samples)),
               fmt::format("{}", report.samples.size()), fmt::format("{:.4g}", mean.linf),
               fmt::format("{:.4g}", mean.l2), fmt::format("{:.4g}", mean.changed),
               fmt::format("{}", mean.queries)});
  }
  print_out("{}", table.text());
  if (std::ssize(report.samples) < enough_for_a_rate)
    print_out("{} samples are too few for rates: take 100 or more\n", report.samples.size());
  if (options.plan.as_published) print_out("as published: {}\n", options.plan.method->published_slip);
}

// Titles fit what is below them: a target's own name beside the counts of both.
void print_transfer(const AttackReport& report) {
  if (report.transfer.empty()) return;
  TextTable table;
  table.column("results of the attack on", Align::left);
  table.column("shown to", Align::left);
  for (const char* title : {"share that fools it too", "fool both", "only the first", "only the second"})
    table.column(title, Align::right);
  for (const Transferred& one : report.transfer)
    table.row({one.from, one.to, one.adversarials == 0 ? "–" : percent(one.fooled, one.adversarials),
               fmt::format("{}", one.fooled), fmt::format("{}", one.only_from.size()),
               fmt::format("{}", one.only_to.size())});
  print_out("\n{}", table.text());
}

void print_separations(const AttackReport& report) {
  if (report.transfer.empty()) return;
  if (report.answered_differently == 0) {
    print_out("\nNo result of an attack is answered differently by another target.\n");
    return;
  }
  print_out("\n{} results are answered differently by two targets; the layer that separates them{}:\n",
            report.answered_differently,
            report.answered_differently > std::ssize(report.separations)
                ? fmt::format(", of the first {}", report.separations.size())
                : "");
  for (const SeparatedAnswers& one : report.separations) {
    const AnswerSeparation& layer = one.layer;
    print_out("  sample {}: {} answers {}, {} answers {}: ", one.sample, one.from, one.class_from, one.to,
              one.class_to);
    if (layer.node.empty())
      print_out("no layer is named: {}\n", layer.reason);
    else if (layer.beyond_rounding)
      print_out("{} {} ({} on {}, {} on {}), the first that rounding does not explain\n", layer.op,
                layer.node, verdict_name(layer.left), one.from, verdict_name(layer.right), one.to);
    else
      print_out("all is rounding; that of {} {} moves the margin most, by {:.2g} of {:.2g} in all\n",
                layer.op, layer.node, layer.moved, layer.moved_by_all);
  }
}

std::string attack_name(const std::string& method, const std::optional<double>& epsilon) {
  return epsilon ? fmt::format("{} {}", method, *epsilon) : method;
}

AttackRates rates_of(const documents::Attack& document, std::string source) {
  AttackRates rates{document.model_sha256, attack_name(document.method, document.epsilon), std::move(source)};
  for (const documents::AttackResult& one : document.results) {
    rates.targets.push_back(one.target);
    rates.success.push_back(one.success_rate);
  }
  return rates;
}

// R over this attack and those of --with.
Status add_robustness(const AttackOptions& options, documents::Attack& document) {
  std::vector<AttackRates> all;
  for (const std::string& path : options.with) {
    DRIFTSCOPE_TRY(const auto bytes, read_file(path));
    const auto json = parse_ordered_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    documents::Attack other;
    if (json.is_discarded() || !json.is_object() || json.value("format", "") != "driftscope-attack-1")
      return bad_input(
          fmt::format("--with {}: expected a document of attack --json (driftscope-attack-1)", path));
    DRIFTSCOPE_CHECK(read_json(json, JsonPath(path), other));
    all.push_back(rates_of(other, path));
  }
  all.push_back(rates_of(document, "this run"));
  DRIFTSCOPE_TRY(const Robustness robustness, robustness_of(all));
  document.robustness_attacks = robustness.attacks;
  for (const RobustnessRow& row : robustness.rows) {
    documents::AttackRobustness one;
    one.model_sha256 = row.model_sha256;
    one.target = row.target;
    one.r = row.r;
    one.r_conversion = row.r_conversion;
    document.robustness.push_back(std::move(one));
  }
  return {};
}

void print_robustness(const documents::Attack& document) {
  if (document.robustness.size() < 2) return;
  TextTable table;
  table.column("model", Align::left);
  table.column("target", Align::left);
  table.column("R (Eq. 2)", Align::right);
  table.column("R (Eq. 4)", Align::right);
  for (const documents::AttackRobustness& row : document.robustness)
    table.row({row.model_sha256.substr(0, 12), row.target, fmt::format("{:.4f}", row.r),
               row.r_conversion ? fmt::format("{:.4f}", *row.r_conversion) : "–"});
  print_out(
      "\nRobustness R over {}: each attack counts 0 at its least success in these rows and 1 at its "
      "largest\n{}",
      fmt::join(document.robustness_attacks, ", "), table.text());
}

documents::Attack document_of(const AttackOptions& options, const AttackReport& report) {
  documents::Attack document;
  document.model_sha256 = options.plan.model->sha256;
  document.method = options.method;
  if (options.plan.method->needs_epsilon) document.epsilon = options.plan.epsilon;
  document.seed = static_cast<std::int64_t>(options.plan.seed);
  document.samples = std::ssize(report.samples);
  if (options.plan.method->needs_gradients)
    document.gradient = options.plan.white_box ? "white-box" : options.plan.gradient_target.text();
  document.in_8_bits = options.plan.in_8_bits;
  document.model = options.plan.model->name;
  document.dataset = options.dataset;
  document.numbers = report.samples;
  document.labels = report.labels;
  if (options.plan.method->replaces_words) document.words = true;
  document.all_steps = options.plan.all_steps;
  if (options.plan.as_published) document.as_published = std::string(options.plan.method->published_slip);
  for (const AttackedTarget& target : report.targets) {
    const MeanDistances mean = distances_of(report, target, options.plan.method->replaces_words);
    documents::AttackResult result;
    result.target = target.target;
    result.success_rate = share_of(mean.successes, std::ssize(report.samples));
    result.successes = mean.successes;
    result.queries = mean.queries;
    result.mean_linf = mean.linf;
    result.mean_l2 = mean.l2;
    result.mean_changed = mean.changed;
    result.correct = target.correct;
    for (std::size_t i = 0; i < target.outcomes.size(); ++i)
      if (target.outcomes[i].success) result.fooled.push_back(report.samples[i]);
    document.results.push_back(std::move(result));
  }
  for (const AttackedTarget& target : report.targets)
    document.answers.push_back({target.target, target.target, target.answers});
  for (const Transferred& one : report.transfer) {
    document.answers.push_back({one.from, one.to, one.answers});
    documents::AttackTransfer transfer;
    transfer.from = one.from;
    transfer.to = one.to;
    transfer.adversarials = one.adversarials;
    transfer.success_rate = share_of(one.fooled, one.adversarials);
    transfer.only_from = one.only_from;
    transfer.only_to = one.only_to;
    document.transfer.push_back(std::move(transfer));
  }
  for (const SeparatedAnswers& one : report.separations) {
    documents::AttackSeparation separation;
    separation.from = one.from;
    separation.to = one.to;
    separation.sample = one.sample;
    separation.class_from = one.class_from;
    separation.class_to = one.class_to;
    separation.beyond_rounding = one.layer.beyond_rounding;
    separation.node = one.layer.node;
    separation.op = one.layer.op;
    separation.output = one.layer.output;
    separation.verdict_from = one.layer.left;
    separation.verdict_to = one.layer.right;
    separation.moved = one.layer.moved;
    separation.moved_by_all = one.layer.moved_by_all;
    separation.reason = one.layer.reason;
    document.separations.push_back(std::move(separation));
  }
  return document;
}

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
  documents::Attack document = document_of(options, report);
  DRIFTSCOPE_CHECK(add_robustness(options, document));
  const std::string json = json_text(encode(document), 1) + "\n";
  if (!options.folder.empty() || !options.html.empty()) {
    DRIFTSCOPE_TRY(const AttackResults results, results_of(document, report));
    if (!options.folder.empty()) DRIFTSCOPE_CHECK(keep_adversarials(options.folder, results, json));
    if (!options.html.empty()) DRIFTSCOPE_CHECK(write_file(options.html, attack_page({results})));
  }
  if (!options.folder.empty() && plan.in_8_bits && report.pictures)
    DRIFTSCOPE_CHECK(keep_pictures(options.folder, plan, report));
  if (options.json != "-") {
    print_report(options, report);
    print_transfer(report);
    print_separations(report);
    print_robustness(document);
  }
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
