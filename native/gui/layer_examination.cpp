#include "native/gui/layer_examination.hpp"

#include <fmt/format.h>

#include "core/platform/platform.hpp"
#include "core/verify/name_match.hpp"
#include "core/verify/type_match.hpp"
#include "native/host/causal_test.hpp"
#include "native/host/reduce_run.hpp"
#include "native/host/repro_run.hpp"
#include "native/host/target_runner.hpp"
#include "native/host/targets.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

/// With the model's names and types, as verify reads it.
TraceView matched(const TraceView& recorded, const Graph& graph) {
  TraceView trace = recorded;
  rename_values(match_names(graph, trace), trace);
  convert_types(match_types(graph, trace), trace);
  return trace;
}

Result<Trace> loaded(const TraceView& view) {
  Trace trace = view.about();
  trace.tensors.clear();
  for (std::size_t i = 0; i < view.size(); ++i) {
    DRIFTSCOPE_TRY(Tensor tensor, view.load(i));
    trace.tensors.push_back({view[i].name, std::move(tensor)});
  }
  return trace;
}

/// Older folders are not touched.
fs::path new_folder(const fs::path& parent, const std::string& name) {
  fs::path path = parent / name;
  std::error_code ignored;
  for (int i = 2; fs::exists(path, ignored) && i < 10000; ++i) path = parent / fmt::format("{}-{}", name, i);
  return path;
}

class Examination {
 public:
  Examination(const ExaminedLayer& wanted, Target target, const TargetProgress& progress)
      : wanted_(wanted),
        target_(std::move(target)),
        trace_(matched(wanted.tensors->view(), wanted.model->graph)),
        progress_(progress) {}

  Result<LayerFindings> run() {
    switch (wanted_.task.work) {
      case gui::LayerWork::causal_test: return test();
      case gui::LayerWork::reduce: return reduce();
      case gui::LayerWork::repro: break;
    }
    return report();
  }

 private:
  Result<LayerFindings> test() {
    DRIFTSCOPE_TRY(const Trace trace, loaded(trace_));
    TargetRunner runner(wanted_.runner);
    CausalTester tester(*wanted_.model, trace, target_, runner, threads_, progress_);
    DRIFTSCOPE_TRY(const CausalTest tested, tester.test(wanted_.task.node));
    return LayerFindings{tested.answer_with_layer_right, {}};
  }

  Result<LayerFindings> reduce() {
    const ReduceRunOptions options{.target = target_, .runner = wanted_.runner, .stopped = wanted_.stopped};
    DRIFTSCOPE_TRY(const ReduceRun run, reduce_layer(wanted_.model->graph, trace_, wanted_.task.node, options,
                                                     threads_, progress_));
    const fs::path folder = new_folder(wanted_.folder, report_folder("reduced", wanted_.task.node));
    DRIFTSCOPE_TRY(const ReducedFiles written,
                   write_reduced(run.reduced.excerpt, folder, options, threads_, progress_));
    return LayerFindings{
        reduced_text(run, wanted_.task.node) + fmt::format("{}", fmt::join(written.files, ", ")), folder};
  }

  Result<LayerFindings> report() {
    DRIFTSCOPE_TRY(const Excerpt one, excerpt_of(wanted_.model->graph, trace_, wanted_.task.node, threads_));
    ReproOptions options{.folder = new_folder(wanted_.folder, report_folder("repro", wanted_.task.node)),
                         .target = target_,
                         .runner = wanted_.runner};
    DRIFTSCOPE_TRY(const ReproResult made, make_report(one, options, threads_, progress_));
    std::string text = fmt::format("{}\n", fmt::join(made.files, ", "));
    if (!made.page.empty()) text += fmt::format("index.html was run: {}\n", made.page);
    if (!made.script.empty()) text += fmt::format("repro.py: {}\n", made.script);
    return LayerFindings{text + fmt::format("It discloses: {}", fmt::join(made.disclosed, "; ")),
                         options.folder};
  }

  const ExaminedLayer& wanted_;
  const Target target_;
  const TraceView trace_;
  const TargetProgress& progress_;
  ThreadPool threads_{usable_processors()};
};

}  // namespace

Result<LayerFindings> examine_layer(const ExaminedLayer& wanted, const TargetProgress& progress) {
  const std::string& name = wanted.task.ran_on.empty() ? wanted.task.target : wanted.task.ran_on;
  if (name.empty() || name.starts_with("file/"))
    return bad_input(fmt::format(
        "{}: the trace does not say which target made it; run the target again and open that trace",
        wanted.task.target));
  DRIFTSCOPE_TRY(Target target, read_target(name));
  return Examination(wanted, std::move(target), progress).run();
}

}  // namespace driftscope
