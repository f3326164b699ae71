// Captured values that accelerators must not fuse away.
#include "core/convert/tflite/captured_copies.hpp"

#include <doctest/doctest.h>

#include "core/convert/tflite/reader/read.hpp"
#include "core/convert/tflite/to_tflite.hpp"
#include "core/eval/infer_shapes.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::captured_copies_test {

TEST_CASE("ToAccelerator_CapturedValue_HasAReaderBesideTheNextNode") {
  const auto graph = infer_shapes(built(ModelBuilder()
                                            .input("x", DType::float32, {1, 1, 2, 2})
                                            .initializer("w", tensor<float>({1, 1, 1, 1}, {2}))
                                            .initializer("k", tensor<float>({}, {3}))
                                            .node("Conv", {"x", "w"}, {"c"})
                                            .node("Mul", {"c", "k"}, {"y"})
                                            .output("y")));
  REQUIRE(graph.ok());
  const auto readers = [](const convert::ConvertedModel& model, const std::string& tensor) {
    const auto read = tflite::read(model.files[0].bytes);
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    int count = 0;
    for (const tf::Node& node : read->nodes)
      count += static_cast<int>(std::ranges::count(node.inputs, tensor));
    return count;
  };
  const auto plain = tflite::to_litert(*graph, {{"c"}, {}});
  REQUIRE_MESSAGE(plain.ok(), plain.error().message);
  CHECK(plain->values.at("c").name == "c");
  CHECK(readers(*plain, "c") == 1);
  const auto copied = tflite::to_accelerator(*graph, {{"c"}, {}});
  REQUIRE_MESSAGE(copied.ok(), copied.error().message);
  CHECK(copied->values.at("c").name == "c/captured");
  CHECK(copied->values.at("c").order == plain->values.at("c").order);
  CHECK(readers(*copied, "c") == 2);
  // Nothing is read after the graph's own output, and nothing is captured without being asked for.
  CHECK(copied->values.at("y").name == plain->values.at("y").name);
  CHECK(readers(*tflite::to_accelerator(*graph, {}), "c") == 1);
}

TEST_CASE("ToLiteRt_CapturedInt8_IsUint8") {
  const auto graph = infer_shapes(built(ModelBuilder()
                                            .opset(13)
                                            .input("x", DType::float32, {1, 4})
                                            .initializer("s", tensor<float>({}, {0.5F}))
                                            .initializer("z", tensor<std::int8_t>({}, {-3}))
                                            .node("QuantizeLinear", {"x", "s", "z"}, {"q"})
                                            .node("DequantizeLinear", {"q", "s", "z"}, {"y"})
                                            .output("y")));
  REQUIRE(graph.ok());
  const auto made = tflite::to_litert(*graph, {{"q"}, {}});
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  const convert::PlacedValue& place = made->values.at("q");
  CHECK(place.dtype == DType::uint8);
  CHECK(place.offset == 128);
  const auto read = tflite::read(made->files[0].bytes);
  REQUIRE(read.ok());
  CHECK(read->tensors.at(place.name).quantization.zero_points == std::vector<std::int64_t>{125});
}

}  // namespace driftscope::test::captured_copies_test
