// A .tflite file while it is written: its tensors, buffers and operators. Clients: write.cpp, operators/.
#pragma once

#include <tflite_schema/schema_generated.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/convert/tf/tf_graph.hpp"

namespace driftscope::tflite {

/// Of a tensor in the file.
using TensorIndex = std::int32_t;

/// Stands for an optional input that is absent.
inline constexpr TensorIndex no_tensor = -1;

/// The options of an operator, with their place in the union.
struct Options {
  fb::BuiltinOptions type = fb::BuiltinOptions::NONE;
  flatbuffers::Offset<void> value = {};
};

struct Operator {
  fb::BuiltinOperator code;
  std::vector<TensorIndex> inputs;
  std::vector<TensorIndex> outputs;
  Options options = {};
  int version = 1;
};

class Builder {
 public:
  /// `graph` outlives it; `bytes`: about as long as the file will be.
  Builder(const tf::TfGraph& graph, std::size_t bytes);

  [[nodiscard]] const tf::TensorInfo& info(const std::string& value) const;
  /// Null if it is computed, or an input.
  [[nodiscard]] const Tensor* constant_value(const std::string& value) const;
  /// The names of a node's outputs.
  [[nodiscard]] std::vector<std::string> outputs_of(const tf::Node& node) const;

  /// The tensor of a value of the graph.
  [[nodiscard]] TensorIndex tensor(const std::string& value);
  [[nodiscard]] std::vector<TensorIndex> tensors(const std::vector<std::string>& values);
  /// A tensor that the graph lacks; `name` begins with the name of a node and need not be unique.
  [[nodiscard]] TensorIndex add_computed(std::string name, const tf::TensorInfo& info);
  [[nodiscard]] TensorIndex add_constant(std::string name, const Tensor& value,
                                         const tf::Quantization& quantization = {});
  /// A vector of int32.
  [[nodiscard]] TensorIndex add_indices(std::string name, const std::vector<std::int32_t>& values);

  /// A tensor that was made of a value before, by a key that names both.
  [[nodiscard]] std::optional<TensorIndex> derived(const std::string& key) const;
  void keep_derived(std::string key, TensorIndex tensor) { derived_.emplace(std::move(key), tensor); }

  /// Where the tables of options are made, as fb::CreateConv2DOptions(builder.tables(), …).
  [[nodiscard]] flatbuffers::FlatBufferBuilder& tables() { return tables_; }
  template <class T>
  [[nodiscard]] static Options options(flatbuffers::Offset<T> made) {
    return {fb::BuiltinOptionsTraits<T>::enum_value, made.Union()};
  }
  /// Options that are empty, or as they are by default.
  template <class T>
  [[nodiscard]] Options default_options() {
    typename T::Builder made(tables_);
    return options(made.Finish());
  }

  void add(const Operator& made);
  /// With the options that it has by default, or without; inputs and outputs are those of the node.
  void add(const tf::Node& node, fb::BuiltinOperator code, Options options = {}, int version = 1);

  /// Adds what makes `copy` the same as the constant `value`. No RESHAPE: LiteRT 2.5.3 runs none of a
  /// constant, and never writes a result that is an output.
  void add_copy_of_constant(TensorIndex value, TensorIndex copy, DType dtype);

  /// The whole file; `outputs`: name in the signature and tensor. It is done afterwards.
  [[nodiscard]] Result<std::vector<std::byte>> finish(
      const std::vector<std::pair<std::string, TensorIndex>>& outputs,
      const std::map<std::string, std::string>& metadata, const char* description);

 private:
  struct Entry {
    std::string name;
    tf::TensorInfo info;
    std::uint32_t buffer = 0;
  };
  [[nodiscard]] std::uint32_t add_buffer(std::span<const std::byte> bytes);
  [[nodiscard]] TensorIndex add_entry(Entry entry);
  [[nodiscard]] std::uint32_t code_index(const Operator& made);
  [[nodiscard]] flatbuffers::Offset<fb::Tensor> write_tensor(const Entry& entry);

  const tf::TfGraph& graph_;
  flatbuffers::FlatBufferBuilder tables_;
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers_;
  std::vector<Entry> entries_;
  std::map<std::string, TensorIndex, std::less<>> by_value_;
  std::map<std::string, TensorIndex, std::less<>> derived_;
  std::map<std::string, int, std::less<>> names_;  // how often each was asked for
  std::map<std::pair<fb::BuiltinOperator, int>, std::uint32_t> codes_;
  std::vector<flatbuffers::Offset<fb::OperatorCode>> code_tables_;
  std::vector<flatbuffers::Offset<fb::Operator>> operators_;
};

/// The type in the file, if it has it.
[[nodiscard]] std::optional<fb::TensorType> tensor_type(DType dtype);

}  // namespace driftscope::tflite
