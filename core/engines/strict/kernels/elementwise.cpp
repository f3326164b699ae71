// Elementwise operators on simd/elementwise: Relu, Sigmoid, Tanh, Erf, Gelu, Swish, SwiGLU, Clip; Add, Sub,
// Mul, Div with the broadcasts that networks have: equal shapes, one number, one number per channel (a run of
// equal length for each element of the smaller input).
#include <algorithm>
#include <limits>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/simd/elementwise.hpp"
#include "core/graph/attributes.hpp"
#include "core/model/element.hpp"
#include "core/ops/shared/broadcast.hpp"

namespace driftscope::strict::elementwise {

constexpr std::int64_t grain = 16384;  // elements worth a separate task

Result<std::vector<Tensor>> one(Tensor tensor) {
  std::vector<Tensor> outputs;
  outputs.push_back(std::move(tensor));
  return outputs;
}

class UnaryKernel final : public StrictKernel {
 public:
  UnaryKernel(const StrictSite& site, ElementwiseKernels::Unary function)
      : site_(site), function_(function) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, inputs[0]->shape(), "output Y"));
    const float* x = inputs[0]->values<float>().data();
    float* out = y.mutable_values<float>().data();
    site_.threads.parallel_for(y.elements(), grain, [&](std::int64_t begin, std::int64_t end) {
      function_(x + begin, out + begin, static_cast<std::size_t>(end - begin));
    });
    return one(std::move(y));
  }

 private:
  StrictSite site_;
  ElementwiseKernels::Unary function_;
};

template <ElementwiseKernels::Unary ElementwiseKernels::* member>
std::unique_ptr<StrictKernel> prepare_unary(const StrictSite& site) {
  if (!site.all_float32()) return nullptr;
  return std::make_unique<UnaryKernel>(site, elementwise_kernels(site.simd).*member);
}

std::unique_ptr<StrictKernel> prepare_gelu(const StrictSite& site) {
  const auto form = string_attribute(site.node, "approximate", "none");
  if (form.ok() && *form == "none") return prepare_unary<&ElementwiseKernels::gelu>(site);
  if (form.ok() && *form == "tanh") return prepare_unary<&ElementwiseKernels::gelu_tanh>(site);
  return nullptr;
}

// x · σ(alpha · x), times input 1 where there is one: Swish, QuickGelu, SwiGLU.
class SwishKernel final : public StrictKernel {
 public:
  SwishKernel(const StrictSite& site, float alpha)
      : site_(site), kernels_(elementwise_kernels(site.simd)), alpha_(alpha) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, inputs[0]->shape(), "output Y"));
    const float* x = inputs[0]->values<float>().data();
    const float* factor = site_.has_input(1) ? inputs[1]->values<float>().data() : nullptr;
    float* out = y.mutable_values<float>().data();
    site_.threads.parallel_for(y.elements(), grain, [&](std::int64_t begin, std::int64_t end) {
      const auto count = static_cast<std::size_t>(end - begin);
      float* to = out + begin;
      kernels_.mul_scalar(x + begin, alpha_, to, count);
      kernels_.sigmoid(to, to, count);
      kernels_.mul(x + begin, to, to, count);
      if (factor != nullptr) kernels_.mul(to, factor + begin, to, count);
    });
    return one(std::move(y));
  }

 private:
  StrictSite site_;
  ElementwiseKernels kernels_;
  float alpha_;
};

std::unique_ptr<StrictKernel> prepare_swish(const StrictSite& site) {
  const auto alpha = float_attribute(site.node, "alpha", site.node.domain.empty() ? 1.0f : 1.702f);
  if (!alpha.ok() || !site.all_float32()) return nullptr;
  if (site.has_input(1) && *site.shape(1) != *site.shape(0)) return nullptr;
  return std::make_unique<SwishKernel>(site, *alpha);
}

