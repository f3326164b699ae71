// driftscope report RUN.drift|COMPARISON.json --out OUT.html
// driftscope report FOLDER|ATTACK.json… --out OUT.html, of attacks
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/report/attack_page.hpp"
#include "core/report/report.hpp"
#include "core/results/comparison_reader.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/host/attack_files.hpp"
#include "native/host/kept_file.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct ReportOptions {
  std::vector<std::string> runs;
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

/// The name of the page where none is given: in this folder, after the first file.
std::string out_of(const ReportOptions& options) {
  if (!options.out.empty()) return options.out;
  std::filesystem::path path(options.runs.front());
  if (!path.has_filename()) path = path.parent_path();  // "kept/"
  return path.filename().replace_extension(".html").string();
}

Status write_report(const ReportOptions& options) {
  const std::string out = out_of(options);
  if (options.runs.size() > 1 || is_attack(options.runs.front())) {
    std::vector<AttackResults> all;
    for (const std::string& run : options.runs) {
      DRIFTSCOPE_TRY(all.emplace_back(), read_attack(run));
    }
    DRIFTSCOPE_CHECK(write_file(out, attack_page(all)));
    print_out("report: {}\n", out);
    return {};
  }
  DRIFTSCOPE_TRY(const ComparisonView view, read_results(options.runs.front()));
  DRIFTSCOPE_CHECK(write_file(out, comparison_report(view)));
  print_out("report: {}\n", out);
  return {};
}

}  // namespace

namespace commands::report {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option(
         "RUN", options->runs,
         "A kept comparison (.drift, of 'compare --save'), or the JSON of 'compare --json' or "
         "'verify --json', which has no tensors. Or attacks: folders of 'attack -o FOLDER', or the JSON "
         "of 'attack --json', which has no pictures")
      ->required();
  app.add_option("-o,--out", options->out, "The HTML file (default: RUN.html in this folder)");
  app.footer(
      "Several attacks make one page, with the robustness of targets against all of them:\n"
      "  driftscope attack net.onnx --method fgsm --epsilon 0.1 --dataset DATA --targets pc/strict,pc/ort -o "
      "fgsm\n"
      "  driftscope attack net.onnx --method bim --epsilon 0.1 --dataset DATA --targets pc/strict,pc/ort -o "
      "bim\n"
      "  driftscope report fgsm bim -o attacks.html");
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
             .summary = "Write the HTML report of a comparison or of attacks that were kept.",
             .declare = declare});
}

}  // namespace commands::report

}  // namespace driftscope
