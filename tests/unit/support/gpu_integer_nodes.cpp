#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/support/gpu_node_case.hpp"

namespace driftscope::test {
namespace {

std::string scale(GpuNodeCase& it, std::int64_t count = 1) {
  return it.constant(tensor<float>(count == 1 ? Shape{} : Shape{count},
                                   std::vector<float>(static_cast<std::size_t>(count), 0.5f)));
}
std::string zero(GpuNodeCase& it) {
  return it.constant(tensor<std::uint8_t>({}, {static_cast<std::uint8_t>(it.maybe() ? 0 : 3)}));
}
std::string weights(GpuNodeCase& it, const Shape& shape) {
  return it.constant(
      tensor<std::int8_t>(shape, std::vector<std::int8_t>(static_cast<std::size_t>(element_count(shape)))));
}
std::string no_zero(GpuNodeCase& it) { return it.constant(tensor<std::int8_t>({}, {0})); }

// x in steps of 8 bits; "" where there is no zero point.
std::string in_steps(GpuNodeCase& it, const std::string& x) {
  const std::string q = it.name();
  it.model.node("QuantizeLinear", {x, scale(it), zero(it)}, {q});
  return q;
}

// What follows computes with floats.
void dequantize(GpuNodeCase& it, const std::string& q) {
  it.add("DequantizeLinear", {q, scale(it), zero(it)});
}

void quantization(GpuNodeCase& it, const std::string& op) {
  it.begin(static_cast<std::size_t>(it.one_of({1, 3, 4})));
  const std::int64_t channels = it.shape.size() > 1 ? it.shape[1] : it.shape[0];
  const std::int64_t axis = it.shape.size() > 1 ? 1 : 0;
  const std::string each = scale(it, it.maybe() ? channels : 1);
  const std::string q = it.name();
  it.model.node("QuantizeLinear", {it.x, each, it.maybe() ? zero(it) : ""}, {q}, {integer("axis", axis)});
  if (op == "Cast")
    it.add(op, {q}, {integer("to", 1)});
  else if (op == "DequantizeLinear")
    it.add(op, {q, each}, {integer("axis", axis)});
  else
    dequantize(it, q);
}

void dynamic_quantization(GpuNodeCase& it, const std::string& op) {
  it.begin(4);
  it.model.node(op, {it.x}, {"q", "s", it.maybe() ? "z" : ""});
  dequantize(it, "q");
}

void integer_convolution(GpuNodeCase& it, const std::string& op) {
  it.begin(it.maybe() ? 3 : 4);
  const std::int64_t channels = it.shape[1];
  const std::int64_t group = it.maybe() ? 1 : channels;
  const std::int64_t outputs = group * it.one_of({1, 4});
  Shape w = {outputs, channels / group};
  w.resize(it.shape.size(), 2);
  const std::vector<Attribute> attributes = {
      integer("group", group), ints("pads", std::vector<std::int64_t>(2 * (it.shape.size() - 2), 1))};
  if (op == "ConvInteger") {
    std::vector<std::string> parts = {"q", "s", "z"};
    it.model.node("DynamicQuantizeLinear", {it.x}, parts);
    it.model.node(op, {"q", weights(it, w), it.maybe() ? "z" : ""}, {"i"}, attributes);
    return it.add("Cast", {"i"}, {integer("to", 1)});
  }
  const std::string q = in_steps(it, it.x);
  std::vector<std::string> inputs = {
      q,           scale(it), zero(it), weights(it, w), scale(it, it.maybe() ? outputs : 1),
      no_zero(it), scale(it), zero(it)};
  if (it.maybe())
    inputs.push_back(it.constant(
        tensor<std::int32_t>({outputs}, std::vector<std::int32_t>(static_cast<std::size_t>(outputs), 7))));
  it.model.node(op, inputs, {"i"}, attributes);
  dequantize(it, "i");
}

void integer_product(GpuNodeCase& it, const std::string& op) {
  const std::int64_t k = it.one_of({3, 8, 66});
  const std::int64_t n = it.one_of({1, 4, 6, 33});
  it.begin_matrix(it.one_of({1, 2, 40}), k);
  const std::string b = weights(it, {k, n});
  const std::string b_scale = scale(it, it.maybe() ? n : 1);
  const std::string bias = it.maybe() ? it.constant({n}) : "";
  if (op == "com.microsoft.DynamicQuantizeMatMul") return it.add(op, {it.x, b, b_scale, no_zero(it), bias});
  if (op == "MatMulInteger" || op == "com.microsoft.MatMulIntegerToFloat") {
    it.model.node("DynamicQuantizeLinear", {it.x}, {"q", "s", "z"});
    const std::string a_zero = it.maybe() ? "z" : "";
    if (op != "MatMulInteger") return it.add(op, {"q", b, "s", b_scale, a_zero, "", bias});
    it.model.node(op, {"q", b, a_zero}, {"i"});
    return it.add("Cast", {"i"}, {integer("to", 1)});
  }
  const std::string q = in_steps(it, it.x);
  const std::string a_zero = zero(it);
  if (op == "QLinearMatMul") {
    it.model.node(op, {q, scale(it), a_zero, b, b_scale, no_zero(it), scale(it), zero(it)}, {"i"});
    return dequantize(it, "i");
  }
  std::vector<std::string> inputs = {q, scale(it), a_zero, b, b_scale, no_zero(it), ""};
  if (it.maybe())
    inputs[6] =
        it.constant(tensor<std::int32_t>({n}, std::vector<std::int32_t>(static_cast<std::size_t>(n))));
  if (it.maybe()) return it.add(op, inputs);
  inputs.insert(inputs.end(), {scale(it), zero(it)});
  it.add_as(op, inputs, {"i"}, {});
  dequantize(it, "i");
}

void of_steps(GpuNodeCase& it, const std::string& op) {
  it.begin(4);
  const std::string q = in_steps(it, it.x);
  std::vector<std::string> inputs = {q, scale(it), zero(it)};
  if (op.ends_with("Add") || op.ends_with("Mul"))
    inputs.insert(inputs.end(), {in_steps(it, it.value(it.shape)), scale(it), zero(it)});
  inputs.insert(inputs.end(), {scale(it), zero(it)});
  it.add_as(op, inputs, {"i"}, {});
  dequantize(it, "i");
}

}  // namespace

std::map<std::string, GpuNodeRecipe> integer_recipes() {
  std::map<std::string, GpuNodeRecipe> made;
  for (const char* op : {"QuantizeLinear", "DequantizeLinear", "Cast"}) made[op] = quantization;
  made["DynamicQuantizeLinear"] = dynamic_quantization;
  for (const char* op : {"ConvInteger", "QLinearConv"}) made[op] = integer_convolution;
  for (const char* op : {"MatMulInteger", "QLinearMatMul", "com.microsoft.MatMulIntegerToFloat",
                         "com.microsoft.DynamicQuantizeMatMul", "com.microsoft.QGemm"})
    made[op] = integer_product;
  for (const char* op :
       {"QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearGlobalAveragePool"})
    made[std::string("com.microsoft.") + op] = of_steps;
  return made;
}

}  // namespace driftscope::test
