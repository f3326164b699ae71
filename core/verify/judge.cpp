// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/judge.hpp"

#include <cstring>

#include "core/eval/evaluate.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/verify/verify_element.hpp"

namespace driftscope {

const DerivationInputs* LayerCase::known_inputs() const {
  if (!read_inputs) read_inputs.emplace(derivation.known_inputs(id));
  return *read_inputs ? &**read_inputs : nullptr;
}

LayerVerdict judged(const LayerCase& layer) {
  LayerVerdict verdict;
  verdict.node = layer.node().name;
  verdict.op = layer.node().op_type;
  verdict.output = layer.graph.values[layer.value()].name;
  verdict.shape = layer.got.shape();
  for (const NodeId member : layer.derived.group) verdict.group.push_back(layer.graph.nodes[member].name);
  for (const Judge& judge : judge_table().judges()) judge.judge(layer, verdict);
  // The value is there and nothing tells whether it is right.
  if (!layer.derived.reason.empty()) verdict.verdict = Verdict::unjudged;
  return verdict;
}

std::span<const Bounded> LayerCase::right() const {
  if (!is_floating(got.dtype())) return {};
  if (!from_inputs) {
    from_inputs.emplace();
    if (is_known(derived.reference)) *from_inputs = lift_values<Bounded>(derived.reference.tensor);
    const DerivationInputs* const inputs = in_group() ? nullptr : known_inputs();
    if (inputs != nullptr && inputs->reread) {
      std::vector<const Evaluated<Bounded>*> pointers;
      for (const Evaluated<Bounded>& input : inputs->lifted)
        pointers.push_back(input.dtype == DType::undefined ? nullptr : &input);
      auto results = evaluate<Bounded>(node(), pointers, threads, {.model = &run.model});
      if (results.ok() && output < results->size()) *from_inputs = std::move((*results)[output].real);
    }
  }
  return from_inputs->empty() ? std::span<const Bounded>(derived.reference.real) : *from_inputs;
}

std::vector<std::uint8_t> LayerCase::wrong_elements() const {
  const auto size = static_cast<std::size_t>(got.elements());
  std::vector<std::uint8_t> wrong;
  if (derived.reference.dtype != got.dtype() || derived.reference.shape != got.shape()) return wrong;
  if (is_floating(got.dtype())) {
    const std::span<const Bounded> want = right();
    if (want.size() != size) return wrong;
    wrong.resize(size);
    const ErrorModel errors = model();
    const std::vector<double> values = numbers_of(got);
    for (std::size_t i = 0; i < size; ++i) wrong[i] = is_within_bound(want[i], values[i], errors) ? 0 : 1;
    return wrong;
  }
  const Tensor& want = derived.reference.tensor;
  const std::int64_t bits = bits_per_element(got.dtype());
  if (want.dtype() != got.dtype() || want.shape() != got.shape() || bits < 8) return wrong;
  const auto bytes = static_cast<std::size_t>(bits / 8);
  wrong.resize(size);
  for (std::size_t i = 0; i < size; ++i)
    wrong[i] =
        std::memcmp(got.bytes().data() + i * bytes, want.bytes().data() + i * bytes, bytes) == 0 ? 0 : 1;
  return wrong;
}

}  // namespace driftscope
