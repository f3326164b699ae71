#include "native/cli/verify_traces.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "core/platform/platform.hpp"
#include "core/verify/engine_models.hpp"
#include "core/verify/name_match.hpp"
#include "core/verify/type_match.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

Status for_each_target(const KeptFile& kept, const std::function<void(const TraceToVerify&)>& each) {
  const ComparisonView& view = kept.comparison().view();
  bool any = false;
  for (std::size_t i = 0; i <= view.right.size(); ++i) {
    const auto bytes = kept.comparison().trace(i);
    const std::string& target = i == 0 ? view.left.target : view.right[i - 1].target;
    if (bytes.empty()) continue;
    any = true;
    each(TraceToVerify{kept.path().string() + ", " + target, bytes, [&kept] { kept.release(); }});
  }
  if (!any) return bad_input(kept.path().string() + ": no target of this comparison has a trace");
  return {};
}

/// The gradient of the model at a trace's input, with what it predicts for the engine that made the trace.
struct TraceSensitivity {
  AnswerSensitivity of;
  PredictedLayers predicted;
};

Result<TraceSensitivity> sensitivity_of(const Graph& graph, const TraceView& trace, SensitivityWanted wanted,
                                        ThreadPool& threads, const VerifyProgress& progress) {
  DRIFTSCOPE_TRY(AnswerSensitivity prepared,
                 AnswerSensitivity::prepare(graph, trace, wanted, threads, progress));
  DRIFTSCOPE_TRY(PredictedLayers predicted,
                 prepared.predict(error_model_of(trace.about()), threads, progress));
  return TraceSensitivity{std::move(prepared), std::move(predicted)};
}

}  // namespace

Result<NamedTraces> NamedTraces::open(std::string_view command, const std::string& model,
                                      std::vector<std::string> traces, int threads) {
  if (model.empty())
    return bad_input(fmt::format("{}: MODEL is missing: the .onnx file that the trace is of", command));
  std::optional<KeptFile> kept;
  if (is_kept_file(model)) {
    DRIFTSCOPE_TRY(kept, KeptFile::open(model));
  }
  if (traces.empty() && kept) traces = {model};
  if (traces.empty()) return bad_input(fmt::format("{}: TRACE is missing: what a target recorded", command));
  if (!kept) {
    DRIFTSCOPE_TRY(GraphFile graph, load_graph_file(model, threads));
    return NamedTraces({}, std::move(graph), std::move(traces));
  }
  DRIFTSCOPE_TRY(ModelFile inside, kept->model(Weights::deferred));
  GraphFile graph{{}, ModelHash(inside.sha256), std::move(inside.graph)};
  return NamedTraces(std::move(kept), std::move(graph), std::move(traces));
}

void NamedTraces::for_each(const std::function<void(const TraceToVerify&)>& each,
                           const std::function<void(const Error&)>& fail) const {
  for (const std::string& path : paths_)
    if (const Status read = for_each_of(path, each); !read.ok()) fail(read.error());
}

Status NamedTraces::for_each_of(const std::string& path,
                                const std::function<void(const TraceToVerify&)>& each) const {
  if (kept_ && path == kept_->path()) return for_each_target(*kept_, each);
  if (is_kept_file(path)) {
    DRIFTSCOPE_TRY(const KeptFile other, KeptFile::open(path));
    return for_each_target(other, each);
  }
  DRIFTSCOPE_TRY(const MappedFile file, MappedFile::open(path));
  each(TraceToVerify{path, file.bytes(), [&file] { file.release(); }});
  return {};
}

Status with_trace(const std::string& path, const std::string& target,
                  const std::function<Status(const TraceToVerify&)>& use) {
  if (!is_kept_file(path)) {
    DRIFTSCOPE_TRY(const MappedFile file, MappedFile::open(path));
    return use({path, file.bytes()});
  }
  DRIFTSCOPE_TRY(const KeptFile kept, KeptFile::open(path));
  std::vector<std::string> held;
  std::optional<Status> used;
  DRIFTSCOPE_CHECK(for_each_target(kept, [&](const TraceToVerify& one) {
    const auto view = TraceView::open(one.bytes);
    if (!view.ok()) return;
    held.push_back(view->about().target);
    if (!used && held.back() == target) used = use(one);
  }));
  if (used) return *std::move(used);
  return bad_input(fmt::format("{} holds the runs of {}{}; name one of them: --target", path,
                               fmt::join(held, ", "), target.empty() ? "" : ", not of " + target));
}

Result<Trace> whole_trace(const Graph& graph, const TraceToVerify& given) {
  auto view = TraceView::open(given.bytes);
  if (!view.ok()) return in_context(std::move(view).error(), given.name);
  rename_values(match_names(graph, *view), *view);
  convert_types(match_types(graph, *view), *view);
  Trace trace = view->about();
  for (std::size_t i = 0; i < view->size(); ++i) {
    DRIFTSCOPE_TRY(Tensor tensor, view->load(i));
    trace.tensors.push_back({(*view)[i].name, std::move(tensor)});
  }
  return trace;
}

Result<VerifiedFile> verify_trace(const GraphFile& model, const TraceToVerify& given, ThreadPool& threads,
                                  ProgressLine& line, const VerifyTraceOptions& options) {
  auto trace = TraceView::open(given.bytes);
  if (!trace.ok()) return in_context(std::move(trace).error(), given.name);
  const NameMatch match = match_names(model.graph, *trace);
  rename_values(match, *trace);
  const auto converted = match_types(model.graph, *trace);
  convert_types(converted, *trace);
  // A trace of another model is rejected as soon as the model's hash is known.
  const auto progress = [&](std::int64_t done, std::int64_t total) {
    line.update("verifying " + given.name, done, total);
    given.release();  // a layer reads its own values, and few of another's
    return !model.sha256.known() || expect_model(model.sha256.get(), trace->about()).ok();
  };
  std::optional<Result<TraceSensitivity>> sensitivity;
  if (options.sensitivity != SensitivityWanted::never)
    sensitivity = sensitivity_of(model.graph, *trace, options.sensitivity, threads, progress);
  const bool sensitive = sensitivity && sensitivity->ok();
  auto verification = options.node ? verify_node(model.graph, *trace, *options.node, threads, progress)
                                   : verify(model.graph, "", *trace, threads, progress,
                                            sensitive ? &(*sensitivity)->of : nullptr);
  if (auto same = expect_model(model.sha256.get(), trace->about()); !same.ok())
    return in_context(std::move(same).error(), given.name);
  if (!verification.ok()) return in_context(std::move(verification).error(), given.name);
  verification->model_sha256 = model.sha256.get();
  if (sensitive)
    (*sensitivity)->of.conclude((*sensitivity)->predicted, *trace, *verification);
  else if (sensitivity)
    verification->answer.emplace().left_out = sensitivity->error().message;
  if (options.budgets != nullptr) apply_budgets(*verification, *options.budgets, model.graph, *trace);
  verification->names = name_match_text(match);
  if (const std::string types = type_match_text(converted); !types.empty())
    verification->names += (verification->names.empty() ? "" : "; ") + types;
  return VerifiedFile{*std::move(verification), trace->about()};
}

}  // namespace driftscope
