#include "tests/unit/verify/imitation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/eval/evaluate.hpp"

namespace driftscope::test {
namespace {

using Ints = std::vector<std::int64_t>;

Ints ints_of(const Node& node, std::string_view name, Ints otherwise) {
  const Attribute* attribute = node.attribute(name);
  if (attribute == nullptr) return otherwise;
  return std::get<Ints>(attribute->value);
}

std::int64_t int_of(const Node& node, std::string_view name, std::int64_t otherwise) {
  const Attribute* attribute = node.attribute(name);
  return attribute == nullptr ? otherwise : std::get<std::int64_t>(attribute->value);
}

float float_of(const Node& node, std::string_view name, float otherwise) {
  const Attribute* attribute = node.attribute(name);
  return attribute == nullptr ? otherwise : std::get<float>(attribute->value);
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Two spatial axes with all parameters that decide which input a tap reads.
struct Window {
  Ints kernel, stride, dilation, begin, output;

  Window(const Node& node, const Shape& x, const Shape& y, Ints kernel_shape)
      : kernel(std::move(kernel_shape)),
        stride(ints_of(node, "strides", {1, 1})),
        dilation(ints_of(node, "dilations", {1, 1})),
        begin(ints_of(node, "pads", {0, 0, 0, 0})),
        output({y[2], y[3]}) {
    const Attribute* auto_pad = node.attribute("auto_pad");
    if (auto_pad == nullptr || std::get<std::string>(auto_pad->value) == "NOTSET") return;
    const bool lower = std::get<std::string>(auto_pad->value) == "SAME_LOWER";
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t reach = (kernel[i] - 1) * dilation[i] + 1;
      const std::int64_t total = std::max<std::int64_t>(0, (output[i] - 1) * stride[i] + reach - x[i + 2]);
      begin[i] = lower ? (total + 1) / 2 : total / 2;
    }
  }

  // Calls body(kernel index, input index) for the taps of output (row, column) inside the input.
  template <class Body>
  void taps(const Shape& x, std::int64_t row, std::int64_t column, const Body& body) const {
    for (std::int64_t i = 0; i < kernel[0]; ++i)
      for (std::int64_t j = 0; j < kernel[1]; ++j) {
        const std::int64_t h = row * stride[0] - begin[0] + i * dilation[0];
        const std::int64_t w = column * stride[1] - begin[1] + j * dilation[1];
        if (h >= 0 && h < x[2] && w >= 0 && w < x[3]) body(i * kernel[1] + j, h * x[3] + w);
      }
  }
};

void conv(const Node& node, std::span<const Tensor* const> inputs, Tensor& y, const Arithmetic& arithmetic) {
  const Shape& xs = inputs[0]->shape();
  const Shape& ws = inputs[1]->shape();
  const Window window(node, xs, y.shape(), {ws[2], ws[3]});
  const auto x = inputs[0]->values<float>();
  const auto w = inputs[1]->values<float>();
  const bool has_bias = inputs.size() > 2 && inputs[2] != nullptr;
  const std::int64_t group_outputs = ws[0] / int_of(node, "group", 1);
  const auto out = y.mutable_values<float>();
  std::vector<float> a, b;
  std::size_t next = 0;
  for (std::int64_t n = 0; n < xs[0]; ++n)
    for (std::int64_t o = 0; o < ws[0]; ++o)
      for (std::int64_t row = 0; row < y.shape()[2]; ++row)
        for (std::int64_t column = 0; column < y.shape()[3]; ++column) {
          a.clear();
          b.clear();
          for (std::int64_t c = 0; c < ws[1]; ++c) {
            const std::int64_t plane = (n * xs[1] + o / group_outputs * ws[1] + c) * xs[2] * xs[3];
            window.taps(xs, row, column, [&](std::int64_t k, std::int64_t position) {
              a.push_back(x[at(plane + position)]);
              b.push_back(w[at((o * ws[1] + c) * ws[2] * ws[3] + k)]);
            });
          }
          out[next++] = arithmetic.dot(a, b, has_bias ? inputs[2]->values<float>()[at(o)] : 0.0f);
        }
}

void matrix_product(const Node& node, std::span<const Tensor* const> inputs, Tensor& y,
                    const Arithmetic& arithmetic) {
  const bool transposed = int_of(node, "transB", 0) != 0;
  const std::int64_t rows = y.shape()[0];
  const std::int64_t columns = y.shape()[1];
  const std::int64_t depth = inputs[0]->shape()[1];
  const auto left = inputs[0]->values<float>();
  const auto right = inputs[1]->values<float>();
  const bool has_bias = inputs.size() > 2 && inputs[2] != nullptr;
  std::vector<float> b(at(depth));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t k = 0; k < depth; ++k)
        b[at(k)] = right[at(transposed ? j * depth + k : k * columns + j)];
      y.mutable_values<float>()[at(i * columns + j)] = arithmetic.dot(
          left.subspan(at(i * depth), at(depth)), b, has_bias ? inputs[2]->values<float>()[at(j)] : 0.0f);
    }
}

