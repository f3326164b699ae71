// Random nodes for GPU engines, as their recipes make them. Clients: gpu_nodes, gpu_attention_nodes,
// gpu_integer_nodes.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "core/base/rng.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test {

// A random node behind a value x, which lies channels last or not.
struct GpuNodeCase {
  Rng& rng;
  ModelBuilder model = ModelBuilder();
  std::string x = "x";
  Shape shape = {};
  int names = 0;

  std::int64_t one_of(std::initializer_list<std::int64_t> of) { return of.begin()[rng.below(of.size())]; }
  bool maybe() { return rng.below(2) == 0; }
  std::int64_t below(std::int64_t limit) { return one_of({0, 1, 2, 3, 4, 5, 6, 7}) % limit; }
  std::string name() { return fmt::format("v{}", names++); }

  std::string constant(const Tensor& tensor) {
    model.initializer(name(), tensor);
    return fmt::format("v{}", names - 1);
  }
  /// Zeros: nothing is computed with them.
  std::string constant(Shape of) {
    auto made = Tensor::make(DType::float32, std::move(of), "a constant");
    REQUIRE(made.ok());
    return constant(*made);
  }
  std::string integers(const std::vector<std::int64_t>& of) {
    return constant(tensor<std::int64_t>({std::ssize(of)}, of));
  }
  std::string value(const Shape& of, DType dtype = DType::float32) {
    const std::string made = name();
    model.input(made, dtype, std::vector<Dim>(of.begin(), of.end()));
    return made;
  }
  /// A constant or not.
  std::string operand(const Shape& of) { return maybe() ? constant(of) : value(of); }

  void begin_matrix(std::int64_t rows, std::int64_t columns) {
    shape = {rows, columns};
    model.input("x", DType::float32, {rows, columns});
  }
  /// Of this rank; of 3 and more sometimes behind a convolution.
  void begin(std::size_t rank) {
    shape = {one_of({1, 2}), one_of({1, 3, 4, 8, 80})};
    while (shape.size() < rank) shape.push_back(one_of({3, 4, 7, 8}));
    if (rank == 1) shape = {one_of({1, 7, 80})};
    model.input("x", DType::float32, std::vector<Dim>(shape.begin(), shape.end()));
    if (rank < 3 || rank > 4 || maybe()) return;
    Shape w = {shape[1], shape[1]};
    w.resize(rank, 1);
    x = name();
    model.node("Conv", {"x", constant(w)}, {x});
  }
  void add(const std::string& op, const std::vector<std::string>& inputs,
           const std::vector<Attribute>& attributes = {}, int outputs = 1) {
    std::vector<std::string> made = {"y"};
    for (int i = 1; i < outputs; ++i) made.push_back(fmt::format("y{}", i));
    add_as(op, inputs, made, attributes);
  }
  /// With a domain as in "com.microsoft.BiasGelu".
  void add_as(const std::string& op, const std::vector<std::string>& inputs,
              const std::vector<std::string>& outputs, const std::vector<Attribute>& attributes) {
    const std::size_t dot = op.rfind('.');
    if (dot == std::string::npos) {
      model.node(op, inputs, outputs, attributes);
    } else {
      model.opset(op.substr(0, dot), 1);
      model.node(op.substr(dot + 1), inputs, outputs, attributes, op.substr(0, dot));
    }
  }
};

/// Attributes and operands of operators that need some.
using GpuNodeRecipe = std::function<void(GpuNodeCase&, const std::string& op)>;

/// Those of attention, by operator.
std::map<std::string, GpuNodeRecipe> attention_recipes();
/// Those of integers.
std::map<std::string, GpuNodeRecipe> integer_recipes();

}  // namespace driftscope::test
