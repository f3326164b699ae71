// driftscope curves FILE… [-o PAGE.html] [--csv OUT] [--json OUT]: training curves of any program, shown
// and compared.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/curves/curve_format.hpp"
#include "core/curves/curves_page.hpp"
#include "core/curves/curves_text.hpp"
#include "native/cli/commands/commands.hpp"
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

constexpr std::uint64_t largest_curve_file = std::uint64_t{512} << 20;

/// A file, or the event files of a folder and of those below it, in the order of their names.
Result<std::vector<std::string>> curve_files(const std::string& given) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(given, error)) return std::vector{given};
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator at(given, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(error) && at->path().filename().string().find("tfevents") != std::string::npos)
      files.push_back(at->path().string());
  if (error) return io_error(fmt::format("{}: cannot be listed: {}", given, error.message()));
  if (files.empty())
    return bad_input(
        fmt::format("{}: no event file in this folder (its name has \"tfevents\" in it); name "
                    "other files one by one",
                    given));
  std::ranges::sort(files);
  return files;
}

/// Of an event file, whose own name is a time and a host, the folder; of others the name without its ending.
std::string run_name(const std::string& path, const std::string& given) {
  namespace fs = std::filesystem;
  if (fs::path(path).filename().string().find("tfevents") == std::string::npos)
    return fs::path(path).stem().string();
  std::error_code error;
  const fs::path folder = fs::absolute(path, error).parent_path();
  const fs::path above = fs::relative(folder, fs::absolute(given, error), error);
  if (path != given && !error && above != "." && !above.empty()) return above.generic_string();
  return folder.filename().string();
}

struct ReadCurves {
  std::vector<Curve> curves;
  std::vector<std::string> notes;
};

/// Two files whose runs are called alike would be taken for repetitions: they get their paths in front.
void tell_apart(std::vector<std::pair<std::string, CurveFile>>& files) {
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      for (Curve& curve : files[i].second.curves)
        if (std::ranges::any_of(files[k].second.curves, [&](const Curve& other) {
              return other.run == curve.run && other.metric == curve.metric &&
                     other.repetition == curve.repetition;
            })) {
          const std::string run = curve.run;
          for (Curve& one : files[i].second.curves)
            if (one.run == run) one.run = fmt::format("{} ({})", run, files[i].first);
        }
}

Result<ReadCurves> read_all(const CurvesOptions& options) {
  std::vector<std::pair<std::string, CurveFile>> files;
  ReadCurves all;
  for (const std::string& given : options.files) {
    DRIFTSCOPE_TRY(const std::vector<std::string> paths, curve_files(given));
    for (const std::string& path : paths) {
      std::error_code error;
      const std::uintmax_t size = std::filesystem::file_size(path, error);
      if (!error && size > largest_curve_file)
        return limit_error(
            fmt::format("{}: {} bytes, more than {}: curves are read as a whole; split the file", path, size,
                        largest_curve_file));
      DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, read_file(path));
      DRIFTSCOPE_TRY(CurveFile file, read_curves({path, run_name(path, given), bytes}));
      for (const std::string& note : file.notes) all.notes.push_back(fmt::format("{}: {}", path, note));
      files.emplace_back(path, std::move(file));
    }
  }
  tell_apart(files);
  for (auto& [path, file] : files)
    for (Curve& curve : file.curves) all.curves.push_back(std::move(curve));
  if (options.metrics.empty()) return all;
  std::vector<std::string> known;
  for (const Curve& curve : all.curves)
    if (std::ranges::find(known, curve.metric) == known.end()) known.push_back(curve.metric);
  for (const std::string& metric : options.metrics)
    if (std::ranges::find(known, metric) == known.end())
      return bad_input(
          fmt::format("--metric {}: the files have {}", in_quotes(metric), fmt::join(known, ", ")));
  std::erase_if(all.curves, [&](const Curve& curve) {
    return std::ranges::find(options.metrics, curve.metric) == options.metrics.end();
  });
  return all;
}

Status write_curves(const std::string& path, const std::string& text) {
  if (path == "-") return print_out("{}", text), Status();
  return write_file(path, text);
}

Status run_curves(const CurvesOptions& options) {
  if (!(options.apart >= 0.0 && options.apart <= 100.0))
    return bad_input(fmt::format("--apart {}: expected a percentage from 0 to 100", options.apart));
  DRIFTSCOPE_TRY(const ReadCurves all, read_all(options));
  const std::vector<CurveGroup> groups = groups_of(all.curves);
  documents::Curves document;
  document.files = options.files;
  document.notes = all.notes;
  for (const CurveGroup& group : groups) document.curves.push_back(summary_of(group));
  document.comparisons = compare_curves(groups, {.threshold = options.apart / 100.0});
  if (!options.csv.empty()) DRIFTSCOPE_CHECK(write_curves(options.csv, curves_csv(all.curves)));
  if (!options.json.empty())
    DRIFTSCOPE_CHECK(write_json(options.json, json_text(encode(document), 1) + "\n"));
  if (!options.page.empty()) {
    const std::string title = options.files.size() == 1
                                  ? fmt::format("Training curves, {}", options.files.front())
                                  : fmt::format("Training curves, {} files", options.files.size());
    DRIFTSCOPE_CHECK(write_curves(
        options.page, curves_page({title, groups, document.curves, document.comparisons, document.notes})));
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
         "training.json of python -m driftscope.training")
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
