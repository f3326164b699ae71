#include "core/bench/product_count.hpp"

#include <array>
#include <string_view>

#include "core/graph/attributes.hpp"

namespace driftscope {
namespace {

struct Rule {
  std::string_view op_type;
  std::optional<double> (*multiply_adds)(const Graph& graph, const Node& node);
};

// In double: sizes that fit into memory may have products that do not fit into 64 bits.
double elements(const Shape& shape) {
  double product = 1.0;
  for (const std::int64_t size : shape) product *= static_cast<double>(size);
  return product;
}

std::optional<Shape> shape_of(const Graph& graph, const std::vector<ValueId>& ids, std::size_t i) {
  if (i >= ids.size() || ids[i] == no_value) return std::nullopt;
  return graph.values[ids[i]].static_shape();
}

/// Each element of `many` is multiplied with all weights of one index of W's first axis.
std::optional<double> per_first_axis(const std::optional<Shape>& many, const std::optional<Shape>& weights) {
  if (!many || !weights || weights->empty()) return std::nullopt;
  if (weights->front() == 0) return 0.0;
  return elements(*many) * elements(*weights) / static_cast<double>(weights->front());
}

template <std::size_t weights>
std::optional<double> convolution(const Graph& graph, const Node& node) {
  return per_first_axis(shape_of(graph, node.outputs, 0), shape_of(graph, node.inputs, weights));
}

std::optional<double> transposed_convolution(const Graph& graph, const Node& node) {
  return per_first_axis(shape_of(graph, node.inputs, 0), shape_of(graph, node.inputs, 1));
}

/// Every output is a sum over A's last axis, with transA over its first.
std::optional<double> matrix_product(const Graph& graph, const Node& node) {
  const auto a = shape_of(graph, node.inputs, 0);
  const auto y = shape_of(graph, node.outputs, 0);
  if (!a || !y || a->empty()) return std::nullopt;
  const auto transposed = int_attribute(node, "transA", 0);
  const bool first = transposed.ok() && *transposed != 0;
  return elements(*y) * static_cast<double>(first ? a->front() : a->back());
}

/// Every element of W and R, for each step of each sequence.
std::optional<double> recurrent(const Graph& graph, const Node& node) {
  const auto x = shape_of(graph, node.inputs, 0);
  const auto w = shape_of(graph, node.inputs, 1);
  const auto r = shape_of(graph, node.inputs, 2);
  if (!x || !w || !r || x->size() < 2) return std::nullopt;
  return static_cast<double>((*x)[0]) * static_cast<double>((*x)[1]) * (elements(*w) + elements(*r));
}

constexpr std::array rules = {
    Rule{"Conv", convolution<1>},
    Rule{"ConvInteger", convolution<1>},
    Rule{"QLinearConv", convolution<3>},
    Rule{"ConvTranspose", transposed_convolution},
    Rule{"Gemm", matrix_product},
    Rule{"MatMul", matrix_product},
    Rule{"MatMulInteger", matrix_product},
    Rule{"QLinearMatMul", matrix_product},
    Rule{"RNN", recurrent},
    Rule{"GRU", recurrent},
    Rule{"LSTM", recurrent},
};

}  // namespace

std::optional<double> count_products(const Graph& graph) {
  double multiply_adds = 0.0;
  for (const Node& node : graph.nodes) {
    if (!node.subgraphs.empty()) return std::nullopt;
    for (const Rule& rule : rules) {
      if (node.op_type != rule.op_type || !node.domain.empty()) continue;
      const auto count = rule.multiply_adds(graph, node);
      if (!count) return std::nullopt;
      multiply_adds += *count;
    }
  }
  return 2.0 * multiply_adds;
}

}  // namespace driftscope
