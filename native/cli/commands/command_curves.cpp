// driftscope curves FILE… [-o PAGE.html] [--csv OUT] [--json OUT]: training curves of any program, shown
// and compared.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/curves/curves_page.hpp"
#include "core/curves/curves_text.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/host/curve_files.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct CurvesOptions {
  std::vector<std::string> files;
  std::string page, csv, json;
  std::vector<std::string> metrics;
  double apart = 1.0;  // percent
  bool quiet = false;
};

Status write_curves(const std::string& path, const std::string& text) {
  if (path == "-") return print_out("{}", text), Status();
  return write_file(path, text);
}

Status run_curves(const CurvesOptions& options) {
  if (!(options.apart >= 0.0 && options.apart <= 100.0))
    return bad_input(fmt::format("--apart {}: expected a percentage from 0 to 100", options.apart));
  DRIFTSCOPE_TRY(std::vector<NamedCurveFile> files, read_curve_files(options.files));
  DRIFTSCOPE_TRY(const auto set, make_curve_set(std::move(files), {.apart = options.apart / 100.0,
                                                                   .metrics = options.metrics}));
  documents::Curves document = set->document;
  document.files = options.files;
  if (!options.csv.empty()) DRIFTSCOPE_CHECK(write_curves(options.csv, curves_csv(set->curves)));
  if (!options.json.empty())
    DRIFTSCOPE_CHECK(write_json(options.json, json_text(encode(document), 1) + "\n"));
  if (!options.page.empty()) {
    const std::string title = options.files.size() == 1
                                  ? fmt::format("Training curves, {}", options.files.front())
                                  : fmt::format("Training curves, {} files", options.files.size());
    DRIFTSCOPE_CHECK(write_curves(options.page, curves_page(title, *set)));
  }
  if (options.quiet || options.csv == "-" || options.json == "-" || options.page == "-") return {};
  print_out("{}", summary_table(document.curves));
  const std::string differences = comparison_table(document.comparisons);
  if (!differences.empty())
    print_out(
        "\n{}Means over repetitions, right − left; apart: by more than {:g} % of the range to the end.\n",
        differences, options.apart);
  if (document.comparisons.size() >= max_comparisons)
    print_out("The first {} comparisons; choose with --metric.\n", max_comparisons);
  for (const std::string& note : document.notes) print_out("note: {}\n", harmless(note));
  return {};
}

}  // namespace

namespace commands::curves {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<CurvesOptions>();
  app.add_option(
         "files", options->files,
         "Curves: CSV with a header, TensorBoard event files or a folder of them, Keras's history as JSON, "
         "training.json of python -m driftscope.training or its folder")
      ->required()
      ->type_name("FILE");
  app.add_option("-o,--output", options->page, "An HTML page with charts and tables")->type_name("PAGE");
  app.add_option("--csv", options->csv,
                 "All points as CSV ('-': standard output): run, metric, repetition, step, value")
      ->type_name("OUT");
  app.add_option("--json", options->json, "The tables as JSON ('-': standard output)")->type_name("OUT");
  app.add_option("--metric", options->metrics, "Only these metrics; several are allowed")->type_name("NAME");
  app.add_option("--apart", options->apart,
                 "From which difference on two curves have parted, in percent of the range that they span")
      ->capture_default_str()
      ->type_name("PERCENT");
  app.add_flag("--quiet", options->quiet, "No tables");
  app.footer(
      "The format is found by what a file holds. Columns of CSV named epoch or step, run, and repetition or "
      "seed are "
      "what\nthey say; others are metrics, and an empty cell is no point. Runs that are in several "
      "repetitions are "
      "compared by\nMann and Whitney's test.\n\n"
      "  driftscope curves history.json\n"
      "  driftscope curves logs/ -o curves.html              # all event files below a folder\n"
      "  driftscope curves study/                            # of python -m driftscope.training --out study\n"
      "  driftscope curves a.csv b.csv --metric val_loss --csv all.csv");
  return [options] {
    const Status status = run_curves(*options);
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 78,
             .name = "curves",
             .summary = "Show and compare training curves of any program.",
             .declare = declare});
}

}  // namespace commands::curves

}  // namespace driftscope
