// driftscope report RUN.drift|COMPARISON.json --out OUT.html
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/report/report.hpp"
#include "core/results/comparison_reader.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/host/kept_file.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct ReportOptions {
  std::string run;
  std::string out;
};

Result<ComparisonView> read_results(const std::string& path) {
  if (is_kept_file(path)) {
    DRIFTSCOPE_TRY(const KeptFile kept, KeptFile::open(path));
    return kept.view();
  }
  DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
  auto view = read_comparison({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!view.ok()) return in_context(std::move(view).error(), path);
  return view;
}

Status write_report(const ReportOptions& options) {
  DRIFTSCOPE_TRY(const ComparisonView view, read_results(options.run));
  const std::string out =
      options.out.empty() ? std::filesystem::path(options.run).filename().replace_extension(".html").string()
                          : options.out;
  DRIFTSCOPE_CHECK(write_file(out, comparison_report(view)));
  print_out("report: {}\n", out);
  return {};
}

}  // namespace

namespace commands::report {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("RUN", options->run,
                 "A kept comparison (.drift, of 'compare --save'), or the JSON of 'compare --json' or "
                 "'verify --json', "
                 "which has no tensors")
      ->required();
  app.add_option("-o,--out", options->out, "The HTML file (default: RUN.html in this folder)");
  return [options] {
    const Status status = write_report(*options);
    if (status.ok()) return Exit::ok;
    print_error(status.error());
    return exit_of(status.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 32,
             .name = "report",
             .summary = "Write the HTML report of a comparison that was kept.",
             .declare = declare});
}

}  // namespace commands::report

}  // namespace driftscope