// The limits are read at each run: attributes until opset 10, then inputs that may be computed.
class ClipKernel final : public StrictKernel {
 public:
  ClipKernel(const StrictSite& site, float low, float high)
      : site_(site), clip_(elementwise_kernels(site.simd).clip), low_(low), high_(high) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, inputs[0]->shape(), "output Y"));
    const auto limit = [&](std::size_t i, float otherwise) {
      return site_.has_input(i) ? inputs[i]->values<float>()[0] : otherwise;
    };
    const float low = limit(1, low_);
    const float high = limit(2, high_);
    const float* x = inputs[0]->values<float>().data();
    float* out = y.mutable_values<float>().data();
    site_.threads.parallel_for(y.elements(), grain, [&](std::int64_t begin, std::int64_t end) {
      clip_(x + begin, low, high, out + begin, static_cast<std::size_t>(end - begin));
    });
    return one(std::move(y));
  }

 private:
  StrictSite site_;
  ElementwiseKernels::WithTwo clip_;
  float low_;
  float high_;
};

std::unique_ptr<StrictKernel> prepare_clip(const StrictSite& site) {
  if (!site.all_float32()) return nullptr;
  float lowest = std::numeric_limits<float>::lowest();
  float largest = std::numeric_limits<float>::max();
  if (site.node.opset >= 11) {
    visit_floating(site.stored, [&]<class E>() {
      lowest = static_cast<float>(E::lowest);
      largest = static_cast<float>(E::largest);
    });
    return std::make_unique<ClipKernel>(site, lowest, largest);
  }
  const auto low = float_attribute(site.node, "min", lowest);
  const auto high = float_attribute(site.node, "max", largest);
  if (!low.ok() || !high.ok()) return nullptr;
  return std::make_unique<ClipKernel>(site, *low, *high);
}

// The larger input has the shape of the output. The smaller one is a block of `repeat` elements
// that is repeated; each element applies to `run` adjacent ones of the larger.
struct Broadcast {
  bool small_first = false;  // the smaller input is the left one
  std::int64_t repeat = 1;
  std::int64_t run = 1;
};

// [repeat…] with ones before and after: 1×C×1×1 against N×C×H×W has repeat C and run H·W.
std::optional<Broadcast> find_broadcast(const Shape& a, const Shape& b, const Shape& y) {
  const bool a_large = element_count(a) == element_count(y);
  if (!a_large && element_count(b) != element_count(y)) return std::nullopt;
  const Shape& small = a_large ? b : a;
  Broadcast found{.small_first = !a_large, .repeat = 1, .run = 1};
  // From the last axis: ones, then equal sizes, then ones again.
  std::size_t axis = 0;
  const auto small_size = [&](std::size_t i) { return i < small.size() ? small[small.size() - 1 - i] : 1; };
  const auto y_size = [&](std::size_t i) { return y[y.size() - 1 - i]; };
  for (; axis < y.size() && small_size(axis) == 1; ++axis) found.run *= y_size(axis);
  for (; axis < y.size() && small_size(axis) == y_size(axis); ++axis) found.repeat *= y_size(axis);
  for (; axis < y.size(); ++axis)
    if (small_size(axis) != 1) return std::nullopt;
  return found;
}

struct BinaryFunctions {
  ElementwiseKernels::Binary vectors;
  ElementwiseKernels::WithScalar scalar;
};

