// The contents of the written files: read back by the code that flatc generates from the schema. That other
// programs compute the same with them: tests/e2e/cli/tflite.test.mjs.
#include "core/convert/tflite/write.hpp"

#include <doctest/doctest.h>

#include <tflite_schema/schema_generated.h>

#include <numeric>

#include "core/convert/place_tensor.hpp"

namespace {

using namespace driftscope;
namespace fb = tflite::fb;

Tensor counting(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), 0.0F);
  return *Tensor::from_values<float>(std::move(shape), values);
}

class GraphBuilder {
 public:
  GraphBuilder& input(const std::string& name, Shape shape) {
    graph_.inputs.push_back(name);
    graph_.tensors[name] = {DType::float32, std::move(shape), {}};
    return *this;
  }
  GraphBuilder& constant(const std::string& name, Tensor value) {
    graph_.tensors[name] = {value.dtype(), value.shape(), {}};
    graph_.constants.emplace(name, std::move(value));
    return *this;
  }
  GraphBuilder& node(tf::Node node, Shape shape) {
    graph_.tensors[node.name] = {DType::float32, std::move(shape), {}};
    graph_.outputs = {node.name};
    graph_.nodes.push_back(std::move(node));
    return *this;
  }
  [[nodiscard]] tf::TfGraph& graph() { return graph_; }

 private:
  tf::TfGraph graph_;
};

const fb::Model* read(const std::vector<std::byte>& bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size());
  REQUIRE(fb::VerifyModelBuffer(verifier));
  return fb::GetModel(data);
}

std::vector<fb::BuiltinOperator> codes(const fb::Model* model) {
  std::vector<fb::BuiltinOperator> found;
  for (const fb::Operator* made : *model->subgraphs()->Get(0)->operators())
    found.push_back(model->operator_codes()->Get(made->opcode_index())->builtin_code());
  return found;
}

std::vector<std::int32_t> shape_of(const fb::Model* model, int tensor) {
  const auto* shape = model->subgraphs()->Get(0)->tensors()->Get(static_cast<unsigned>(tensor))->shape();
  return {shape->begin(), shape->end()};
}

GraphBuilder conv(const std::string& padding, std::vector<std::int64_t> pads) {
  GraphBuilder made;
  made.input("x", {1, 8, 9, 3}).constant("w", counting({3, 5, 3, 4}));
  tf::Node node{"y", "Conv2D", {"x", "w"}, {}, "Conv_0"};
  node.attributes["strides"] = std::vector<std::int64_t>{1, 2, 1, 1};
  node.attributes["padding"] = padding;
  if (!pads.empty()) node.attributes["explicit_paddings"] = std::move(pads);
  made.node(std::move(node), {1, 4, 9, 4});
  return made;
}

using Code = fb::BuiltinOperator;

TEST_CASE("TfliteWrite_File_HasSentinelSignatureAndAlignedBuffers") {
  const auto bytes = *tflite::write(conv("SAME", {}).graph(), {{"note", "text"}});
  const fb::Model* model = read(bytes);
  CHECK(fb::ModelBufferHasIdentifier(bytes.data()));
  CHECK(model->version() == 3);
  CHECK(model->buffers()->Get(0)->data() == nullptr);
  for (const fb::Buffer* buffer : *model->buffers())
    if (buffer->data() != nullptr)
      CHECK((reinterpret_cast<const std::byte*>(buffer->data()->data()) - bytes.data()) % 16 == 0);
  const fb::SignatureDef* signature = model->signature_defs()->Get(0);
  CHECK(signature->signature_key()->str() == "serving_default");
  CHECK(signature->inputs()->Get(0)->name()->str() == "x");
  CHECK(signature->outputs()->Get(0)->name()->str() == "y");
  const fb::Metadata* note = model->metadata()->Get(0);
  CHECK(note->name()->str() == "note");
  const auto* text = model->buffers()->Get(note->buffer())->data();
  CHECK(std::string(text->begin(), text->end()) == "text");
}

TEST_CASE("TfliteWrite_ConvSame_OneOperatorWithFilterOHWI") {
  const auto bytes = *tflite::write(conv("SAME", {}).graph());
  const fb::Model* model = read(bytes);
  REQUIRE(codes(model) == std::vector{Code::CONV_2D});
  const fb::Operator* made = model->subgraphs()->Get(0)->operators()->Get(0);
  const fb::Conv2DOptions* options = made->builtin_options_as_Conv2DOptions();
  REQUIRE(options != nullptr);
  CHECK(options->padding() == fb::Padding::SAME);
  CHECK(options->stride_h() == 2);
  CHECK(options->stride_w() == 1);
  CHECK(options->fused_activation_function() == fb::ActivationFunctionType::NONE);
  const int weights = made->inputs()->Get(1);
  CHECK(shape_of(model, weights) == std::vector<std::int32_t>{4, 3, 5, 3});
  const fb::Tensor* tensor = model->subgraphs()->Get(0)->tensors()->Get(static_cast<unsigned>(weights));
  const auto* data = reinterpret_cast<const float*>(model->buffers()->Get(tensor->buffer())->data()->data());
  // Output 1, row 2, column 0, channel 2 was [2][0][2][1] of 3x5x3x4.
  CHECK(data[((1 * 3 + 2) * 5 + 0) * 3 + 2] == static_cast<float>(((2 * 5 + 0) * 3 + 2) * 4 + 1));
  CHECK(shape_of(model, made->inputs()->Get(2)) == std::vector<std::int32_t>{4});  // a bias of zeros
}

