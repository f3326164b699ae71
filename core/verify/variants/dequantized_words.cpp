// DequantizeLinear of packed bytes as shaders read them: differences to the zero point in unsigned 32 bits,
// which are near 2³² where they should be negative (onnxruntime#32578), and four results from each word of
// which only every fourth is read (onnxruntime#32579).
// Compiled for size on the web (cmake/core.cmake).
#include "core/model/tensor_elements.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::dequantized_words {
namespace {

constexpr std::int64_t word = 4;  // bytes

/// Differences as float32, of which the node makes products with the scale.
std::optional<Tensor> differences(const Tensor& x, const Tensor* zero_point, bool is_unsigned, bool words) {
  auto made = Tensor::make(DType::float32, x.shape());
  if (!made.ok()) return std::nullopt;
  const auto values = made->mutable_values<float>();
  const double zero = zero_point == nullptr ? 0.0 : number_at(*zero_point, 0);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::int64_t from = words ? i / (word * word) * word + i % word : i;
    const double difference = number_at(x, static_cast<std::size_t>(from)) - zero;
    values[static_cast<std::size_t>(i)] =
        static_cast<float>(is_unsigned && difference < 0.0 ? difference + 0x1p32 : difference);
  }
  return *std::move(made);
}

std::vector<Candidate> candidates(const LayerCase& layer) {
  const DerivationInputs* const inputs = layer.known_inputs();
  if (inputs == nullptr || inputs->tensors.size() < 2) return {};
  const Tensor& x = inputs->tensors[0];
  const Tensor& scale = inputs->tensors[1];
  if ((x.dtype() != DType::uint8 && x.dtype() != DType::int8) || scale.dtype() != DType::float32 ||
      scale.elements() != 1 || !scale.shape().empty() || layer.got.dtype() != DType::float32)
    return {};
  const Tensor* zero_point = inputs->tensors.size() > 2 && inputs->tensors[2].dtype() == x.dtype() &&
                                     inputs->tensors[2].elements() == 1
                                 ? &inputs->tensors[2]
                                 : nullptr;
  Node product = layer.node();
  product.op_type = "Mul";
  product.opset = 14;
  product.inputs.resize(2);
  product.attributes.edit().clear();
  std::vector<Candidate> list;
  const auto add = [&](bool is_unsigned, bool words, const char* detail) {
    list.push_back({.node = product,
                    .inputs = {{0, [&x, zero_point, is_unsigned,
                                    words] { return differences(x, zero_point, is_unsigned, words); }}},
                    .detail = detail});
  };
  const bool may_wrap = x.dtype() == DType::uint8 && zero_point != nullptr;
  if (may_wrap) add(true, false, "(differences to the zero point without sign)");
  add(false, true, "(only every fourth word read)");
  if (may_wrap) add(true, true, "(differences to the zero point without sign, only every fourth word read)");
  return list;
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.kind = VariantKind::faulty,
             .family = "input",
             .id = "dequantized_words",
             .name = "packed bytes read otherwise",
             .operators = {"DequantizeLinear"},
             .order = 8,
             .candidates = candidates});
}

}  // namespace driftscope::variants::dequantized_words