float mean(std::span<const float> terms, float count, const Arithmetic& arithmetic) {
  const float sum = arithmetic.sum(terms);
  return arithmetic.reciprocal_mean ? sum * (1.0f / count) : sum / count;
}

void average_pool(const Node& node, std::span<const Tensor* const> inputs, Tensor& y,
                  const Arithmetic& arithmetic) {
  const Shape& xs = inputs[0]->shape();
  const bool global = node.op_type == "GlobalAveragePool";
  // As long as ceil_mode adds no window beyond the padding, the whole kernel counts.
  const bool include_pad = int_of(node, "count_include_pad", 0) != 0;
  const Window window(node, xs, y.shape(), global ? Ints{xs[2], xs[3]} : ints_of(node, "kernel_shape", {}));
  const auto x = inputs[0]->values<float>();
  std::vector<float> terms;
  std::size_t next = 0;
  for (std::int64_t plane = 0; plane < xs[0] * xs[1]; ++plane)
    for (std::int64_t row = 0; row < y.shape()[2]; ++row)
      for (std::int64_t column = 0; column < y.shape()[3]; ++column) {
        terms.clear();
        window.taps(xs, row, column, [&](std::int64_t, std::int64_t position) {
          terms.push_back(x[at(plane * xs[2] * xs[3] + position)]);
        });
        const std::int64_t count =
            include_pad ? window.kernel[0] * window.kernel[1] : static_cast<std::int64_t>(terms.size());
        y.mutable_values<float>()[next++] = mean(terms, static_cast<float>(count), arithmetic);
      }
}

void batch_norm(const Node& node, std::span<const Tensor* const> inputs, Tensor& y,
                const Arithmetic& arithmetic) {
  const Shape& xs = inputs[0]->shape();
  const auto x = inputs[0]->values<float>();
  const float epsilon = float_of(node, "epsilon", 1e-5f);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto c = i / at(xs[2] * xs[3]) % at(xs[1]);
    const auto of = [&](std::size_t input) { return inputs[input]->values<float>()[c]; };
    const float inverse = 1.0f / std::sqrt(of(4) + epsilon);
    const float a = of(1) * inverse;
    const float b = of(2) - of(3) * a;
    y.mutable_values<float>()[i] =
        arithmetic.folded_norm ? x[i] * a + b : (x[i] - of(3)) * inverse * of(1) + of(2);
  }
}

}  // namespace

Imitation::Imitation(const Graph& graph, Arithmetic arithmetic)
    : graph_(graph), arithmetic_(std::move(arithmetic)) {}

std::vector<Tensor> Imitation::compute(const Node& node, std::span<const Tensor* const> inputs) const {
  ThreadPool threads(1);
  auto outputs = evaluate_strict(node, inputs, threads);
  REQUIRE_MESSAGE(outputs.ok(), outputs.error().message);
  const auto special = special_.find(node.name);
  const Arithmetic& arithmetic = special == special_.end() ? arithmetic_ : special->second;
  Tensor& y = outputs->front();
  if (node.op_type == "Conv") conv(node, inputs, y, arithmetic);
  if (node.op_type == "Gemm" || node.op_type == "MatMul") matrix_product(node, inputs, y, arithmetic);
  if (node.op_type == "AveragePool" || node.op_type == "GlobalAveragePool")
    average_pool(node, inputs, y, arithmetic);
  if (node.op_type == "BatchNormalization") batch_norm(node, inputs, y, arithmetic);
  return *std::move(outputs);
}

Trace Imitation::run(const std::vector<NamedTensor>& inputs) const {
  std::vector<std::optional<Tensor>> values(graph_.values.size());
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    values[id] = graph_.values[id].constant;
    for (const NamedTensor& input : inputs)
      if (input.name == graph_.values[id].name) values[id] = input.tensor;
  }
  Trace trace;
  const auto record = [&](ValueId id) {
    const std::string& name = graph_.values[id].name;
    if (std::find(hidden_.begin(), hidden_.end(), name) == hidden_.end())
      trace.tensors.push_back({name, *values[id]});
  };
  for (const ValueId id : graph_.inputs) record(id);
  for (const Node& node : graph_.nodes) {
    std::vector<const Tensor*> operands;
    for (const ValueId id : node.reads()) operands.push_back(id == no_value ? nullptr : &*values[id]);
    std::vector<Tensor> outputs = compute(node, operands);
    if (const auto fault = faults_.find(node.name); fault != faults_.end())
      fault->second(*this, node, operands, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (node.outputs[i] != no_value) {
        values[node.outputs[i]] = outputs[i];
        record(node.outputs[i]);
      }
  }
  return trace;
}

}  // namespace driftscope::test
