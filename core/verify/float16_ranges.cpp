// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/float16_ranges.hpp"

#include <algorithm>
#include <cmath>

#include "core/model/element.hpp"
#include "core/verify/derivation.hpp"
#include "core/verify/engine_models.hpp"
#include "core/verify/partial_sums.hpp"
#include "core/verify/tensor_values.hpp"

namespace driftscope {
namespace {

constexpr double largest_float16 = Element<DType::float16>::largest;
constexpr double smallest_float16 = 0x1p-24;

bool holds_nonfinite(const Tensor& tensor) {
  bool found = false;
  with_float_values(tensor, [&](const auto& at) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()) && !found; ++i)
      found = !std::isfinite(at(i));
  });
  return found;
}

bool outputs_are_finite(const Graph& graph, const RecordedValues& recorded) {
  for (const ValueId id : graph.outputs) {
    if (recorded[id] == nullptr || !is_floating(recorded[id]->dtype)) continue;
    const Result<Tensor> tensor = recorded.load(id);
    if (tensor.ok() && holds_nonfinite(*tensor)) return false;
  }
  return true;
}

void add_results(const Evaluated<Bounded>& reference, const Tensor& got, Float16Range& range) {
  const std::vector<Bounded> exact =
      is_known(reference) ? lift_values<Bounded>(reference.tensor) : reference.real;
  if (static_cast<std::int64_t>(exact.size()) != got.elements()) return;
  with_float_values(got, [&](const auto& at) {
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double size = std::fabs(exact[i].value);
      if (!std::isfinite(size)) continue;
      range.largest = std::fmax(range.largest, size);
      range.below += size > 0.0 && size < smallest_float16 ? 1 : 0;
      range.overflows += std::isfinite(at(i)) ? 0 : 1;
    }
  });
}

void add_sums(const Node& node, const Derivation& derivation, NodeId id, const Shape& y, ThreadPool& threads,
              Float16Range& range) {
  const auto known = derivation.known_tensors(id);
  if (!known) return;
  std::vector<const Tensor*> inputs;
  for (const std::optional<Tensor>& tensor : *known) inputs.push_back(tensor ? &*tensor : nullptr);
  const auto sums = partial_sums(node, inputs, y, threads);
  if (!sums) return;
  range.partial_sum = sums->largest;
  range.any_order = sums->any_order;
  if (sums->sums < sums->of_all) range.sampled = sums->sums;
}

void conclude(Float16Range& range, bool finite_outputs) {
  const double most = std::fmax(range.largest, range.partial_sum);
  range.headroom = most > 0.0 ? largest_float16 / most : HUGE_VAL;
  const bool in_float16 = range.dtype == dtype_name(DType::float16);
  const bool made = range.overflows > 0;
  range.absorbed = in_float16 && finite_outputs && (made || range.headroom < 1.0);
}

}  // namespace

Result<std::vector<Float16Range>> float16_ranges(const Graph& graph, const TraceView& trace,
                                                 ThreadPool& threads, const VerifyProgress& progress) {
  const RecordedValues recorded(graph, trace);
  const RunFacts run = run_facts_of(trace.about());
  DRIFTSCOPE_TRY(Derivation derivation, Derivation::plan(graph, recorded, run.model));
  const bool finite_outputs = outputs_are_finite(graph, recorded);
  std::vector<Float16Range> ranges;
  const std::vector<NodeId>& nodes = derivation.nodes();
  for (std::size_t done = 0; done < nodes.size(); ++done) {
    const NodeId id = nodes[done];
    const Node& node = graph.nodes[id];
    std::vector<Derived> outputs = derivation.derive(id, threads);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const ValueId value = node.outputs[i];
      if (value == no_value || recorded[value] == nullptr || !outputs[i].reason.empty()) continue;
      if (!is_floating(recorded[value]->dtype)) continue;
      DRIFTSCOPE_TRY(const Tensor got, recorded.load(value));
      Float16Range range{.node = node.name,
                         .op = node.op_type,
                         .output = graph.values[value].name,
                         .dtype = std::string(dtype_name(got.dtype())),
                         .elements = got.elements()};
      add_results(outputs[i].reference, got, range);
      if (i == 0) add_sums(node, derivation, id, got.shape(), threads, range);
      conclude(range, finite_outputs);
      ranges.push_back(std::move(range));
    }
    derivation.recycle(std::move(outputs));
    if (progress && !progress(static_cast<std::int64_t>(done) + 1, std::ssize(nodes)))
      return Error{ErrorKind::cancelled, "it was stopped"};
  }
  return ranges;
}

}  // namespace driftscope
