// What the readers of operators see. Clients: the files of this folder only.
#pragma once

#include <tflite_schema/schema_generated.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/unique_names.hpp"
#include "core/convert/tf/tf_graph.hpp"
#include "core/convert/tflite/reader/read.hpp"

namespace driftscope::tflite {

/// An operator, its indices checked.
struct ReadOperator {
  fb::BuiltinOperator code = fb::BuiltinOperator::ADD;
  const fb::Operator* options = nullptr;  ///< never null
  std::vector<std::string> inputs;        ///< "" for an absent one
  std::vector<std::string> outputs;
  std::map<std::string, tf::Attribute, std::less<>> attributes = {};
  fb::ActivationFunctionType activation = fb::ActivationFunctionType::NONE;
  std::string custom = {};  ///< the name of a custom operator
  std::vector<std::shared_ptr<const tf::TfGraph>> branches = {};

  /// Its table of options, null where it has none or another's.
  template <class T>
  [[nodiscard]] const T* as() const {
    return options->builtin_options_as<T>();
  }
};

/// What the readers of a model's graphs share.
struct ReadModel {
  const fb::Model& model;
  std::span<const std::byte> file;
  UniqueNames taken = {};
  std::size_t tensors = 0;           ///< of all graphs, as often as they are read
  std::uint64_t constant_bytes = 0;  ///< the same
};

class Reader {
 public:
  /// `depth`: graphs around this one.
  explicit Reader(ReadModel& read, int depth = 0) : read_(read), depth_(depth) {}

  /// The outputs of a branch are as many as in the file: one may be a constant, an input or there twice.
  [[nodiscard]] Result<tf::TfGraph> read(std::size_t place);
  /// A graph that an operator of this one runs.
  [[nodiscard]] Result<std::shared_ptr<const tf::TfGraph>> branch(std::int32_t subgraph);

  [[nodiscard]] const tf::TensorInfo& info(const std::string& tensor) const {
    return graph_.tensors.at(tensor);
  }
  [[nodiscard]] bool is_quantized(const std::string& tensor) const;
  /// The real values with axis i being axis order[i] of the tensor: a constant is rewritten, for others there
  /// are nodes.
  [[nodiscard]] Result<std::string> ordered(const std::string& tensor, const std::vector<std::size_t>& order);
  /// The real values as float32 in another shape.
  [[nodiscard]] Result<std::string> reshaped(const std::string& tensor, const Shape& shape);
  [[nodiscard]] std::string integers(const std::vector<std::int64_t>& values, bool scalar = false);
  /// A name that is not there yet.
  [[nodiscard]] std::string fresh(const std::string& wanted);

  /// The node of an operator with one output, and of its fused activation; with several outputs one identity
  /// for each that has a name of its own.
  [[nodiscard]] Status add(const ReadOperator& from, std::string_view op, std::vector<std::string> inputs);

 private:
  [[nodiscard]] Status read_tensors(const fb::SubGraph& subgraph);
  [[nodiscard]] Status read_constant(std::size_t index, const fb::Tensor& tensor);
  [[nodiscard]] Result<std::span<const std::byte>> buffer(std::uint32_t index) const;
  [[nodiscard]] Result<ReadOperator> read_operator(const fb::Operator& from);
  [[nodiscard]] Status check_tensor(std::int32_t index) const;
  [[nodiscard]] std::string real(const std::string& tensor);
  void make(tf::Node node, tf::TensorInfo info);

  ReadModel& read_;
  int depth_;
  tf::TfGraph graph_;
  std::vector<std::string> names_;  // of tensors
  std::set<std::string> known_;     // constants, inputs, what earlier operators make
};

/// Turns one operator into nodes; the error says why not.
[[nodiscard]] Status read_node(Reader& reader, ReadOperator& from);

/// The same for custom operators: those of MediaPipe.
[[nodiscard]] Status read_custom(Reader& reader, ReadOperator& from);

/// The same for operators whose options are one or two numbers.
[[nodiscard]] Status read_with_options(Reader& reader, ReadOperator& from);

/// An error unless the first `inputs` inputs are there.
[[nodiscard]] Status need(const ReadOperator& from, std::size_t inputs);

}  // namespace driftscope::tflite
