// driftscope stats TEST A.csv [B.csv] [--alternative …] [--json [OUT]]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "core/base/json.hpp"
#include "core/statistics/test_table.hpp"
#include "generated/documents/stats.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct StatsOptions {
  std::string test_name, a, b;
  std::string labels;
  std::string json;
  std::string alternative = "two-sided";
  std::string method = "auto";
  std::string zeros = "wilcox";
  std::string of = "mean";
  std::string interval = "bca";
  TestOptions test;
  std::vector<std::string> names;  ///< TEST and its files
  std::vector<std::string> given;  ///< options on the command line that only some tests have
};

std::string test_names() {
  std::vector<std::string_view> names;
  for (const StatisticalTest& test : statistical_test_table().all()) names.push_back(test.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// `--json` takes a file only if one is left over: in `stats --json holm p.csv` it is followed by the test.
void separate_json(StatsOptions& options) {
  for (const std::string& name : {options.test_name, options.a, options.b})
    if (!name.empty()) options.names.push_back(name);
  if (statistical_test_table().find(options.json) == nullptr) return;
  options.names.insert(options.names.begin(), options.json);
  options.json = "-";
}

Result<Column> read_column(const std::string& path) {
  DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, read_file(path));
  return parse_column({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

Result<const StatisticalTest*> chosen_test(const StatsOptions& options) {
  const std::string name = options.names.empty() ? "" : options.names[0];
  const StatisticalTest* const test = statistical_test_table().find(name);
  if (test == nullptr)
    return bad_input(fmt::format("stats: there is no test '{}'; expected one of: {}", name, test_names()));
  if (options.names.size() != test->files + 1)
    return bad_input(fmt::format("stats {}: {} file{} given; expected {}, one number a line", name,
                                 options.names.size() - 1, options.names.size() == 2 ? " was" : "s were",
                                 test->files == 1 ? "one: A.csv" : "two: A.csv B.csv"));
  for (const std::string& option : options.given)
    if (std::ranges::find(test->options, option) == test->options.end())
      return bad_input(fmt::format("stats {}: --{} does not apply to this test; it takes: {}", name, option,
                                   test->options.empty()
                                       ? std::string("none of these options")
                                       : fmt::format("--{}", fmt::join(test->options, ", --"))));
  return test;
}

TestOptions test_options(const StatsOptions& options) {
  TestOptions test = options.test;
  test.alternative = options.alternative == "less"      ? Alternative::less
                     : options.alternative == "greater" ? Alternative::greater
                                                        : Alternative::two_sided;
  test.method = options.method == "exact"         ? PValueMethod::exact
                : options.method == "approximate" ? PValueMethod::approximate
                                                  : PValueMethod::automatic;
  test.zeros = options.zeros == "pratt" ? ZeroDifferences::pratt : ZeroDifferences::wilcox;
  test.center = options.of == "median" ? Center::median : Center::mean;
  test.bootstrap.kind = options.interval == "percentile" ? BootstrapKind::percentile : BootstrapKind::bca;
  return test;
}

documents::StatsEffect effect_document(const Effect& effect) {
  return {effect.name, effect.value, effect.size};
}

documents::Stats stats_document(const StatisticalTest& test, const StatsOptions& options,
                                const TestReport& report) {
  documents::Stats document;
  document.test = std::string(test.name);
  document.n = report.n;
  document.statistic = report.statistic;
  document.statistic_name = report.statistic_name;
  if (report.p) {
    document.p = report.p->p;
    document.exact = report.p->exact;
    if (std::ranges::find(test.options, "alternative") != test.options.end())
      document.alternative = options.alternative;
  }
  for (const Effect& effect : report.effects)
    if (document.effect)
      document.more_effects.push_back(effect_document(effect));
    else
      document.effect = effect_document(effect);
  document.alpha = options.test.alpha;
  document.files = {options.names.begin() + 1, options.names.end()};
  if (!options.labels.empty()) document.files.push_back(options.labels);
  if (report.interval)
    document.interval = {report.interval->of, report.interval->method, report.interval->confidence,
                         report.interval->interval.low, report.interval->interval.high};
  if (report.interval && std::ranges::find(test.options, "resamples") != test.options.end()) {
    document.seed = static_cast<std::int64_t>(options.test.bootstrap.seed);
    document.resamples = options.test.bootstrap.resamples;
  }
  document.adjusted = report.adjusted;
  document.figures = report.figures;
  document.sentences = report.sentences;
  document.too_few = report.too_few;
  return document;
}

Status run_stats(StatsOptions& options) {
  separate_json(options);
  DRIFTSCOPE_TRY(const StatisticalTest* const test, chosen_test(options));
  TestRequest request;
  request.options = test_options(options);
  for (std::size_t i = 1; i < options.names.size(); ++i) {
    DRIFTSCOPE_TRY(Column column, read_column(options.names[i]));
    request.columns.push_back(std::move(column));
  }
  if (!options.labels.empty()) {
    DRIFTSCOPE_TRY(request.labels, read_column(options.labels));
  }
  DRIFTSCOPE_TRY(const TestReport report, test->run(request));
  if (options.json != "-")
    for (const std::string& sentence : report.sentences) print_out("{}\n", sentence);
  if (!options.json.empty())
    DRIFTSCOPE_CHECK(
        write_json(options.json, json_text(encode(stats_document(*test, options, report)), 1) + "\n"));
  if (report.too_few.empty()) return {};
  return bad_input(fmt::format("stats {}: too few values: {}", test->name, report.too_few));
}

}  // namespace

namespace commands::stats {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<StatsOptions>();
  std::string tests;
  for (const StatisticalTest& test : statistical_test_table().all())
    tests += fmt::format("  {:<15} {} {}\n", test.name, test.files == 1 ? "A    " : "A B  ", test.summary);
  app.add_option("TEST", options->test_name, "One of the tests below")->required();
  app.add_option("A", options->a, "A file with one number a line");
  app.add_option("B", options->b, "A second one, for tests that compare two");
  const auto choice = [&](const char* name, std::string& value, std::vector<std::string> choices,
                          const char* what) {
    app.add_option(name, value, what)->check(CLI::IsMember(std::move(choices)))->capture_default_str();
  };
  choice("--alternative", options->alternative, {"two-sided", "less", "greater"},
         "What is tested against 'no difference': less says that the first file tends to smaller values");
  app.add_flag("--paired", options->test.paired, "Value i of one file belongs to value i of the other");
  choice("--method", options->method, {"auto", "exact", "approximate"},
         "How p is computed; auto: exact for few values");
  choice("--zeros", options->zeros, {"wilcox", "pratt"},
         "Pairs without a difference: leave them out before ranking, or rank them and leave them out then");
  app.add_option("--labels", options->labels, "The files have classes; this one has the right ones")
      ->type_name("FILE");
  choice("--of", options->of, {"mean", "median"}, "What the bootstrap compares");
  choice("--interval", options->interval, {"bca", "percentile"}, "The kind of bootstrap interval");
  app.add_option("--confidence", options->test.bootstrap.confidence, "Of intervals")
      ->check(CLI::Range(0.5, 0.9999))
      ->capture_default_str();
  app.add_option("--resamples", options->test.bootstrap.resamples, "How often the bootstrap draws")
      ->check(CLI::Range(100, 10000000))
      ->capture_default_str();
  app.add_option("--seed", options->test.bootstrap.seed, "Of the bootstrap")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53))
      ->capture_default_str();
  app.add_option("--alpha", options->test.alpha, "A p below it is called significant")
      ->check(CLI::Range(1e-9, 0.5))
      ->capture_default_str();
  app.add_option("--json", options->json, "Write everything as JSON ('-' or nothing: standard output)")
      ->expected(0, 1)
      ->default_str("-")
      ->type_name("OUT");
  app.footer(fmt::format(
      "Tests:\n{}\n"
      "A file has one number a line; a header line, blank lines and what follows # are skipped. Every p "
      "comes with\n"
      "the size of the effect: p says how sure a difference is, not whether it is large. Exit code 2 when "
      "there are\n"
      "too few values for any difference to be significant; the figures are printed all the same.\n\n"
      "  driftscope stats wilcoxon strict.csv fast.csv            # accuracy of 8 models on two targets\n"
      "  driftscope stats mann-whitney before.csv after.csv --alternative less\n"
      "  driftscope stats mcnemar chrome.csv firefox.csv --labels labels.csv\n"
      "  driftscope stats bootstrap a.csv b.csv --paired --of median --json stats.json",
      tests));
  CLI::App* const command = &app;
  return [options, command] {
    for (const char* const name : {"alternative", "paired", "method", "zeros", "labels", "of", "interval",
                                   "confidence", "resamples", "seed"})
      if (command->count(fmt::format("--{}", name)) > 0) options->given.emplace_back(name);
    const Status status = run_stats(*options);
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 65,
             .name = "stats",
             .summary = "Test whether two columns of numbers differ: p, effect, intervals.",
             .declare = declare});
}

}  // namespace commands::stats

}  // namespace driftscope
