// Slice that begins at another place: with a negative step at the last element of its axis, whatever `starts`
// says (ONNX Runtime Web 1.30 on WebGPU), or at the first one.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>

#include "core/model/tensor_elements.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::slice_start {
namespace {

/// The inputs of Slice.
enum Place : std::size_t { data, starts, ends, axes, steps };

struct Cut {
  std::size_t axis = 0;
  std::int64_t start = 0;
  std::int64_t step = 1;
};

std::vector<std::int64_t> whole_numbers(const Tensor& tensor) {
  std::vector<std::int64_t> values;
  for (const double x : numbers_of(tensor)) values.push_back(static_cast<std::int64_t>(x));
  return values;
}

std::optional<Tensor> tensor_like(const Tensor& like, const std::vector<std::int64_t>& values) {
  auto made = Tensor::make(like.dtype(), like.shape());
  if (!made.ok() || made->elements() != std::ssize(values)) return std::nullopt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (like.dtype() == DType::int64)
      made->mutable_values<std::int64_t>()[i] = values[i];
    else if (like.dtype() == DType::int32)
      made->mutable_values<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
    else
      return std::nullopt;
  }
  return *std::move(made);
}

/// As many elements as before, from other starts.
std::optional<Candidate> from(const DerivationInputs& inputs, const std::vector<Cut>& cuts, const Shape& x,
                              const Shape& y, std::string detail) {
  std::vector<std::int64_t> first, behind;
  for (const Cut& cut : cuts) {
    const std::int64_t end = cut.start + cut.step * y[cut.axis];
    if (cut.start + cut.step * (y[cut.axis] - 1) < 0 || cut.start >= x[cut.axis]) return std::nullopt;
    first.push_back(cut.start);
    behind.push_back(end < 0 ? -x[cut.axis] - 1 : end);
  }
  auto other_starts = tensor_like(inputs.tensors[starts], first);
  auto other_ends = tensor_like(inputs.tensors[ends], behind);
  if (!other_starts || !other_ends) return std::nullopt;
  Candidate candidate;
  candidate.inputs = {other_input(starts, *std::move(other_starts)),
                      other_input(ends, *std::move(other_ends))};
  candidate.detail = std::move(detail);
  return candidate;
}

std::vector<Candidate> candidates(const LayerCase& layer) {
  const DerivationInputs* const inputs = layer.known_inputs();
  const auto x = layer.derivation.known_shape(layer.node().inputs[data]);
  const Shape& y = layer.got.shape();
  if (inputs == nullptr || inputs->tensors.size() <= ends || !x || x->size() != y.size()) return {};
  const std::vector<std::int64_t> given = whole_numbers(inputs->tensors[starts]);
  const auto optional = [&](Place place) {
    const bool is_there =
        inputs->tensors.size() > place && inputs->tensors[place].dtype() != DType::undefined;
    return is_there ? whole_numbers(inputs->tensors[place]) : std::vector<std::int64_t>();
  };
  const std::vector<std::int64_t> along = optional(axes), step = optional(steps);
  const auto rank = static_cast<std::int64_t>(y.size());
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::int64_t axis = i < along.size() ? along[i] : static_cast<std::int64_t>(i);
    if (axis < -rank || axis >= rank) return {};
    Cut cut{.axis = static_cast<std::size_t>(axis < 0 ? axis + rank : axis),
            .start = given[i],
            .step = i < step.size() ? step[i] : 1};
    if (cut.start < 0) cut.start += (*x)[cut.axis];
    cut.start = std::min(std::max<std::int64_t>(cut.start, 0), (*x)[cut.axis] - (cut.step < 0 ? 1 : 0));
    cuts.push_back(cut);
  }
  std::vector<Candidate> list;
  const auto add = [&](bool negative, std::string detail) {
    std::vector<Cut> moved = cuts;
    bool changed = false;
    for (Cut& cut : moved) {
      if ((cut.step < 0) != negative) continue;
      const std::int64_t start = negative ? (*x)[cut.axis] - 1 : 0;
      changed = changed || start != cut.start;
      cut.start = start;
    }
    if (!changed) return;
    if (auto candidate = from(*inputs, moved, *x, y, std::move(detail)))
      list.push_back(*std::move(candidate));
  };
  add(true, "(with a negative step from the last element)");
  add(false, "(from the first element)");
  return list;
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.kind = VariantKind::faulty,
             .family = "attribute",
             .id = "slice_start",
             .name = "starts ignored",
             .operators = {"Slice"},
             .order = 10,
             .candidates = candidates});
}

}  // namespace driftscope::variants::slice_start
