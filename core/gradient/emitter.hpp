// Adds nodes and constants to a model, in the forms of its opset. Clients: the rules of gradients.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/unique_names.hpp"
#include "core/graph/attributes.hpp"
#include "core/model/model.hpp"

namespace driftscope {

class GradientEmitter {
 public:
  using Names = std::vector<std::string>;

  /// `opset` of the ONNX domain, at least 11.
  GradientEmitter(ModelGraph& graph, std::int64_t opset);
  /// Of a subgraph: constants go to the graph around it, and names are used in neither twice.
  GradientEmitter(ModelGraph& graph, GradientEmitter& around);

  /// What the names of the next nodes and values begin with.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  [[nodiscard]] std::int64_t opset() const { return opset_; }

  /// A node with one output; the output's name.
  std::string node(std::string_view op, Names inputs, std::vector<Attribute> attributes = {});
  Names nodes(std::string_view op, Names inputs, std::size_t outputs, std::vector<Attribute> attributes = {});
  /// Gives a value of the model's own another name.
  void rename(const std::string& value, const std::string& name);

  std::string constant(const Tensor& tensor);
  /// A scalar of a floating type.
  std::string scalar(double value, DType dtype);
  /// Floating, of a shape.
  std::string numbers(std::span<const double> values, Shape shape, DType dtype);
  std::string ints(const Ints& values);   ///< int64 [n]
  std::string index(std::int64_t value);  ///< int64, rank 0

  std::string add(const std::string& a, const std::string& b) { return node("Add", {a, b}); }
  std::string sub(const std::string& a, const std::string& b) { return node("Sub", {a, b}); }
  std::string mul(const std::string& a, const std::string& b) { return node("Mul", {a, b}); }
  std::string div(const std::string& a, const std::string& b) { return node("Div", {a, b}); }
  std::string matmul(const std::string& a, const std::string& b) { return node("MatMul", {a, b}); }
  std::string cast(const std::string& x, DType dtype);
  std::string transpose(const std::string& x, Ints permutation);
  std::string reshape(const std::string& x, const Ints& sizes);
  std::string squeeze(const std::string& x, const Ints& axes);
  std::string unsqueeze(const std::string& x, const Ints& axes);
  /// "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin".
  std::string reduce(std::string_view op, const std::string& x, const Ints& axes, bool keep);
  std::string concat(const Names& parts, std::int64_t axis);
  Names split(const std::string& x, const Ints& sizes, std::int64_t axis);
  std::string slice(const std::string& x, const Ints& starts, const Ints& ends, const Ints& axes,
                    const Ints& steps = {});
  /// By a number; begins of all axes, then ends, as ONNX has them.
  std::string pad(const std::string& x, const Ints& pads, double value, DType dtype);
  std::string zeros_like(const std::string& x, DType dtype);
  /// x, and 1 where it is 0: what to divide by where the numerator is 0 as well.
  std::string or_one(const std::string& x, DType dtype);
  /// 1 where a boolean is true.
  std::string mask(std::string_view comparison, Names inputs, DType dtype);
  /// A new axis at the end: 1 at the index, 0 elsewhere. `indices` are int64 and not negative.
  std::string one_hot(const std::string& indices, std::int64_t depth, DType dtype);

 private:
  ModelGraph& graph_;
  std::int64_t opset_;
  std::string prefix_;
  GradientEmitter* around_ = nullptr;
  std::shared_ptr<UniqueNames> names_;
  std::map<std::pair<std::string, std::string>, std::string> constants_;  // by type, shape and bytes
};

}  // namespace driftscope
