// The numbers of our part of the schema, once more, as other programs that read and write .tflite files have
// them: a misplaced field or a shifted union would still fit itself.
#include <doctest/doctest.h>

#include <tflite_schema/schema_generated.h>

namespace {

namespace fb = driftscope::tflite::fb;

// A field's slot in its table.
constexpr int slot(int vtable_offset) { return (vtable_offset - 4) / 2; }

static_assert(slot(fb::Model::VT_BUFFERS) == 4 && slot(fb::Model::VT_SIGNATURE_DEFS) == 7);
static_assert(slot(fb::SubGraph::VT_OPERATORS) == 3);
static_assert(slot(fb::Tensor::VT_BUFFER) == 2 && slot(fb::Tensor::VT_QUANTIZATION) == 4);
static_assert(slot(fb::Tensor::VT_SPARSITY) == 6 && slot(fb::Tensor::VT_SHAPE_SIGNATURE) == 7);
static_assert(slot(fb::IfOptions::VT_ELSE_SUBGRAPH_INDEX) == 1);
static_assert(slot(fb::Operator::VT_CUSTOM_OPTIONS) == 5);
static_assert(slot(fb::QuantizationParameters::VT_ZERO_POINT) == 3);
static_assert(slot(fb::QuantizationParameters::VT_QUANTIZED_DIMENSION) == 6);  // a union takes two
static_assert(slot(fb::OperatorCode::VT_BUILTIN_CODE) == 3);
static_assert(slot(fb::Operator::VT_BUILTIN_OPTIONS_TYPE) == 3 &&
              slot(fb::Operator::VT_BUILTIN_OPTIONS) == 4);
static_assert(slot(fb::Buffer::VT_OFFSET) == 1);
static_assert(slot(fb::SignatureDef::VT_SUBGRAPH_INDEX) == 4);
static_assert(slot(fb::Conv2DOptions::VT_FUSED_ACTIVATION_FUNCTION) == 3);
static_assert(slot(fb::Conv2DOptions::VT_DILATION_H_FACTOR) == 5);
static_assert(slot(fb::DepthwiseConv2DOptions::VT_DEPTH_MULTIPLIER) == 3);
static_assert(slot(fb::Pool2DOptions::VT_FILTER_HEIGHT) == 4);
static_assert(slot(fb::FullyConnectedOptions::VT_KEEP_NUM_DIMS) == 2);
static_assert(slot(fb::ResizeBilinearOptions::VT_HALF_PIXEL_CENTERS) == 3);

TEST_CASE("TfliteSchema_Numbers_AreThoseOfTheFormat") {
  using Code = fb::BuiltinOperator;
  const auto code = [](Code value) { return static_cast<int>(value); };
  CHECK(code(Code::CONV_2D) == 3);
  CHECK(code(Code::FULLY_CONNECTED) == 9);
  CHECK(code(Code::LOGISTIC) == 14);
  CHECK(code(Code::SOFTMAX) == 25);
  CHECK(code(Code::TRANSPOSE) == 39);
  CHECK(code(Code::STRIDED_SLICE) == 45);
  CHECK(code(Code::CAST) == 53);
  CHECK(code(Code::PADV2) == 60);
  CHECK(code(Code::TRANSPOSE_CONV) == 67);
  CHECK(code(Code::RSQRT) == 76);
  CHECK(code(Code::LEAKY_RELU) == 98);
  CHECK(code(Code::QUANTIZE) == 114);
  CHECK(code(Code::IF) == 118);
  CHECK(code(Code::BATCH_MATMUL) == 126);
  CHECK(code(Code::GELU) == 150);
  CHECK(code(Code::SIGN) == 158);
  using Options = fb::BuiltinOptions;
  const auto option = [](Options value) { return static_cast<int>(value); };
  CHECK(option(Options::Conv2DOptions) == 1);
  CHECK(option(Options::Pool2DOptions) == 5);
  CHECK(option(Options::FullyConnectedOptions) == 8);
  CHECK(option(Options::ReshapeOptions) == 17);
  CHECK(option(Options::ReducerOptions) == 27);
  CHECK(option(Options::MaximumMinimumOptions) == 39);
  CHECK(option(Options::TransposeConvOptions) == 49);
  CHECK(option(Options::LeakyReluOptions) == 75);
  CHECK(option(Options::QuantizeOptions) == 89);
  CHECK(option(Options::IfOptions) == 92);
  CHECK(option(Options::BatchMatMulOptions) == 101);
  CHECK(option(Options::GeluOptions) == 116);
  CHECK(static_cast<int>(fb::TensorType::INT8) == 9);
  CHECK(static_cast<int>(fb::TensorType::INT4) == 17);
}

}  // namespace
