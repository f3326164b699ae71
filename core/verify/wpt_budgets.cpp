// From web-platform-tests: webnn/resources/utils.js (operatorToleranceDict and the functions behind
// getPrecisionTolerance, 2025) and, for operators that it leaves to them, webnn/conformance_tests; exp,
// pow, div, sqrt, reciprocal and the absolute ones from PrecisionMetrics in utils.js of 2024. Their ULP
// distance is that of the bits as integers, ±0 equal, which is Metrics::max_ulp.
// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/wpt_budgets.hpp"

#include <algorithm>
#include <map>

#include "core/graph/attributes.hpp"

namespace driftscope {
namespace {

constexpr double none = -1.0;  // the suite has no budget for this type

struct Row {
  std::string_view name;  ///< WebNN's operator
  double float32 = 0.0;
  double float16 = 0.0;
  BudgetMetric metric = BudgetMetric::ulp;
  /// Instead of the numbers, where they depend on shapes: nothing where a shape is not known.
  std::optional<double> (*formula)(const BudgetCase&) = nullptr;
};

double product(std::span<const std::int64_t> sizes) {
  double all = 1.0;
  for (const std::int64_t size : sizes) all *= static_cast<double>(size);
  return all;
}

// 2·kh·kw·(input channels ÷ groups), which is all of a filter but its first axis.
std::optional<double> conv(const BudgetCase& of) {
  const auto filter = of.input(1);
  if (!filter || filter->empty()) return std::nullopt;
  return 2.0 * product(std::span(*filter).subspan(1));
}

// The filter is [input channels, output channels ÷ groups, …].
std::optional<double> conv_transpose(const BudgetCase& of) {
  const auto filter = of.input(1);
  const auto groups = int_attribute(of.node, "group", 1);
  if (!filter || filter->size() < 2 || !groups.ok() || *groups < 1) return std::nullopt;
  return 2.0 * product(std::span(*filter).subspan(2)) * static_cast<double>((*filter)[0]) /
         static_cast<double>(*groups);
}

// 2·K, and one each for α, β and the sum with C.
std::optional<double> gemm(const BudgetCase& of) {
  const auto a = of.input(0);
  const auto transposed = int_attribute(of.node, "transA", 0);
  const auto alpha = float_attribute(of.node, "alpha", 1.0F);
  const auto beta = float_attribute(of.node, "beta", 1.0F);
  if (!a || a->size() != 2 || !transposed.ok() || !alpha.ok() || !beta.ok()) return std::nullopt;
  double budget = 2.0 * static_cast<double>((*a)[*transposed != 0 ? 0 : 1]);
  if (*alpha != 1.0F) budget += 1.0;
  if (of.input(2) && *beta != 0.0F) budget += *beta == 1.0F ? 1.0 : 2.0;
  return budget;
}

std::optional<double> matmul(const BudgetCase& of) {
  const auto a = of.input(0);
  if (!a || a->empty()) return std::nullopt;
  return 2.0 * static_cast<double>(a->back());
}

// 3·N + 3
std::optional<double> softmax(const BudgetCase& of) {
  const auto axis = int_attribute(of.node, "axis", of.node.opset < 13 ? 1 : -1);
  if (!of.output) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(of.output->size());
  if (!axis.ok() || *axis < -rank || *axis >= rank) return std::nullopt;
  const auto first = static_cast<std::size_t>(*axis < 0 ? *axis + rank : *axis);
  const std::span lane = std::span(*of.output).subspan(first, of.node.opset < 13 ? std::dynamic_extent : 1);
  return 3.0 * product(lane) + 3.0;
}

// kh·kw + 2
std::optional<double> pool(const BudgetCase& of) {
  const auto kernel = ints_attribute(of.node, "kernel_shape", {});
  if (!kernel.ok() || kernel->empty()) return std::nullopt;
  return product(*kernel) + 2.0;
}

std::optional<double> global_pool(const BudgetCase& of) {
  const auto x = of.input(0);
  if (!x || x->size() < 3) return std::nullopt;
  return product(std::span(*x).subspan(2)) + 2.0;
}

/// Elements reduced to one.
std::optional<double> reduced(const BudgetCase& of) {
  const auto x = of.input(0);
  const double outputs = of.output ? product(*of.output) : 0.0;
  if (!x || outputs == 0.0) return std::nullopt;
  return product(*x) / outputs;
}

template <int times, int more>
std::optional<double> reduction(const BudgetCase& of) {
  const auto n = reduced(of);
  return n ? std::optional(times * *n + more) : std::nullopt;
}

std::optional<double> cumulative_sum(const BudgetCase& of) {
  // The axis is an input; on the longest one the budget is largest.
  if (!of.output || of.output->empty()) return std::nullopt;
  return static_cast<double>(*std::ranges::max_element(*of.output)) - 1.0;
}

// 84 for linear interpolation; a nearest neighbour is exact.
std::optional<double> resample(const BudgetCase& of) {
  const auto mode = string_attribute(of.node, "mode", "nearest");
  if (!mode.ok()) return std::nullopt;
  if (*mode == "nearest") return 0.0;
  if (*mode != "linear" && *mode != "bilinear") return std::nullopt;
  return of.dtype == DType::float16 ? 10.0 : 84.0;
}

constexpr double atol = 1.0 / 1024;
constexpr double atol16 = 1.0 / 512;
constexpr auto absolute = BudgetMetric::absolute;
constexpr auto ulp = BudgetMetric::ulp;

const std::map<std::string_view, Row>& rows() {
  static const std::map<std::string_view, Row> all = {
      {"Abs", {"abs"}},
      {"Add", {"add", 1, 1}},
      {"And", {"logicalAnd"}},
      {"ArgMax", {"argMax"}},
      {"ArgMin", {"argMin"}},
      {"AveragePool", {"averagePool2d", 0, 0, ulp, pool}},
      {"BatchNormalization", {"batchNormalization", 6, 6}},
      {"Ceil", {"ceil"}},
      {"Clip", {"clamp"}},
      {"Concat", {"concat"}},
      {"Conv", {"conv2d", 0, 0, ulp, conv}},
      {"ConvTranspose", {"convTranspose2d", 0, 0, ulp, conv_transpose}},
      {"Cos", {"cos", atol, atol16, absolute}},
      {"CumSum", {"cumulativeSum", 0, 0, ulp, cumulative_sum}},
      {"DequantizeLinear", {"dequantizeLinear", 1, none}},
      {"Div", {"div", 2, 2}},
      {"Elu", {"elu", 18, 18}},
      {"Equal", {"equal"}},
      {"Erf", {"erf", atol, atol16, absolute}},
      {"Exp", {"exp", 32, 1}},
      {"Expand", {"expand"}},
      {"Flatten", {"reshape"}},
      {"Floor", {"floor"}},
      {"GRU", {"gru", 3, none}},
      {"Gather", {"gather"}},
      {"GatherElements", {"gatherElements"}},
      {"GatherND", {"gatherND"}},
      {"Gelu", {"gelu", 18, 18}},
      {"Gemm", {"gemm", 0, 0, ulp, gemm}},
      {"GlobalAveragePool", {"averagePool2d", 0, 0, ulp, global_pool}},
      {"GlobalMaxPool", {"maxPool2d"}},
      {"Greater", {"greater"}},
      {"GreaterOrEqual", {"greaterOrEqual"}},
      {"HardSigmoid", {"hardSigmoid", 2, 2}},
      {"HardSwish", {"hardSwish", 4, 4}},
      {"Identity", {"identity"}},
      {"InstanceNormalization", {"instanceNormalization", 840, 8400}},
      {"LSTM", {"lstm", 1, none}},
      {"LeakyRelu", {"leakyRelu", 1, 2}},
      {"Less", {"lesser"}},
      {"LessOrEqual", {"lesserOrEqual"}},
      {"Log", {"log", atol, atol, absolute}},
      {"LpPool", {"l2Pool2d", 0, 0, ulp, pool}},
      {"MatMul", {"matmul", 0, 0, ulp, matmul}},
      {"Max", {"max"}},
      {"MaxPool", {"maxPool2d"}},
      {"Min", {"min"}},
      {"Mul", {"mul", 1, 1}},
      {"Neg", {"neg"}},
      {"Not", {"logicalNot"}},
      {"Or", {"logicalOr"}},
      {"PRelu", {"prelu", 1, 1}},
      {"Pad", {"pad"}},
      {"Pow", {"pow", 32, 2}},
      {"QuantizeLinear", {"quantizeLinear", 1, 1}},
      {"Reciprocal", {"reciprocal", 2, 2}},
      {"ReduceL1", {"reduceL1", 0, 0, ulp, reduction<1, 0>}},
      {"ReduceL2", {"reduceL2", 0, 0, ulp, reduction<2, 1>}},
      {"ReduceLogSum", {"reduceLogSum", 0, 0, ulp, reduction<1, 18>}},
      {"ReduceLogSumExp", {"reduceLogSumExp", 0, 0, ulp, reduction<2, 18>}},
      {"ReduceMax", {"reduceMax"}},
      {"ReduceMean", {"reduceMean", 0, 0, ulp, reduction<1, 2>}},
      {"ReduceMin", {"reduceMin"}},
      {"ReduceProd", {"reduceProduct", 0, 0, ulp, reduction<1, 0>}},
      {"ReduceSum", {"reduceSum", 0, 0, ulp, reduction<1, 0>}},
      {"ReduceSumSquare", {"reduceSumSquare", 0, 0, ulp, reduction<2, 0>}},
      {"Relu", {"relu"}},
      {"Reshape", {"reshape"}},
      {"Resize", {"resample2d", 0, 0, ulp, resample}},
      {"ScatterElements", {"scatterElements"}},
      {"ScatterND", {"scatterND"}},
      {"Sigmoid", {"sigmoid", 34, 10}},
      {"Sin", {"sin", atol, atol16, absolute}},
      {"Slice", {"slice"}},
      {"Softmax", {"softmax", 0, 0, ulp, softmax}},
      {"Softplus", {"softplus", 18, 18}},
      {"Softsign", {"softsign", 3, 3}},
      {"Split", {"split"}},
      {"Sqrt", {"sqrt", 1, 1}},
      {"Squeeze", {"reshape"}},
      {"Sub", {"sub", 1, 1}},
      {"Tan", {"tan", atol, atol16, absolute}},
      {"Tanh", {"tanh", 16, 16}},
      {"Tile", {"tile"}},
      {"Transpose", {"transpose"}},
      {"Unsqueeze", {"reshape"}},
      {"Where", {"where"}},
      {"Xor", {"logicalXor"}},
  };
  return all;
}

std::optional<BudgetRule> rule(const BudgetCase& of) {
  const auto found = rows().find(of.node.op_type);
  if (found == rows().end()) return std::nullopt;
  const Row& row = found->second;
  const std::string name(row.name);
  if (is_integer(of.dtype) || of.dtype == DType::boolean) {
    // The distance of integers is their difference.
    const double allowed = of.node.op_type == "QuantizeLinear" ? row.float32 : 0.0;
    return BudgetRule{name, BudgetMetric::absolute, allowed};
  }
  if (of.dtype != DType::float32 && of.dtype != DType::float16) return std::nullopt;
  if (row.formula != nullptr) {
    const auto value = row.formula(of);
    return value ? std::optional(BudgetRule{name, row.metric, *value}) : std::nullopt;
  }
  const double value = of.dtype == DType::float16 ? row.float16 : row.float32;
  return value == none ? std::nullopt : std::optional(BudgetRule{name, row.metric, value});
}

}  // namespace

const BudgetSuite& wpt_budgets() {
  static const BudgetSuite suite = {
      "wpt", "web platform tests of WebNN",
      "web-platform-tests, webnn/resources/utils.js and webnn/conformance_tests", rule};
  return suite;
}

}  // namespace driftscope
