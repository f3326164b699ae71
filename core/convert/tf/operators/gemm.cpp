// Gemm: MatMul, with a bias for each column _FusedMatMul. Constant weights are held as [inputs, outputs], or
// as [outputs, inputs] where the format has FullyConnected.
#include <fmt/format.h>

#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::gemm {
namespace {

class Gemm {
 public:
  Gemm(Lowering& lowering, const OnnxNode& node) : lowering_(lowering), node_(node) {}

  Status run() {
    if (lowering_.dtype(node_.outputs[0]) != DType::float32)
      return unsupported(
          fmt::format("Gemm of {} has no equivalent", dtype_name(lowering_.dtype(node_.outputs[0]))));
    DRIFTSCOPE_TRY(alpha_, float_attribute(node_, "alpha", 1.0f));
    DRIFTSCOPE_TRY(beta_, float_attribute(node_, "beta", 1.0f));
    DRIFTSCOPE_TRY(trans_a_, flag_attribute(node_, "transA", false));
    DRIFTSCOPE_TRY(trans_b_, flag_attribute(node_, "transB", false));
    DRIFTSCOPE_TRY(std::string a, lowering_.read(node_.inputs[0]));
    const Shape y = lowering_.shape(node_.outputs[0]);
    const bool has_c = Lowering::has_input(node_, 2) && beta_ != 0.0f;
    const bool plain_c = has_c && alpha_ == 1.0f && beta_ == 1.0f && is_row(node_.inputs[2], y[1]);
    const bool constant_b = lowering_.constant(node_.inputs[1]) != nullptr;
    if (constant_b && alpha_ == 1.0f && lowering_.dialect().fully_connected && (!has_c || plain_c))
      return fully_connected(std::move(a), has_c);
    // A constant is held as the product reads it.
    DRIFTSCOPE_TRY(const std::string b, constant_b&& trans_b_ ? lowering_.read(node_.inputs[1], {1, 0})
                                                              : lowering_.read(node_.inputs[1]));
    Attributes attributes = {{"transpose_a", trans_a_}, {"transpose_b", trans_b_ && !constant_b}};
    if (!has_c && alpha_ == 1.0f)
      return lowering_.give(node_.outputs[0], "MatMul", {a, b}, std::move(attributes));
    if (plain_c && lowering_.has("_FusedMatMul")) {
      DRIFTSCOPE_TRY(const std::string c, row(y[1]));
      attributes["fused_ops"] = std::vector<std::string>{"BiasAdd"};
      attributes["num_args"] = std::int64_t{1};
      return lowering_.give(node_.outputs[0], "_FusedMatMul", {a, b, c}, std::move(attributes));
    }
    std::string product =
        lowering_.make("product", "MatMul", {a, b}, std::move(attributes), {DType::float32, y, {}});
    if (alpha_ != 1.0f) {
      DRIFTSCOPE_TRY(const std::string alpha,
                     lowering_.scalar(static_cast<double>(alpha_), DType::float32, "alpha"));
      if (!has_c) return lowering_.give(node_.outputs[0], "Mul", {product, alpha});
      product = lowering_.elementwise("scaled", "Mul", {product, alpha});
    }
    DRIFTSCOPE_TRY(std::string c, lowering_.read(node_.inputs[2]));
    if (beta_ != 1.0f) {
      DRIFTSCOPE_TRY(const std::string beta,
                     lowering_.scalar(static_cast<double>(beta_), DType::float32, "beta"));
      c = lowering_.elementwise("scaled_c", "Mul", {c, beta});
    }
    return lowering_.give(node_.outputs[0], "AddV2", {product, c});
  }

 private:
  // A computed bias must itself have one axis: TensorFlow.js's WebAssembly backend looks at the shape that
  // the data had before a Reshape.
  [[nodiscard]] bool is_row(ValueId id, std::int64_t columns) const {
    const Shape shape = lowering_.shape(id);
    return element_count(shape) == columns && !shape.empty() && shape.back() == columns &&
           (shape.size() == 1 || lowering_.constant(id) != nullptr);
  }

  Result<std::string> row(std::int64_t columns) {
    const ValueId id = node_.inputs[2];
    const Tensor* const known = lowering_.constant(id);
    if (known == nullptr || known->shape().size() == 1) return lowering_.read(id);
    DRIFTSCOPE_TRY(Tensor flat, known->reshaped({columns}));
    return lowering_.weights(id, flat);
  }

  Status fully_connected(std::string a, bool has_c) {
    if (trans_a_) {
      DRIFTSCOPE_TRY(a, lowering_.read(node_.inputs[0], {1, 0}));
    }
    DRIFTSCOPE_TRY(const std::string b,
                   trans_b_ ? lowering_.read(node_.inputs[1]) : lowering_.read(node_.inputs[1], {1, 0}));
    Inputs inputs = {a, b};
    if (has_c) {
      DRIFTSCOPE_TRY(std::string c, row(lowering_.shape(node_.outputs[0])[1]));
      inputs.push_back(std::move(c));
    }
    return lowering_.give(node_.outputs[0], "FullyConnected", std::move(inputs));
  }

  Lowering& lowering_;
  const OnnxNode& node_;
  float alpha_ = 1.0f;
  float beta_ = 1.0f;
  bool trans_a_ = false;
  bool trans_b_ = false;
};

Status lower(Lowering& lowering, const OnnxNode& node) { return Gemm(lowering, node).run(); }

}  // namespace

void add_to(OperatorTable& table) { table.add("Gemm", lower); }

}  // namespace driftscope::tf::operators::gemm
