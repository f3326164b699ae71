#include "tests/unit/engines/strict/same_bits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "core/eval/evaluated.hpp"
#include "core/model/element.hpp"

namespace driftscope::test {
namespace {

std::string attribute_text(const Attribute& attribute) {
  if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute.value))
    return fmt::format(" {}=[{}]", attribute.name, fmt::join(*ints, ","));
  if (const auto* number = std::get_if<std::int64_t>(&attribute.value))
    return fmt::format(" {}={}", attribute.name, *number);
  if (const auto* number = std::get_if<float>(&attribute.value))
    return fmt::format(" {}={}", attribute.name, *number);
  if (const auto* text = std::get_if<std::string>(&attribute.value))
    return fmt::format(" {}={}", attribute.name, *text);
  return " " + attribute.name;
}

// Of floats as doubles, which is exact: NaN equals NaN.
std::vector<double> numbers_of(const Tensor& tensor) {
  std::vector<double> numbers;
  visit_plain_number(tensor.dtype(), [&]<class E>() {
    for (const auto x : tensor.values<typename E::Stored>()) numbers.push_back(E::to_double(x));
  });
  return numbers;
}

void compare(const Tensor& got, const Tensor& want, const std::string& where) {
  REQUIRE_MESSAGE(got.shape() == want.shape(), where);
  REQUIRE_MESSAGE(got.dtype() == want.dtype(), where);
  const auto same = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b);
  };
  const auto a = numbers_of(got);
  const auto b = numbers_of(want);
  const auto [at, expected] = std::ranges::mismatch(a, b, same);
  if (at != a.end())
    FAIL_CHECK(where << ": element " << at - a.begin() << " is " << fmt::format("{:a}", *at)
                     << ", the plain kernel has " << fmt::format("{:a}", *expected));
}

// The case with its float32 tensors rounded to a type of 16 bits.
NodeCase rounded(NodeCase node_case, DType dtype) {
  for (auto& input : node_case.inputs) {
    if (!input || input->dtype() != DType::float32) continue;
    Evaluated<float> value{dtype, input->shape(), {}, {}};
    for (const float x : input->values<float>()) value.real.push_back(x);
    auto small = lower(value);
    REQUIRE_MESSAGE(small.ok(), small.error().message);
    input = *std::move(small);
  }
  return node_case;
}

}  // namespace

std::string describe(const NodeCase& node_case) {
  std::string text = node_case.op_type + "(";
  for (const auto& input : node_case.inputs)
    text += (text.back() == '(' ? "" : ", ") + (input ? shape_text(input->shape()) : "omitted");
  text += ")";
  for (const Attribute& attribute : node_case.attributes) text += attribute_text(attribute);
  return text;
}

std::optional<Graph> single_node_graph(const NodeCase& node_case) {
  Graph graph;
  Node node;
  node.name = "node";
  node.op_type = node_case.op_type;
  node.domain = node_case.domain;
  node.opset = node_case.opset;
  node.attributes = node_case.attributes;
  for (std::size_t i = 0; i < node_case.inputs.size(); ++i) {
    const auto& input = node_case.inputs[i];
    if (!input) {
      node.inputs.push_back(no_value);
      continue;
    }
    Value value;
    value.name = fmt::format("input{}", i);
    value.dtype = input->dtype();
    value.shape.emplace();
    for (const std::int64_t size : input->shape()) value.shape->push_back({size, ""});
    const auto id = static_cast<ValueId>(graph.values.size());
    if (i < node_case.variable)
      graph.inputs.push_back(id);
    else
      value.constant = *input;
    graph.values.push_back(std::move(value));
    node.inputs.push_back(id);
  }
  for (std::size_t o = 0; o < node_case.outputs; ++o) {
    if (std::ranges::find(node_case.omitted, o) != node_case.omitted.end()) {
      node.outputs.push_back(no_value);
      continue;
    }
    graph.outputs.push_back(static_cast<ValueId>(graph.values.size()));
    node.outputs.push_back(static_cast<ValueId>(graph.values.size()));
    graph.values.emplace_back();
    graph.values.back().name = fmt::format("output{}", o);
    graph.values.back().producer = 0;
  }
  graph.nodes.push_back(std::move(node));
  auto inferred = infer_shapes(std::move(graph));
  if (!inferred.ok()) return std::nullopt;
  return *std::move(inferred);
}

namespace {

SameBits check_as_given(const NodeCase& node_case) {
  SameBits result;
  const auto graph = single_node_graph(node_case);
  if (!graph) return result;
  result.valid = true;
  const std::string text = describe(node_case);
  CAPTURE(text);

  std::vector<const Tensor*> operands;
  std::vector<Tensor> variable;
  for (std::size_t i = 0; i < node_case.inputs.size(); ++i) {
    const auto& input = node_case.inputs[i];
    operands.push_back(input ? &*input : nullptr);
    if (input && i < node_case.variable) variable.push_back(*input);
  }
  ThreadPool alone(1);
  const auto want = evaluate_strict(graph->nodes[0], operands, alone);
  REQUIRE_MESSAGE(want.ok(), want.error().message);

  const auto shared = std::make_shared<const Graph>(*graph);
  for (const SimdTarget& simd : simd_targets())
    for (const int threads : {1, 2, 4}) {
      StrictSession session(shared, simd, threads, {});
      const auto prepared = session.prepare();
      REQUIRE_MESSAGE(prepared.ok(), prepared.error().message);
      result.fast = session.is_fast(0);
      if (!result.fast && threads > 1) continue;
      for (int round = 0; round < 2; ++round) {
        const auto got = run_to_end(session, variable, no_trace_sink());
        REQUIRE_MESSAGE(got.ok(), got.error().message);
        for (std::size_t o = 0, given = 0; o < node_case.outputs; ++o)
          if (graph->nodes[0].outputs[o] != no_value)
            compare((*got)[given++], (*want)[o],
                    fmt::format("output {}, {}, {} threads, run {}", o, simd.name, threads, round + 1));
      }
    }
  return result;
}

}  // namespace

SameBits check_same_bits(const NodeCase& node_case) {
  const SameBits result = check_as_given(node_case);
  // Which type, if any, is the case's own, whatever ran before.
  static constexpr std::array types = {DType::float16, DType::bfloat16, DType::float32, DType::float32};
  const std::string text = describe(node_case);
  const auto sum = std::accumulate(text.begin(), text.end(), std::size_t{0});
  if (const DType dtype = types[sum % types.size()]; result.valid && dtype != DType::float32) {
    CAPTURE(dtype_name(dtype));
    const SameBits small = check_as_given(rounded(node_case, dtype));
    if (small.valid) CHECK(small.fast == result.fast);
  }
  return result;
}

Tensor random_tensor(Rng& rng, Shape shape, Values values) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::array specials = {
      0.0f,      -0.0f,     0x1p-149f, -0x1.8p-130f, 0x1.fffffep127f,
      -0x1p120f, 0x1p-100f, infinity,  -infinity,    std::numeric_limits<float>::quiet_NaN()};
  const std::size_t count = values == Values::finite ? specials.size() - 3 : specials.size();
  std::vector<float> elements(static_cast<std::size_t>(element_count(shape)));
  for (float& x : elements) {
    x = rng.normal();
    if (values != Values::normal && rng.below(8) == 0) x = specials[rng.below(count)];
  }
  auto tensor = Tensor::from_values<float>(std::move(shape), elements);
  REQUIRE_MESSAGE(tensor.ok(), tensor.error().message);
  return *std::move(tensor);
}

}  // namespace driftscope::test
