// driftscope mutants MODEL --dataset D --count N -o DIR
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "native/cli/commands/commands.hpp"
#include "native/host/mutants_run.hpp"

namespace driftscope {
namespace {

struct MutantsCommand {
  std::string model;
  std::string out;
  MutantsPlan plan;
  bool quiet = false;
};

Status run_mutants(MutantsCommand& command) {
  DRIFTSCOPE_CHECK(check_mutants_plan(command.plan));
  std::error_code error;
  if (std::filesystem::exists(command.out, error) && !std::filesystem::is_directory(command.out, error))
    return bad_input(fmt::format("-o {}: a file is there; expected a folder", command.out));
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(command.model));
  command.plan.model = &model;
  ProgressLine line(command.quiet);
  command.plan.progress = [&](std::int64_t made) { line.update("generating", made, command.plan.count); };
  DRIFTSCOPE_TRY(const GeneratedSet set, generate_set(command.plan, command.out));
  line.clear();
  const documents::Generated& document = set.manifest;
  const std::string share =
      set.covered < 0 ? "" : fmt::format(", {:.1f} % of all sections covered", 100 * set.covered);
  print_out("{}: {} mutants of {} originals in {:.1f} s, of {} that were tried{}\n", command.out,
            document.samples.size(), set.originals, document.seconds, document.tried, share);
  print_out("{} answers {} of them rightly ({:.2f} %) on pc/{}\n", model.name, document.correct,
            100.0 * static_cast<double>(document.correct) / static_cast<double>(document.samples.size()),
            document.engine);
  print_out("driftscope run {} --dataset {}\n", command.model, generated_dataset(document, command.out));
  return {};
}

}  // namespace

namespace commands::mutants {

static Command declare(CLI::App& app) {
  auto command = std::make_shared<MutantsCommand>();
  app.add_option("MODEL", command->model,
                 "The model that guides: an .onnx file, its preprocess.json beside it")
      ->required();
  app.add_option("--dataset", command->plan.dataset, "The originals: idx:IMAGES,LABELS or cifar10:FILE")
      ->type_name("SET")
      ->required();
  app.add_option("-o,--out", command->out, "The folder of the new set")->type_name("DIR")->required();
  app.add_option("--count", command->plan.count, "How many pictures")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--method", command->plan.method,
                 "deephunter: affine changes once, then small ones of values; "
                 "tensorfuzz: white noise")
      ->check(CLI::IsMember({"deephunter", "tensorfuzz"}))
      ->capture_default_str();
  app.add_option(
         "--criterion", command->plan.criterion,
         "What counts as new. deephunter: kmnc (1000 sections of each neuron's range), nbc (beyond it); "
         "tensorfuzz: neighbour (outputs unlike all before)")
      ->check(CLI::IsMember({"kmnc", "nbc", "neighbour"}));
  app.add_option("--seed", command->plan.seed, "The same seed, the same set")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53))
      ->capture_default_str();
  app.add_option("--engine", command->plan.engine,
                 "What runs the model: strict makes the same set on every machine, fast is faster")
      ->check(CLI::IsMember({"strict", "fast"}))
      ->capture_default_str();
  app.add_flag("--quiet", command->quiet, "No progress");
  std::string mutations;
  for (const Mutation& mutation : mutation_table().all())
    mutations += fmt::format("  {:<12} {}\n", mutation.name, mutation.range);
  app.footer(fmt::format(
      "Makes mutants of a data set that still show the same, so that the labels stay, and keeps those with "
      "which "
      "the\nmodel does something new. The set is in the format of the originals; manifest.json says for each "
      "picture which\noriginal it comes from and by which mutations. Nothing is written before all are "
      "made.\n\n"
      "Mutations and their parameters:\n{}\n"
      "  driftscope mutants lenet5.onnx --dataset idx:images,labels --count 20000 -o mutants",
      mutations));
  return [command] {
    const Status status = run_mutants(*command);
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 66,
             .name = "mutants",
             .summary = "Generate a data set of mutants, guided by what they make a model do.",
             .declare = declare});
}

}  // namespace commands::mutants

}  // namespace driftscope
