#include <doctest/doctest.h>

#include "core/base/shared_bytes.hpp"
#include "core/model/onnx_reader.hpp"
#include "unit/support/model_builder.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::onnx_tensor_test {
namespace {

/// A TensorProto by hand.
struct Message {
  std::string text;
  Message(DType dtype, const Shape& shape) {
    protozero::pbf_writer writer(text);
    for (const std::int64_t size : shape) writer.add_int64(1, size);
    writer.add_int32(2, static_cast<std::int32_t>(dtype));
    writer.add_string(8, "w");
  }
  Message& integers(std::uint32_t tag, const std::vector<std::int64_t>& values) {
    protozero::pbf_writer(text).add_packed_int64(tag, values.begin(), values.end());
    return *this;
  }
  Message& raw(const std::string& bytes) {
    protozero::pbf_writer(text).add_bytes(9, bytes);
    return *this;
  }
  Message& external(const std::string& key, const std::string& value) {
    protozero::pbf_writer writer(text);
    protozero::pbf_writer entry(writer, 13);
    entry.add_string(1, key);
    entry.add_string(2, value);
    return *this;
  }
  Message& location(std::int64_t number) {
    protozero::pbf_writer(text).add_int64(14, number);
    return *this;
  }
};

Tensor read(const Message& message) {
  auto named = read_tensor_proto(bytes_of(message.text));
  REQUIRE_MESSAGE(named.ok(), named.error().message);
  CHECK(named->name == "w");
  return named->tensor;
}

Error failure(const Message& message) {
  const auto named = read_tensor_proto(bytes_of(message.text));
  REQUIRE_MESSAGE(!named.ok(), "the tensor was accepted");
  return named.error();
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  const auto view = tensor.values<T>();
  return {view.begin(), view.end()};
}

constexpr std::uint32_t int32_data = 5;
constexpr std::uint32_t int64_data = 7;
constexpr std::uint32_t uint64_data = 11;

}  // namespace

TEST_CASE("ReadTensor_RawData") {
  const Tensor wanted = tensor<float>({2, 3}, {1, -2, 3, 0.5f, 1e-40f, 7});
  const auto named = read_tensor_proto(bytes_of(tensor_message("w", wanted)));
  REQUIRE(named.ok());
  CHECK(named->tensor.shape() == Shape{2, 3});
  CHECK(values<float>(named->tensor) == values<float>(wanted));
}

TEST_CASE("ReadTensor_TypedDataOfEveryType") {
  CHECK(values<std::int8_t>(read(Message(DType::int8, {3}).integers(int32_data, {-128, 0, 127}))) ==
        std::vector<std::int8_t>{-128, 0, 127});
  CHECK(values<std::uint8_t>(read(Message(DType::uint8, {2}).integers(int32_data, {0, 255}))) ==
        std::vector<std::uint8_t>{0, 255});
  CHECK(values<std::int16_t>(read(Message(DType::int16, {1}).integers(int32_data, {-32768}))) ==
        std::vector<std::int16_t>{-32768});
  CHECK(values<std::uint16_t>(read(Message(DType::uint16, {1}).integers(int32_data, {65535}))) ==
        std::vector<std::uint16_t>{65535});
  CHECK(values<std::int32_t>(read(Message(DType::int32, {2}).integers(int32_data, {INT32_MIN, INT32_MAX}))) ==
        std::vector<std::int32_t>{INT32_MIN, INT32_MAX});
  CHECK(values<std::int64_t>(read(Message(DType::int64, {1}).integers(int64_data, {INT64_MIN}))) ==
        std::vector<std::int64_t>{INT64_MIN});
  CHECK(values<std::uint64_t>(read(Message(DType::uint64, {1}).integers(uint64_data, {-1}))) ==
        std::vector<std::uint64_t>{UINT64_MAX});
  CHECK(values<std::uint32_t>(read(Message(DType::uint32, {1}).integers(uint64_data, {4294967295}))) ==
        std::vector<std::uint32_t>{UINT32_MAX});
  CHECK(values<std::uint8_t>(read(Message(DType::boolean, {2}).integers(int32_data, {1, 0}))) ==
        std::vector<std::uint8_t>{1, 0});
  // The bits of 1.0 as binary16 and as bfloat16.
  CHECK(values<std::uint16_t>(read(Message(DType::float16, {1}).integers(int32_data, {0x3c00}))) ==
        std::vector<std::uint16_t>{0x3c00});
  CHECK(values<std::uint16_t>(read(Message(DType::bfloat16, {1}).integers(int32_data, {0x3f80}))) ==
        std::vector<std::uint16_t>{0x3f80});
}

