#include "native/host/reduce_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "core/base/format.hpp"
#include "core/repro/report_files.hpp"
#include "core/repro/runtime.hpp"
#include "native/host/excerpt_runner.hpp"
#include "native/host/repro_run.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

class LayerReduction {
 public:
  LayerReduction(const Graph& graph, const TraceView& trace, std::string node,
                 const ReduceRunOptions& options, ThreadPool& threads, const TargetProgress& progress)
      : graph_(graph),
        trace_(trace),
        node_(std::move(node)),
        options_(options),
        threads_(threads),
        progress_(progress),
        runner_(options.target, options.runner, threads,
                [](std::string_view, std::int64_t, std::int64_t) {}) {}

  Result<ReduceRun> run() {
    DRIFTSCOPE_TRY(Excerpt excerpt, failing_excerpt());
    ReduceOptions how{.most_tries = options_.tries, .repeats = flaky_ ? 5 : 1, .go_on = {}};
    const auto end = Clock::now() + std::chrono::seconds(options_.seconds);
    how.go_on = [&](const ReduceProgress& now) {
      progress_(fmt::format("{}: {} elements, trying {}", options_.target.text(), format_count(now.elements),
                            now.step),
                now.tried, options_.tries);
      return Clock::now() < end && !stopped();
    };
    DRIFTSCOPE_TRY(Reduced reduced,
                   reduce(std::move(excerpt), [&](Excerpt& one) { return runner_.run(one); }, how, threads_));
    DRIFTSCOPE_CHECK(set_expected(reduced.excerpt, runner_.about(), threads_));
    return ReduceRun{.reduced = std::move(reduced), .flaky = flaky_};
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool stopped() const { return options_.stopped && options_.stopped(); }

  /// The node alone; where that is right on the target, with more and more of what comes before it.
  Result<Excerpt> failing_excerpt() {
    constexpr int most_before = 4;
    std::string verdicts;
    for (int before = 0; before <= most_before; ++before) {
      DRIFTSCOPE_TRY(Excerpt excerpt, excerpt_of(graph_, trace_, node_, threads_, before));
      progress_(fmt::format("{}: {} nodes alone", options_.target.text(), excerpt.graph.nodes.size()), 0, 0);
      int wrong = 0;
      constexpr int runs = 3;
      std::optional<Excerpt> failing;
      for (int i = 0; i < runs; ++i) {
        if (stopped()) return Error{ErrorKind::cancelled, "stopped"};
        DRIFTSCOPE_TRY(const LayerVerdict verdict, runner_.run(excerpt));
        if (!is_bad(verdict.verdict)) continue;
        ++wrong;
        failing = excerpt;
      }
      flaky_ = wrong > 0 && wrong < runs;
      if (failing) return *std::move(failing);
      verdicts += fmt::format("{}{}", verdicts.empty() ? "" : ", ", excerpt.graph.nodes.size());
    }
    return unsupported(
        fmt::format("'{}' is right on {} when it stands alone, and with what is before it ({} nodes tried): "
                    "the fault needs the "
                    "rest of the model, or came only once",
                    node_, options_.target.text(), verdicts));
  }

  const Graph& graph_;
  const TraceView& trace_;
  const std::string node_;
  const ReduceRunOptions& options_;
  ThreadPool& threads_;
  const TargetProgress& progress_;
  ExcerptRunner runner_;
  bool flaky_ = false;
};

/// For runtimes without a page of their own.
Result<std::vector<std::string>> write_plain(const Excerpt& excerpt, const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::create_directory(folder, error))
    return bad_input(fmt::format("-o {}: it exists already, or cannot be made", folder.string()));
  DRIFTSCOPE_TRY(const auto files, repro::model_files(excerpt));
  std::vector<std::string> names;
  for (const repro::File& file : files) {
    DRIFTSCOPE_CHECK(write_file(folder / file.name, std::span<const std::byte>(file.bytes)));
    names.push_back(file.name);
  }
  return names;
}

}  // namespace

Result<ReduceRun> reduce_layer(const Graph& graph, const TraceView& trace, const std::string& node,
                               const ReduceRunOptions& options, ThreadPool& threads,
                               const TargetProgress& progress) {
  return LayerReduction(graph, trace, node, options, threads, progress).run();
}

std::string reduced_text(const ReduceRun& run, const std::string& node) {
  const Reduced& reduced = run.reduced;
  std::string text = fmt::format(
      "{} of '{}', {} tries, {} steps: {} elements became {}{}\n", repro::nodes_text(reduced.excerpt.graph),
      node, reduced.tried, reduced.steps.size(), format_count(reduced.elements_before),
      format_count(reduced.elements_after), reduced.finished ? "" : "; not all steps were tried");
  if (run.flaky) text += "the fault does not come in every run: each step was tried up to five times\n";
  for (const ReduceStep& step : reduced.steps)
    text += fmt::format("  {:>9}  {}\n", format_count(step.elements), step.text);
  const LayerVerdict& verdict = reduced.excerpt.verdict;
  if (verdict.explanation) text += explanation_text(*verdict.explanation) + "\n";
  return text;
}

Result<ReducedFiles> write_reduced(const Excerpt& excerpt, const std::filesystem::path& folder,
                                   const ReduceRunOptions& options, ThreadPool& threads,
                                   const TargetProgress& progress) {
  ReducedFiles written;
  if (!repro::runtime_for(options.target.engine).ok()) {
    DRIFTSCOPE_TRY(written.files, write_plain(excerpt, folder));
    return written;
  }
  const ReproOptions report{
      .folder = folder, .target = options.target, .runner = options.runner, .table_runs = options.table_runs};
  DRIFTSCOPE_TRY(const ReproResult made, make_report(excerpt, report, threads, progress));
  return ReducedFiles{.files = made.files, .report = true};
}

std::string plain_name(const std::string& text) {
  constexpr std::size_t longest = 80;
  std::string name;
  for (const char c : text.substr(0, longest)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    name += plain ? c : '_';
  }
  return name;
}

std::string report_folder(const std::string& what, const std::string& node) {
  return what + "-" + plain_name(node);
}

}  // namespace driftscope