class BinaryKernel final : public StrictKernel {
 public:
  BinaryKernel(const StrictSite& site, BinaryFunctions functions, Broadcast broadcast)
      : site_(site), functions_(functions), broadcast_(broadcast), y_shape_(*site.output_shape()) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    DRIFTSCOPE_TRY(Tensor y, Tensor::make(DType::float32, y_shape_, "output C"));
    const float* a = inputs[0]->values<float>().data();
    const float* b = inputs[1]->values<float>().data();
    float* out = y.mutable_values<float>().data();
    if (broadcast_.run == 1)
      by_blocks(a, b, out, y.elements());
    else
      by_runs(broadcast_.small_first ? b : a, broadcast_.small_first ? a : b, out, y.elements());
    return one(std::move(y));
  }

 private:
  // Both are vectors: equal shapes are one block.
  void by_blocks(const float* a, const float* b, float* y, std::int64_t elements) const {
    const std::int64_t size = broadcast_.repeat;
    const std::int64_t blocks = elements / std::max<std::int64_t>(1, size);
    const std::int64_t a_step = broadcast_.small_first ? 0 : size;
    const std::int64_t b_step = broadcast_.small_first ? size : 0;
    if (blocks == 1) {
      site_.threads.parallel_for(elements, grain, [&](std::int64_t begin, std::int64_t end) {
        functions_.vectors(a + begin, b + begin, y + begin, static_cast<std::size_t>(end - begin));
      });
      return;
    }
    site_.threads.parallel_for(blocks, std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, size)),
                               [&](std::int64_t begin, std::int64_t end) {
                                 for (std::int64_t i = begin; i < end; ++i)
                                   functions_.vectors(a + i * a_step, b + i * b_step, y + i * size,
                                                      static_cast<std::size_t>(size));
                               });
  }

  // One number of `small` beside `run` elements of `large`.
  void by_runs(const float* large, const float* small, float* y, std::int64_t elements) const {
    const std::int64_t run = broadcast_.run;
    if (broadcast_.repeat == 1) {
      site_.threads.parallel_for(elements, grain, [&](std::int64_t begin, std::int64_t end) {
        functions_.scalar(large + begin, *small, y + begin, static_cast<std::size_t>(end - begin));
      });
      return;
    }
    site_.threads.parallel_for(elements / run, std::max<std::int64_t>(1, grain / run),
                               [&](std::int64_t begin, std::int64_t end) {
                                 for (std::int64_t i = begin; i < end; ++i)
                                   functions_.scalar(large + i * run, small[i % broadcast_.repeat],
                                                     y + i * run, static_cast<std::size_t>(run));
                               });
  }

  StrictSite site_;
  BinaryFunctions functions_;
  Broadcast broadcast_;
  Shape y_shape_;
};

// `commutes`: a number on the left can be moved to the right.
template <ElementwiseKernels::Binary ElementwiseKernels::* vectors,
          ElementwiseKernels::WithScalar ElementwiseKernels::* scalar, bool commutes>
std::unique_ptr<StrictKernel> prepare_binary(const StrictSite& site) {
  if (!site.all_float32() || element_count(*site.output_shape()) == 0) return nullptr;
  const auto broadcast = find_broadcast(*site.shape(0), *site.shape(1), *site.output_shape());
  if (!broadcast || (broadcast->small_first && broadcast->run > 1 && !commutes)) return nullptr;
  const ElementwiseKernels kernels = elementwise_kernels(site.simd);
  return std::make_unique<BinaryKernel>(site, BinaryFunctions{kernels.*vectors, kernels.*scalar}, *broadcast);
}

void add_to(StrictKernelTable& table) {
  using K = ElementwiseKernels;
  table.add("Relu", prepare_unary<&K::relu>);
  table.add("Sigmoid", prepare_unary<&K::sigmoid>);
  table.add("Tanh", prepare_unary<&K::tanh>);
  table.add("Erf", prepare_unary<&K::erf>);
  table.add("Gelu", prepare_gelu);
  table.add("com.microsoft.Gelu", prepare_unary<&K::gelu>);
  table.add("com.microsoft.QuickGelu", prepare_swish);
  table.add("Swish", prepare_swish);
  table.add("SwiGLU", prepare_swish);
  table.add("Clip", prepare_clip);
  table.add("Add", prepare_binary<&K::add, &K::add_scalar, true>);
  table.add("Sub", prepare_binary<&K::sub, &K::sub_scalar, false>);
  table.add("Mul", prepare_binary<&K::mul, &K::mul_scalar, true>);
  table.add("Div", prepare_binary<&K::div, &K::div_scalar, false>);
}

}  // namespace driftscope::strict::elementwise