TEST_CASE("ReadTensor_FourBitTypes_ArePackedTwoToAByte") {
  const Tensor tensor = read(Message(DType::int4, {3}).integers(int32_data, {0xf1, 0x07}));
  REQUIRE(tensor.bytes().size() == 2);
  CHECK(tensor.bytes()[0] == std::byte{0xf1});
  CHECK(tensor.bytes()[1] == std::byte{0x07});
  CHECK(read(Message(DType::uint4, {3}).raw(std::string("\x21\x03", 2))).elements() == 3);
  CHECK(holds(failure(Message(DType::uint4, {3}).integers(int32_data, {1, 2, 3})).message,
              "has 3 numbers, the shape needs 2"));
}

TEST_CASE("ReadTensor_ScalarsAndEmptyTensors") {
  CHECK(read(Message(DType::int64, {}).integers(int64_data, {5})).shape().empty());
  CHECK(read(Message(DType::float32, {0, 3})).elements() == 0);
  CHECK(read(Message(DType::float32, {0, 3}).raw("")).elements() == 0);
}

TEST_CASE("ReadTensor_ValuesThatDoNotFit_AreNamed") {
  CHECK(holds(failure(Message(DType::uint8, {2}).integers(int32_data, {3, 256})).message,
              "element 1 is 256, which does not fit uint8"));
  CHECK_FALSE(read_tensor_proto(bytes_of(Message(DType::uint32, {1}).integers(uint64_data, {-1}).text)).ok());
  CHECK_FALSE(read_tensor_proto(bytes_of(Message(DType::boolean, {1}).integers(int32_data, {2}).text)).ok());
  CHECK(holds(failure(Message(DType::boolean, {1}).raw("\x02")).message, "expected 0 or 1"));
}

TEST_CASE("ReadTensor_DataOfAnotherSizeThanTheShape_IsRejected") {
  CHECK(holds(failure(Message(DType::float32, {2}).raw("1234567")).message,
              "tensor 'w': raw_data: float32 of shape 2 needs 8 bytes, got 7"));
  CHECK(holds(failure(Message(DType::int64, {3}).integers(int64_data, {1, 2})).message,
              "int64_data has 2 numbers, the shape needs 3"));
  CHECK_FALSE(read_tensor_proto(bytes_of(Message(DType::float32, {1}).text)).ok());
  // Data in the field of another type does not count.
  CHECK_FALSE(read_tensor_proto(bytes_of(Message(DType::int32, {1}).integers(int64_data, {1}).text)).ok());
}

TEST_CASE("ReadTensor_ShapesThatOverflow_AreRejected") {
  const std::int64_t big = std::int64_t{1} << 32;
  CHECK_FALSE(read_tensor_proto(bytes_of(Message(DType::float32, {big, big}).text)).ok());
  CHECK_FALSE(read_tensor_proto(bytes_of(Message(DType::float32, {big, big, 0}).text)).ok());
  CHECK_FALSE(read_tensor_proto(bytes_of(Message(DType::float32, {-1}).raw("1234").text)).ok());
  CHECK(failure(Message(DType::float32, {big, 1024})).kind == ErrorKind::limit);
  CHECK(failure(Message(DType::float32, Shape(33, 1)).raw("1234")).kind == ErrorKind::limit);
}

TEST_CASE("ReadTensor_StringsAndUnknownTypes_AreUnsupported") {
  CHECK(failure(Message(DType::string, {1})).kind == ErrorKind::unsupported);
  const Error unknown = failure(Message(static_cast<DType>(27), {1}).raw("1"));
  CHECK(unknown.kind == ErrorKind::unsupported);
  CHECK(holds(unknown.message, "number 27 of ONNX"));
}

TEST_CASE("ReadOnnx_UnusedStringInitializer_DoesNotStopTheModel") {
  const std::string strings = Message(DType::string, {1}).text;
  ModelBuilder builder;
  builder.input("x", DType::float32, {1}).node("Relu", {"x"}, {"y"}).output("y");
  builder.graph_field(5, strings);
  const auto model = read_onnx(builder.bytes());
  REQUIRE(model.ok());
  REQUIRE(model->graph.unsupported_initializers.size() == 1);
  CHECK(model->graph.unsupported_initializers[0].name == "w");
  CHECK(build_graph(*model).ok());
  builder.node("Concat", {"w"}, {"z"});
  CHECK(holds(built(builder).nodes[1].opaque, "node 'Concat_1': initializer 'w': elements of type string"));
}

namespace {

/// A file "w.bin" of ten bytes 0 … 9 that records the requested ranges.
struct OneFile {
  std::vector<std::string> asked;
  ExternalData loader() {
    return
        [this](const std::string& location, std::int64_t offset, std::int64_t length) -> Result<ByteSource> {
          asked.push_back(location);
          if (location != "sub/w.bin") return io_error("no such file");
          std::vector<std::byte> bytes;
          for (std::int64_t i = offset; i < std::min<std::int64_t>(10, offset + length); ++i)
            bytes.push_back(static_cast<std::byte>(i));
          return SharedBytes(std::move(bytes)).source();
        };
  }
};

Result<Model> read_external(const Message& message, OneFile& file) {
  ModelBuilder builder;
  builder.graph_field(5, message.text);
  return read_onnx(builder.bytes(), file.loader());
}

Message external(const std::string& location) {
  return Message(DType::uint8, {4}).location(1).external("location", location);
}

}  // namespace

