// The cost of a comparison of 100,000 layers on 6 targets: JSON written and read, assembled for the
// GUI, sorted; the table of the terminal and the report.
//
//   driftscope_bench_results [LAYERS [TARGETS [JSON]]]     JSON: a file to write it to, to open in the window
#include <fmt/format.h>
#include <malloc.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include "core/gui/layer_order.hpp"
#include "core/gui/stored_targets.hpp"
#include "core/report/report.hpp"
#include "core/report/tables.hpp"
#include "core/results/view_json.hpp"

namespace {

using namespace driftscope;

/// Largest resident memory since the last step.
double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::strtod(line.c_str() + 6, nullptr) / 1e3;
  return 0.0;
}

/// Processor time, so that a busy machine changes little.
void print_step(const char* step, std::clock_t since) {
  const double took = static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC;
  const struct mallinfo2 heap = mallinfo2();
  fmt::print("{:<28} {:7.2f} s   in use {:6.0f} MB   peak {:6.0f} MB\n", step, took,
             static_cast<double>(heap.uordblks + heap.hblkhd) / 1e6, peak_megabytes());
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak of the next step
}

ComparisonView many_layers(std::size_t layers, std::size_t targets) {
  ComparisonView view;
  for (std::size_t t = 0; t < targets; ++t) {
    TargetResult& result = t == 0 ? view.left : view.right.emplace_back();
    result.target = fmt::format("host{}/strict", t);
    Verification& verification = result.verification.emplace();
    verification.verdict = Verdict::rounding;
    Comparison comparison;
    for (std::size_t i = 0; i < layers; ++i) {
      LayerVerdict verified;
      verified.node = fmt::format("stage{}/block{}/layer{}", i >> 8, (i >> 4) & 15, i);
      verified.op = i % 3 == 0 ? "Conv" : i % 3 == 1 ? "Relu" : "Add";
      verified.output = fmt::format("v{}", i);
      verified.shape = {1, 64, 56, 56};
      verified.verdict = i % 3 != 0 ? Verdict::identical : Verdict::rounding;
      verified.metrics.elements = 200'704;
      verified.budget_used = i % 3 != 0 ? 0.0 : static_cast<double>(i % 90) / 100.0;
      verified.metrics.max_abs = verified.budget_used * 1e-7;
      LayerDifference difference;
      difference.place = i;
      difference.node = verified.node;
      difference.op = verified.op;
      difference.output = verified.output;
      difference.shape = verified.shape;
      difference.metrics = verified.metrics;
      // Two targets of three compute the same bits.
      if (t % 3 == 1) {
        difference.metrics.max_abs = 1e-7 * static_cast<double>(1 + (i * 31 + t) % 97);
        difference.metrics.max_ulp = static_cast<double>(i * t % 50);
        difference.metrics.cosine = 1.0 - 1e-12 * static_cast<double>(i % 70);
        difference.metrics.different_elements = static_cast<std::int64_t>(i % 5000);
      }
      difference.left_ns = static_cast<std::int64_t>(1000 + i);
      difference.right_ns = static_cast<std::int64_t>(900 * (t + 1) + i % 700);
      verification.layers.push_back(std::move(verified));
      comparison.layers.push_back(std::move(difference));
    }
    if (t > 0) result.comparison = std::move(comparison);
  }
  return view;
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t layers = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 100'000;
  const std::size_t targets = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 6;
  std::clock_t now = std::clock();
  std::string json;
  {
    const ComparisonView view = many_layers(layers, targets);
    print_step("as verify and compare say it", now);
    now = std::clock();
    json = view_json(view);
    print_step(fmt::format("JSON of {:.0f} MB", static_cast<double>(json.size()) / 1e6).c_str(), now);
    if (count > 3) std::ofstream(arguments[3]) << json;
    now = std::clock();
    const std::string text = compare_table(view);
    print_step(fmt::format("table of {:.0f} MB", static_cast<double>(text.size()) / 1e6).c_str(), now);
    now = std::clock();
    const std::string report = comparison_report(view);
    print_step(fmt::format("report of {:.1f} MB", static_cast<double>(report.size()) / 1e6).c_str(), now);
  }
  malloc_trim(0);
  now = std::clock();
  gui::SnapshotParts parts;
  {
    auto read = gui::read_stored_targets(json);
    if (!read.ok()) return fmt::print("{}\n", read.error().message), 1;
    parts.targets = *std::move(read);
  }
  print_step("read", now);
  now = std::clock();
  const gui::Snapshot snapshot = gui::make_snapshot(std::move(parts));
  parts = {};
  print_step("put together", now);
  now = std::clock();
  const auto rows =
      gui::ordered_layers(snapshot, {}, {gui::SortBy::metric, 1, compared_metric("max_abs"), true});
  print_step("sorted", now);
  now = std::clock();
  const auto table = gui::layer_table(snapshot, rows);
  print_step("as a table of text", now);
  return table.size() == snapshot.layers.size() + 1 ? 0 : 1;
}
