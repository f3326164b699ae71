// .tflite files for tests, without our writer, and what the reader makes of them. Clients: its tests.
#pragma once

#include <doctest/doctest.h>

#include <tflite_schema/schema_generated.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/convert/tflite/reader/read.hpp"
#include "tests/unit/convert/read_back.hpp"

namespace driftscope::test {

namespace fb = driftscope::tflite::fb;

/// A file put together as flatbuffers' own code does it, without our writer.
class FileBuilder {
 public:
  FileBuilder() { buffers_.push_back(fb::CreateBuffer(builder_)); }

  int tensor(const std::string& name, const std::vector<int>& shape,
             fb::TensorType type = fb::TensorType::FLOAT32, std::span<const std::byte> data = {},
             const std::vector<float>& scales = {}, const std::vector<std::int64_t>& zeros = {}, int axis = 0,
             const std::vector<int>& signature = {}) {
    std::uint32_t buffer = 0;
    if (!data.empty()) {
      buffer = static_cast<std::uint32_t>(buffers_.size());
      builder_.ForceVectorAlignment(data.size(), 1, 16);
      buffers_.push_back(fb::CreateBuffer(
          builder_, builder_.CreateVector(reinterpret_cast<const std::uint8_t*>(data.data()), data.size())));
    }
    flatbuffers::Offset<fb::QuantizationParameters> quantization;
    if (!scales.empty())
      quantization = fb::CreateQuantizationParameters(builder_, 0, 0, builder_.CreateVector(scales),
                                                      builder_.CreateVector(zeros),
                                                      fb::QuantizationDetails::NONE, 0, axis);
    const auto open = signature.empty() ? 0 : builder_.CreateVector(signature);
    tensors_.push_back(fb::CreateTensor(builder_, builder_.CreateVector(shape), type, buffer,
                                        builder_.CreateString(name), quantization, false, 0, open));
    return static_cast<int>(tensors_.size()) - 1;
  }

  /// A float32 tensor whose file says, beside a shape to begin with, which sizes are open.
  int open_tensor(const std::string& name, const std::vector<int>& shape, const std::vector<int>& signature,
                  fb::TensorType type = fb::TensorType::FLOAT32) {
    return tensor(name, shape, type, {}, {}, {}, 0, signature);
  }

  template <class T>
  int constant(const std::string& name, const std::vector<int>& shape, fb::TensorType type,
               std::span<const T> values, const std::vector<float>& scales = {},
               const std::vector<std::int64_t>& zeros = {}, int axis = 0) {
    return tensor(name, shape, type, std::as_bytes(values), scales, zeros, axis);
  }

  template <class Options>
  void add(fb::BuiltinOperator code, const std::vector<int>& inputs, const std::vector<int>& outputs,
           flatbuffers::Offset<Options> options, fb::BuiltinOptions kind) {
    codes_.push_back(fb::CreateOperatorCode(
        builder_, static_cast<std::int8_t>(std::min(127, static_cast<int>(code))), 0, 1, code));
    operators_.push_back(fb::CreateOperator(builder_, static_cast<std::uint32_t>(codes_.size() - 1),
                                            builder_.CreateVector(inputs), builder_.CreateVector(outputs),
                                            kind, options.Union()));
  }

  void add(fb::BuiltinOperator code, const std::vector<int>& inputs, const std::vector<int>& outputs) {
    add(code, inputs, outputs, flatbuffers::Offset<void>(), fb::BuiltinOptions::NONE);
  }

  /// Its options are these numbers, as MediaPipe's operators have them.
  void add_custom(const std::string& name, const std::vector<int>& inputs, const std::vector<int>& outputs,
                  const std::vector<std::int32_t>& options) {
    std::vector<std::uint8_t> bytes;
    for (const std::int32_t number : options)
      for (int k = 0; k < 4; ++k)
        bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint32_t>(number) >> 8 * k));
    codes_.push_back(
        fb::CreateOperatorCode(builder_, 32, builder_.CreateString(name), 1, fb::BuiltinOperator::CUSTOM));
    operators_.push_back(fb::CreateOperator(builder_, static_cast<std::uint32_t>(codes_.size() - 1),
                                            builder_.CreateVector(inputs), builder_.CreateVector(outputs),
                                            fb::BuiltinOptions::NONE, 0, builder_.CreateVector(bytes)));
  }

  void add_if(const std::vector<int>& inputs, const std::vector<int>& outputs, int then_graph,
              int else_graph) {
    add(fb::BuiltinOperator::IF, inputs, outputs, fb::CreateIfOptions(builder_, then_graph, else_graph),
        fb::BuiltinOptions::IfOptions);
  }

  flatbuffers::FlatBufferBuilder& builder() { return builder_; }

  /// What was added since the last graph is this one; the first of a file is the model.
  void end_graph(const std::vector<int>& inputs, const std::vector<int>& outputs) {
    graphs_.push_back(fb::CreateSubGraph(builder_, builder_.CreateVector(tensors_),
                                         builder_.CreateVector(inputs), builder_.CreateVector(outputs),
                                         builder_.CreateVector(operators_)));
    tensors_.clear();
    operators_.clear();
  }

  std::vector<std::byte> finish(const std::vector<int>& inputs, const std::vector<int>& outputs) {
    end_graph(inputs, outputs);
    fb::FinishModelBuffer(
        builder_, fb::CreateModel(builder_, 3, builder_.CreateVector(codes_), builder_.CreateVector(graphs_),
                                  0, builder_.CreateVector(buffers_)));
    const auto bytes = std::as_bytes(std::span(builder_.GetBufferPointer(), builder_.GetSize()));
    return {bytes.begin(), bytes.end()};
  }

 private:
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<fb::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<fb::Operator>> operators_;
  std::vector<flatbuffers::Offset<fb::SubGraph>> graphs_;
};

inline Graph read_tflite(std::span<const std::byte> bytes) {
  const auto graph = tflite::read(bytes);
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return as_onnx(*graph);
}

inline std::vector<float> floats(const RunModel& run, std::string_view name) {
  const auto values = run.trace.find(name)->values<float>();
  return {values.begin(), values.end()};
}

}  // namespace driftscope::test