TEST_CASE("ExternalData_IsLoadedFromOffset") {
  OneFile file;
  const auto model =
      read_external(external("sub/w.bin").external("offset", "3").external("length", "4"), file);
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  CHECK(values<std::uint8_t>(model->graph.initializers.at(0).tensor) ==
        std::vector<std::uint8_t>{3, 4, 5, 6});
  // Without a length it is that of the shape.
  CHECK(read_external(external("sub/w.bin"), file).ok());
}

TEST_CASE("ExternalData_Deferred_IsReadOnFirstUse") {
  int reads = 0;
  const ExternalData find = [&](const std::string&, std::int64_t offset, std::int64_t length) {
    ByteSource source;
    source.size = static_cast<std::uint64_t>(length);
    source.read = [&reads, offset](std::uint64_t at, std::span<std::byte> target) {
      ++reads;
      std::ranges::fill(target, static_cast<std::byte>(offset + static_cast<std::int64_t>(at)));
    };
    return Result<ByteSource>(source);
  };
  ModelBuilder builder;
  const Message large =
      Message(DType::uint8, {20'000}).location(1).external("location", "w.bin").external("offset", "7");
  builder.graph_field(5, large.text);
  const std::vector<std::byte> bytes = builder.bytes();
  const auto deferred = read_onnx(source_of(bytes), find, Weights::deferred);
  REQUIRE_MESSAGE(deferred.ok(), deferred.error().message);
  CHECK(reads == 0);
  const Tensor& tensor = deferred->graph.initializers.at(0).tensor;
  CHECK_FALSE(tensor.in_memory());
  CHECK(tensor.bytes()[0] == std::byte{7});
  CHECK(reads == 1);
  const auto at_once = read_onnx(source_of(bytes), find);
  REQUIRE(at_once.ok());
  CHECK(reads == 2);
  CHECK(at_once->graph.initializers.at(0).tensor.in_memory());
}

TEST_CASE("ExternalData_LocationsOutsideTheFolder_AreNeverAskedFor") {
  OneFile file;
  for (const std::string location :
       {"../w.bin", "a/../../w.bin", "/etc/passwd", "a/..", "..", "", "C:w.bin", "..\\w.bin", "a\\b"}) {
    const auto model = read_external(external(location), file);
    REQUIRE_FALSE(model.ok());
    CHECK(model.error().kind == ErrorKind::bad_input);
    CHECK(holds(model.error().message, "initializer 0 'w': external data: location"));
  }
  CHECK_FALSE(read_external(external(std::string("w\0x", 3)), file).ok());
  CHECK(file.asked.empty());
}

TEST_CASE("ExternalData_MissingOrShort_SaysWhichFile") {
  OneFile file;
  const auto missing = read_external(external("gone.bin"), file);
  REQUIRE_FALSE(missing.ok());
  CHECK(holds(missing.error().message, "'gone.bin': no such file"));
  const auto cut = read_external(external("sub/w.bin").external("offset", "8"), file);
  REQUIRE_FALSE(cut.ok());
  CHECK(holds(cut.error().message, "expected 4 bytes at offset 8, got 2"));
}

TEST_CASE("ExternalData_BadNumbers_AreRejected") {
  OneFile file;
  for (const std::string number : {"-1", "x", "", "1.5", "99999999999999999999", " 1"})
    CHECK_FALSE(read_external(external("sub/w.bin").external("offset", number), file).ok());
  CHECK_FALSE(read_external(external("sub/w.bin").external("offset", "9223372036854775807"), file).ok());
  const auto other = read_external(external("sub/w.bin").external("length", "5"), file);
  REQUIRE_FALSE(other.ok());
  CHECK(holds(other.error().message, "length is 5 bytes, the shape needs 4"));
  CHECK_FALSE(read_external(external("sub/w.bin").external("location", "w.bin"), file).ok());
  CHECK_FALSE(read_external(Message(DType::uint8, {4}).location(1), file).ok());
  CHECK(file.asked.empty());
}

TEST_CASE("ExternalData_WhereThereAreNoFiles_SaysHowToSave") {
  ModelBuilder builder;
  builder.graph_field(5, external("sub/w.bin").text);
  const auto model = read_onnx(builder.bytes());
  REQUIRE_FALSE(model.ok());
  CHECK(holds(model.error().message, "save the model in one file"));
}

}  // namespace driftscope::test::onnx_tensor_test
