// A model read piece by piece from a source must equal the one read as a whole.
#include <doctest/doctest.h>

#include <algorithm>
#include <span>

#include "core/base/sha256.hpp"
#include "core/model/model_outline.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::model_outline_test {
namespace {

constexpr std::int64_t rows = 40;
constexpr std::int64_t columns = 130;  // 20.8 kB

std::vector<float> counting(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return values;
}

std::vector<std::byte> model_bytes() {
  return ModelBuilder("outlined")
      .input("x", DType::float32, {"N", rows})
      .initializer("small", tensor<float>({3}, {1, 2, 3}))
      .initializer("large", tensor<float>({rows, columns}, counting(rows * columns)))
      .initializer("bias", tensor<float>({columns}, counting(columns)))
      .initializer("other", tensor<float>({columns, rows}, counting(rows * columns)))
      .node("Gemm", {"x", "large", "bias"}, {"y"})
      .node("MatMul", {"y", "other"}, {"z"})
      .output("z")
      .bytes();
}

}  // namespace

TEST_CASE("ModelOutline_LeavesOutTheDataOfLargeInitializers") {
  const auto bytes = model_bytes();
  const auto outline = outline_model(source_of(bytes));
  CHECK(bytes.size() > 2 * 4 * rows * columns);
  CHECK(outline.size() < 2000);
  CHECK(outline.size() > 4 * columns);  // the bias is still there
}

TEST_CASE("ModelOutline_ReadPieceByPiece_IsTheSameModel") {
  const auto bytes = model_bytes();
  const auto whole = read_onnx(bytes);
  const auto pieces = read_onnx(source_of(bytes));
  REQUIRE_MESSAGE(whole.ok(), whole.error().message);
  REQUIRE_MESSAGE(pieces.ok(), pieces.error().message);
  CHECK(pieces->sha256 == whole->sha256);
  CHECK(pieces->graph.nodes.size() == whole->graph.nodes.size());
  REQUIRE(pieces->graph.initializers.size() == whole->graph.initializers.size());
  for (std::size_t i = 0; i < whole->graph.initializers.size(); ++i) {
    const NamedTensor& got = pieces->graph.initializers[i];
    const NamedTensor& want = whole->graph.initializers[i];
    CHECK(got.name == want.name);
    CHECK(got.tensor.shape() == want.tensor.shape());
    CHECK(std::ranges::equal(got.tensor.bytes(), want.tensor.bytes()));
  }
}

TEST_CASE("ModelOutline_OfAModelCutAnywhere_FailsAsTheWholeDoes") {
  const auto bytes = model_bytes();
  for (std::size_t size = 0; size < bytes.size(); size += size < 400 ? 1 : 97) {
    CAPTURE(size);
    const auto cut = std::span(bytes).first(size);
    const auto whole = read_onnx(cut);
    const auto pieces = read_onnx(source_of(cut));
    REQUIRE(pieces.ok() == whole.ok());
    if (!whole.ok()) CHECK(pieces.error().message == whole.error().message);
  }
}

TEST_CASE("ModelOutline_RawDataOfAnotherLength_NamesBoth") {
  // TensorProto: dims 5000, float32, name, raw_data of 4 bytes less than that needs.
  const std::string data(4 * 5000 - 4, '\0');
  const std::string tensor = std::string("\x08\x88\x27\x10\x01\x42\x01w\x4a\x9c\x9c\x01") + data;
  ModelBuilder builder;
  builder.graph_field(5, tensor);
  const auto bytes = builder.bytes();
  const auto model = read_onnx(source_of(bytes));
  REQUIRE_FALSE(model.ok());
  CHECK(model.error().message == read_onnx(bytes).error().message);
  CHECK(model.error().message.find("needs 20000 bytes, got 19996") != std::string::npos);
}

TEST_CASE("ModelOutline_AModelThatNamesItsOwnBytes_StaysInside") {
  const std::string location(own_bytes_location);
  const auto entry = [](const std::string& key, const std::string& value) {
    const auto field = [](char tag, const std::string& text) {
      return std::string{tag, static_cast<char>(text.size())} + text;
    };
    return field(0x6a, field(0x0a, key) + field(0x12, value));
  };
  const std::string tensor = std::string("\x08\x04\x10\x02\x42\x01w\x70\x01") + entry("location", location) +
                             entry("offset", "9999999");
  ModelBuilder builder;
  builder.graph_field(5, tensor);
  const auto bytes = builder.bytes();
  const auto model = read_onnx(source_of(bytes));
  REQUIRE_FALSE(model.ok());
  CHECK(model.error().message.find("4 bytes at 9999999 are needed, the model has") != std::string::npos);
  CHECK_FALSE(read_onnx(bytes).ok());
}

TEST_CASE("Sha256_OfASource_IsThatOfItsBytes") {
  constexpr std::size_t piece = std::size_t{1} << 20;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{55}, std::size_t{64},
                                 std::size_t{127}, piece - 1, piece, piece + 1, 2 * piece + 77}) {
    CAPTURE(size);
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
    CHECK(sha256_hex(source_of(bytes)) == sha256_hex(bytes));
  }
}

}  // namespace driftscope::test::model_outline_test
