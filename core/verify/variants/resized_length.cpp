// Resize with align_corners and scales: ONNX's cases take the resized length as it is (2.8 of 4 × 0.7), ONNX
// Runtime the whole number of elements that are made (2), which moves all elements but the first.
// Compiled for size on the web (cmake/core.cmake).
#include <cmath>
#include <limits>

#include "core/graph/attributes.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::resized_length {
namespace {

constexpr std::size_t scales_place = 2;

/// Scales whose product with a length is the length that is made.
std::optional<Tensor> whole_scales(const Tensor& scales, const Shape& x, const Shape& y) {
  if (scales.dtype() != DType::float32) return std::nullopt;
  const auto given = scales.values<float>();
  if (given.size() != x.size()) return std::nullopt;  // with `axes` there are fewer
  auto whole = Tensor::make(DType::float32, scales.shape());
  if (!whole.ok()) return std::nullopt;
  const auto values = whole->mutable_values<float>();
  bool changed = false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto length = static_cast<double>(x[i]);
    values[i] = static_cast<float>(static_cast<double>(y[i]) / length);
    // Rounded, the product may fall below the whole number.
    if (static_cast<double>(values[i]) * length < static_cast<double>(y[i]))
      values[i] = std::nextafter(values[i], std::numeric_limits<float>::infinity());
    changed = changed || values[i] != given[i];
  }
  return changed ? std::optional(*std::move(whole)) : std::nullopt;
}

std::vector<Candidate> candidates(const LayerCase& layer) {
  const auto mode = string_attribute(layer.node(), "coordinate_transformation_mode", "half_pixel");
  const DerivationInputs* const inputs = layer.known_inputs();
  if (!mode.ok() || *mode != "align_corners" || inputs == nullptr || inputs->tensors.size() <= scales_place)
    return {};
  const Tensor& scales = inputs->tensors[scales_place];
  if (scales.elements() == 0) return {};
  const auto x = layer.derivation.known_shape(layer.node().inputs[0]);
  if (!x || x->size() != layer.got.shape().size()) return {};
  auto whole = whole_scales(scales, *x, layer.got.shape());
  if (!whole) return {};
  Candidate candidate;
  candidate.inputs.push_back(other_input(scales_place, *std::move(whole)));
  return {std::move(candidate)};
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.kind = VariantKind::faulty,
             .family = "attribute",
             .id = "resized_length",
             .name = "align_corners with the resized length rounded down",
             .operators = {"Resize"},
             .order = 9,  // before other coordinates, which may choose the same elements
             .candidates = candidates});
}

}  // namespace driftscope::variants::resized_length