TEST_CASE("TfliteWrite_ExplicitPaddings_SameWhereTheyFitElsePadBefore") {
  // Height 8 by steps of 2 with 3 rows: SAME pads one row behind.
  CHECK(codes(read(*tflite::write(conv("EXPLICIT", {0, 0, 0, 1, 2, 2, 0, 0}).graph()))) ==
        std::vector{Code::CONV_2D});
  const auto bytes = *tflite::write(conv("EXPLICIT", {0, 0, 1, 0, 2, 2, 0, 0}).graph());
  const fb::Model* model = read(bytes);
  REQUIRE(codes(model) == std::vector{Code::PAD, Code::CONV_2D});
  const fb::Operator* pad = model->subgraphs()->Get(0)->operators()->Get(0);
  CHECK(shape_of(model, pad->outputs()->Get(0)) == std::vector<std::int32_t>{1, 9, 13, 3});
  const fb::Operator* made = model->subgraphs()->Get(0)->operators()->Get(1);
  CHECK(made->builtin_options_as_Conv2DOptions()->padding() == fb::Padding::VALID);
  CHECK(made->inputs()->Get(0) == pad->outputs()->Get(0));
}

TEST_CASE("TfliteWrite_MaxPoolOfOtherPadding_IsPaddedWithMinusInfinity") {
  GraphBuilder made;
  made.input("x", {1, 4, 4, 2});
  tf::Node node{"y", "MaxPool", {"x"}, {}, "MaxPool_0"};
  node.attributes["ksize"] = std::vector<std::int64_t>{1, 2, 2, 1};
  node.attributes["strides"] = std::vector<std::int64_t>{1, 1, 1, 1};
  node.attributes["padding"] = std::string("EXPLICIT");
  node.attributes["explicit_paddings"] = std::vector<std::int64_t>{0, 0, 1, 0, 1, 0, 0, 0};
  made.node(std::move(node), {1, 4, 4, 2});
  const auto bytes = *tflite::write(made.graph());
  const fb::Model* model = read(bytes);
  REQUIRE(codes(model) == std::vector{Code::PADV2, Code::MAX_POOL_2D});
  const int fill = model->subgraphs()->Get(0)->operators()->Get(0)->inputs()->Get(2);
  const fb::Tensor* tensor = model->subgraphs()->Get(0)->tensors()->Get(static_cast<unsigned>(fill));
  const auto* data = reinterpret_cast<const float*>(model->buffers()->Get(tensor->buffer())->data()->data());
  CHECK(data[0] == -std::numeric_limits<float>::infinity());
}

TEST_CASE("TfliteWrite_MatMulOfConstants_IsFullyConnectedWithRowsOfOutputs") {
  GraphBuilder made;
  made.input("x", {2, 3}).constant("w", counting({3, 4})).node({"y", "MatMul", {"x", "w"}, {}, ""}, {2, 4});
  const auto bytes = *tflite::write(made.graph());
  const fb::Model* model = read(bytes);
  REQUIRE(codes(model) == std::vector{Code::FULLY_CONNECTED});
  const fb::Operator* product = model->subgraphs()->Get(0)->operators()->Get(0);
  CHECK(shape_of(model, product->inputs()->Get(1)) == std::vector<std::int32_t>{4, 3});
}

TEST_CASE("TfliteWrite_OutputThatIsAnInput_IsCopied") {
  GraphBuilder made;
  made.input("x", {2, 3}).graph().outputs = {"x"};
  const auto bytes = *tflite::write(made.graph());
  const fb::Model* model = read(bytes);
  CHECK(codes(model) == std::vector{Code::RESHAPE});
  CHECK(model->signature_defs()->Get(0)->outputs()->Get(0)->name()->str() == "x");
  CHECK(model->subgraphs()->Get(0)->outputs()->Get(0) != model->subgraphs()->Get(0)->inputs()->Get(0));
}

TEST_CASE("TfliteWrite_OperatorItLacks_ErrorNamesNodeAndReason") {
  GraphBuilder made;
  made.input("x", {2, 3}).node({"y", "Erf", {"x"}, {}, "Erf_7"}, {2, 3});
  const auto written = tflite::write(made.graph());
  REQUIRE(!written.ok());
  CHECK(written.error().kind == ErrorKind::unsupported);
  CHECK(written.error().message.find("Erf_7") != std::string::npos);
  CHECK(written.error().message.find("lacks the operator Erf") != std::string::npos);
}

TEST_CASE("Permuted_EveryOrder_MovesElements") {
  const Tensor moved = *convert::permuted(counting({2, 3, 4}), {2, 0, 1});
  CHECK(moved.shape() == Shape{4, 2, 3});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 3; ++k)
        CHECK(moved.values<float>()[static_cast<std::size_t>((i * 2 + j) * 3 + k)] ==
              static_cast<float>((j * 3 + k) * 4 + i));
}

}  // namespace
