// uint8 between quantized operators is held as int8, and given back as it was.
#include <doctest/doctest.h>

#include <tflite_schema/schema_generated.h>

#include "core/convert/tflite/signed_values.hpp"
#include "core/convert/tflite/to_tflite.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/runtime/bind_inputs.hpp"

#include <fstream>
#include <iterator>

namespace {

using namespace driftscope;
namespace fb = tflite::fb;

Graph bound_model(const std::string& name) {
  std::ifstream file(std::string(DRIFTSCOPE_SOURCE_DIR) + "/assets/models/" + name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Graph graph = *build_graph(*read_onnx(std::as_bytes(std::span(text))));
  const Graph inferred = *infer_shapes(graph);
  return *bind_inputs(inferred, *seeded_inputs(inferred, 1))->graph;
}

TEST_CASE("TfliteQuantized_LeNet5Int8_KernelsOfInt8AndUint8Outside") {
  const Graph graph = bound_model("lenet5-int8.onnx");
  const auto model = tflite::to_tflite(graph, {{"conv1.out"}, {}});
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  const convert::PlacedValue& conv = model->values.at("conv1.out");
  CHECK(conv.dtype == DType::uint8);
  CHECK(conv.name == "conv1.out/uint8");
  const fb::Model* file = fb::GetModel(model->files[0].bytes.data());
  const fb::SubGraph* graph_in_file = file->subgraphs()->Get(0);
  int int8_convolutions = 0;
  for (const fb::Operator* made : *graph_in_file->operators()) {
    const auto code = file->operator_codes()->Get(made->opcode_index())->builtin_code();
    if (code != fb::BuiltinOperator::CONV_2D) continue;
    const fb::Tensor* weights = graph_in_file->tensors()->Get(static_cast<unsigned>(made->inputs()->Get(1)));
    const fb::Tensor* bias = graph_in_file->tensors()->Get(static_cast<unsigned>(made->inputs()->Get(2)));
    CHECK(weights->type() == fb::TensorType::INT8);
    CHECK(weights->quantization()->quantized_dimension() == 0);
    CHECK(weights->quantization()->scale()->size() == static_cast<unsigned>(weights->shape()->Get(0)));
    CHECK(bias->type() == fb::TensorType::INT32);
    ++int8_convolutions;
  }
  CHECK(int8_convolutions == 2);
}

}  // namespace
