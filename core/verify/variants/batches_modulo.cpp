// Products of many matrices, of which one input has fewer: matrix i of the result made from matrix i modulo
// their number, whatever axes they lie along (TensorFlow.js 4.22, all backends).
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <cstring>

#include "core/verify/variant.hpp"

namespace driftscope::variants::batches_modulo {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{64} << 20;

/// With a matrix of its own for each of the result; nothing where it is too large.
std::optional<Tensor> repeated(const Tensor& tensor, const Shape& batches) {
  Shape shape = batches;
  shape.insert(shape.end(), tensor.shape().end() - 2, tensor.shape().end());
  const auto size = tensor_byte_size(tensor.dtype(), shape);
  if (!size.ok() || *size > most_bytes || bits_per_element(tensor.dtype()) < 8) return std::nullopt;
  auto made = Tensor::make(tensor.dtype(), std::move(shape));
  if (!made.ok()) return std::nullopt;
  const auto from = tensor.bytes();
  const auto to = made->mutable_bytes();
  for (std::size_t at = 0; at < to.size(); at += from.size())
    std::memcpy(to.data() + at, from.data(), std::min(from.size(), to.size() - at));
  return *std::move(made);
}

/// Whether that is not what broadcasting does: an axis of 1 behind a longer one.
bool differs(const Shape& own, const Shape& batches) {
  bool longer = false;
  for (std::size_t i = 0; i + 2 < own.size(); ++i) {
    const std::int64_t wanted = batches[batches.size() - (own.size() - 2) + i];
    if (longer && own[i] == 1 && wanted > 1) return true;
    longer = longer || own[i] > 1;
  }
  return false;
}

std::vector<Candidate> candidates(const LayerCase& layer) {
  const DerivationInputs* const inputs = layer.known_inputs();
  if (inputs == nullptr || inputs->tensors.size() < 2 || layer.got.shape().size() < 4) return {};
  const Shape batches(layer.got.shape().begin(), layer.got.shape().end() - 2);
  Candidate candidate;
  for (std::size_t place = 0; place < 2; ++place) {
    const Tensor& tensor = inputs->tensors[place];
    if (tensor.shape().size() < 2 || tensor.shape().size() > layer.got.shape().size() ||
        tensor.elements() == 0)
      return {};
    if (differs(tensor.shape(), batches))
      candidate.inputs.push_back({place, [&tensor, batches] { return repeated(tensor, batches); }});
  }
  if (candidate.inputs.empty()) return {};
  return {std::move(candidate)};
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.kind = VariantKind::faulty,
             .family = "input",
             .id = "batches_modulo",
             .name = "matrices of an input counted modulo their number",
             .operators = {"MatMul"},
             .order = 7,
             .candidates = candidates});
}

}  // namespace driftscope::variants::batches_modulo
