#include "native/host/convert_check_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/trace/trace_file.hpp"
#include "core/verify/metrics.hpp"
#include "native/host/dataset_run.hpp"
#include "native/host/inputs.hpp"

namespace driftscope {
namespace {

using convert::CheckedModel;
using convert::CheckView;

// Each costs a run of B; they are tried only when the two diverge.
constexpr std::size_t max_other_orders = 8;

bool is_trace(const std::string& path) { return std::filesystem::path(path).extension() == ".safetensors"; }

struct Loaded {
  ModelFile file;
  CheckedModel about;
};

Result<Loaded> load(const std::string& path) {
  const std::int64_t start = monotonic_ns();
  DRIFTSCOPE_TRY(ModelFile file, load_model_file(path));
  Loaded loaded{std::move(file), {}};
  loaded.about.load_ms = static_cast<double>(monotonic_ns() - start) / 1e6;
  loaded.about.path = path;
  loaded.about.kind = loaded.file.kind;
  loaded.about.bytes = loaded.file.file_bytes;
  loaded.about.nodes = static_cast<std::int64_t>(loaded.file.graph.nodes.size());
  loaded.about.weights = convert::weight_count(loaded.file.graph);
  return loaded;
}

Result<Trace> load_trace(const std::string& path, CheckedModel& about) {
  DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
  auto trace = read_trace(bytes);
  if (!trace.ok()) return in_context(std::move(trace).error(), path);
  about.path = path;
  about.kind = "trace";
  about.bytes = static_cast<std::int64_t>(bytes.size());
  return trace;
}

Result<Trace> run_model(const ConvertCheckRequest& request, const ModelFile& model, NamedInputs inputs,
                        TargetRunner& runner, const TargetProgress& progress) {
  RunRequest run;
  run.model = &model;
  run.inputs = std::move(inputs);
  auto trace = runner.run(request.target, run, progress);
  if (!trace.ok()) return in_context(std::move(trace).error(), model.path.string());
  return trace;
}

/// A trace's inputs: what no node made, else any of its tensors.
NamedInputs inputs_of(const Trace& trace) {
  NamedInputs inputs;
  std::vector<std::string_view> made;
  for (const NodeRecord& node : trace.nodes)
    made.insert(made.end(), node.outputs.begin(), node.outputs.end());
  for (const NamedTensor& tensor : trace.tensors)
    if (std::ranges::find(made, tensor.name) == made.end()) inputs.push_back(tensor);
  return inputs;
}

Result<Metrics> output_drift(const convert::Check& check, const DatasetRun& a, const DatasetRun& b,
                             std::int64_t samples, ThreadPool& threads) {
  for (const convert::CheckedLayer& layer : check.layers) {
    const Tensor* const x = a.trace.find(layer.values.a);
    const Tensor* const y = b.trace.find(layer.values.b);
    if (x == nullptr || y == nullptr || x->shape().empty() || x->shape()[0] != samples) continue;
    convert::Order order;
    if (!layer.values.order.empty()) order.push_back(0);
    for (const std::size_t axis : layer.values.order) order.push_back(axis + 1);
    DRIFTSCOPE_TRY(const Tensor moved, convert::restored(*y, order, x->shape()));
    DRIFTSCOPE_TRY(const Tensor same, convert::as_dtype(moved, x->dtype()));
    return measure(same, *x, &threads);
  }
  return bad_input("--dataset: no output of A is paired with one of B; name the pair in a map (--map)");
}

Result<convert::DatasetCheck> check_dataset(const ConvertCheckRequest& request, const Loaded& a,
                                            const Loaded& b, const convert::MatchedInputs& matched,
                                            const convert::Check& check, TargetRunner& runner,
                                            ThreadPool& threads, const TargetProgress& progress) {
  DRIFTSCOPE_TRY(GivenDataset dataset, read_dataset(request.dataset, a.file));
  convert::DatasetCheck made;
  made.text = dataset.text;
  made.samples = dataset.samples;
  DRIFTSCOPE_TRY(DatasetRun run_a, run_dataset(runner, request.target, a.file, dataset, progress));
  if (matched.pairs.size() != 1 || dataset.stacked.size() != 1)
    return unsupported(fmt::format("--dataset: {} has {} inputs; a data set feeds exactly one", b.about.path,
                                   matched.pairs.size()));
  DRIFTSCOPE_TRY(Tensor stacked,
                 convert::stacked_in_order(dataset.stacked[0].tensor, matched.pairs[0], b.file.graph));
  dataset.stacked[0] = {matched.pairs[0].b, std::move(stacked)};
  DRIFTSCOPE_TRY(DatasetRun run_b, run_dataset(runner, request.target, b.file, dataset, progress));
  DRIFTSCOPE_TRY(made.drift, output_drift(check, run_a, run_b, dataset.samples, threads));
  made.a = std::move(run_a.result);
  made.b = std::move(run_b.result);
  for (std::size_t i = 0; i < std::min(made.a.predictions.size(), made.b.predictions.size()); ++i)
    made.agree += made.a.predictions[i] == made.b.predictions[i] ? 1 : 0;
  return made;
}

std::size_t judged_layers(const convert::Check& check) {
  return static_cast<std::size_t>(
      std::ranges::count_if(check.layers, [](const auto& layer) { return layer.judged.has_value(); }));
}

// Nothing diverges, and not because less could be judged.
bool agrees_instead(const convert::Check& other, const convert::Check& first) {
  return !other.first_parting && other.verdict != Verdict::missing &&
         judged_layers(other) >= judged_layers(first);
}

}  // namespace

Result<CheckView> check_conversion(const ConvertCheckRequest& request, const TargetProgress& progress) {
  if (is_trace(request.b))
    return bad_input(
        fmt::format("{}: B is a trace; a trace is judged by its model with driftscope verify MODEL {}",
                    request.b, request.b));
  CheckView view;
  view.target = request.target.text();
  // Before A runs, which may take long.
  DRIFTSCOPE_TRY(const Loaded b, load(request.b));
  view.b = b.about;
  std::optional<Loaded> a;
  Trace trace_a;
  NamedInputs inputs;
  TargetRunner runner(request.runner);
  const auto named = [&](const char* side) {
    return [&progress, side](std::string_view step, std::int64_t done, std::int64_t total) {
      progress(fmt::format("{}: {}", side, step), done, total);
    };
  };
  if (is_trace(request.a)) {
    if (!request.inputs.empty() || !request.dataset.empty())
      return bad_input(fmt::format(
          "{}: A is a trace, so its own input is used; --input and --dataset need A's model", request.a));
    DRIFTSCOPE_TRY(trace_a, load_trace(request.a, view.a));
    inputs = inputs_of(trace_a);
    view.input_text = "of the trace";
  } else {
    DRIFTSCOPE_TRY(a, load(request.a));
    view.a = a->about;
    DRIFTSCOPE_TRY(GivenInputs given, read_inputs(request.inputs, a->file));
    view.input_text = given.text;
    inputs = std::move(given.tensors);
    if (inputs.size() == 1 && inputs[0].name.empty() && a->file.graph.inputs.size() == 1)
      inputs[0].name = a->file.graph.value_name(a->file.graph.inputs[0]);
    DRIFTSCOPE_TRY(trace_a, run_model(request, a->file, inputs, runner, named("A")));
  }
  DRIFTSCOPE_TRY(convert::MatchedInputs matched, convert::match_inputs(inputs, b.file.graph, request.map));
  ThreadPool threads(usable_processors());
  const auto own = [](const ModelFile& model) { return model.values ? &*model.values : nullptr; };
  const convert::Side side_a(a ? &a->file.graph : nullptr, trace_a, a ? own(a->file) : nullptr);
  const auto check = [&](const convert::MatchedInputs& taken) -> Result<convert::Check> {
    DRIFTSCOPE_TRY(const Trace trace_b, run_model(request, b.file, taken.tensors, runner, named("B")));
    const convert::Side side_b(&b.file.graph, trace_b, own(b.file));
    return convert::check_conversion(side_a, side_b, convert::with_inputs(request.map, taken), threads,
                                     [&](std::int64_t done, std::int64_t total) {
                                       progress("judging", done, total);
                                       return true;
                                     });
  };
  DRIFTSCOPE_TRY(view.check, check(matched));
  if (view.check.first_parting)
    for (const convert::ValueMap& other :
         convert::other_orders(inputs, b.file.graph, request.map, matched, max_other_orders)) {
      DRIFTSCOPE_TRY(convert::MatchedInputs taken, convert::match_inputs(inputs, b.file.graph, other));
      auto checked = check(taken);
      if (!checked.ok() && checked.error().kind == ErrorKind::cancelled) return checked.error();
      if (!checked.ok() || !agrees_instead(*checked, view.check)) continue;
      for (std::size_t i = 0; i < taken.pairs.size(); ++i)
        if (taken.pairs[i].order != matched.pairs[i].order) view.reordered.push_back(taken.pairs[i]);
      view.check = *std::move(checked);
      matched = std::move(taken);
      break;
    }
  if (!request.dataset.empty()) {
    DRIFTSCOPE_TRY(view.dataset.emplace(),
                   check_dataset(request, *a, b, matched, view.check, runner, threads, progress));
  }
  return view;
}

}  // namespace driftscope
