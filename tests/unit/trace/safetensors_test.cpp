#include "core/trace/safetensors.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "unit/support/allocation_watch.hpp"
#include "unit/support/mutate.hpp"
#include "unit/support/seed.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::safetensors_test {
namespace {

/// A file from its header's text and data.
std::vector<std::byte> file_of(const std::string& header, const std::string& data) {
  std::string text(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(text.data(), &length, sizeof length);
  text += header + data;
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string failure(const std::vector<std::byte>& bytes) {
  const auto file = read_safetensors(bytes);
  REQUIRE_MESSAGE(!file.ok(), "the file was accepted");
  return file.error().message;
}
std::string failure(const std::string& header, const std::string& data) {
  return failure(file_of(header, data));
}

Tensor any_tensor(DType dtype, Shape shape) {
  auto tensor = Tensor::make(dtype, std::move(shape));
  REQUIRE(tensor.ok());
  int i = 0;
  for (std::byte& byte : tensor->mutable_bytes())
    byte = static_cast<std::byte>(dtype == DType::boolean ? i++ % 2 : 7 * i++);
  return *std::move(tensor);
}

void check_equal(const Safetensors& got, const Safetensors& want) {
  CHECK(got.metadata == want.metadata);
  REQUIRE(got.tensors.size() == want.tensors.size());
  for (std::size_t i = 0; i < got.tensors.size(); ++i) {
    CHECK(got.tensors[i].name == want.tensors[i].name);
    const Tensor& a = got.tensors[i].tensor;
    const Tensor& b = want.tensors[i].tensor;
    CHECK(a.dtype() == b.dtype());
    CHECK(a.shape() == b.shape());
    CHECK(std::ranges::equal(a.bytes(), b.bytes()));
  }
}

}  // namespace

TEST_CASE("Safetensors_RoundTrip_IsExactForEveryDtype") {
  Safetensors file;
  file.metadata = {{"format", "x"}, {"quote", "\"é\n\\"}};
  for (const DType dtype :
       {DType::boolean, DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int64,
        DType::int32, DType::int16, DType::int8, DType::uint64, DType::uint32, DType::uint16, DType::uint8})
    file.tensors.push_back({std::string(dtype_name(dtype)), any_tensor(dtype, {3, 1, 2})});
  file.tensors.push_back({"scalar", any_tensor(DType::float32, {})});
  file.tensors.push_back({"z-empty", any_tensor(DType::float32, {0, 4})});
  file.tensors.push_back({"a-empty", any_tensor(DType::int64, {0})});
  file.tensors.push_back({"", any_tensor(DType::uint8, {1})});
  const auto bytes = write_safetensors(file);
  REQUIRE(bytes.ok());
  const auto again = read_safetensors(*bytes);
  REQUIRE_MESSAGE(again.ok(), again.error().message);
  check_equal(*again, file);
}

TEST_CASE("Safetensors_DataStartsAtAMultipleOf8") {
  for (std::size_t length = 0; length < 9; ++length) {
    const auto bytes = write_safetensors({{}, {{std::string(length, 'n'), any_tensor(DType::uint8, {5})}}});
    REQUIRE(bytes.ok());
    std::uint64_t header = 0;
    std::memcpy(&header, bytes->data(), sizeof header);
    CHECK(header % 8 == 0);
    CHECK(bytes->size() == 8 + header + 5);
  }
}

TEST_CASE("Safetensors_FileAsTheReferenceWriterMakesIt_IsRead") {
  // safetensors.numpy.save({"a": float32 [1, 2], "b": int64 scalar}) orders by alignment.
  const std::string header =
      R"({"b":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],)"
      R"("data_offsets":[8,16]}}      )";
  const auto file =
      read_safetensors(file_of(header, std::string("\x05\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 16)));
  REQUIRE_MESSAGE(file.ok(), file.error().message);
  REQUIRE(file->tensors.size() == 2);
  CHECK(file->tensors[0].name == "b");
  CHECK(file->tensors[0].tensor.shape().empty());
  CHECK(file->tensors[0].tensor.values<std::int64_t>()[0] == 5);
  CHECK(file->tensors[1].tensor.values<float>()[1] == 2.0f);
}

TEST_CASE("Safetensors_NoTensors_IsAFile") {
  CHECK(read_safetensors(file_of("{}", "")).ok());
  const auto bytes = write_safetensors({});
  REQUIRE(bytes.ok());
  CHECK(read_safetensors(*bytes).ok());
}

TEST_CASE("Safetensors_HeaderLength_IsChecked") {
  CHECK(holds(failure({}), "header's length is missing"));
  CHECK(holds(failure(std::vector<std::byte>(7)), "header's length is missing"));
  auto cut = file_of("{}", "");
  cut[0] = std::byte{200};
  CHECK(holds(failure(cut), "the file has 2 left"));
  const AllocationWatch watch;
  for (const int byte : {0, 4, 7}) {
    auto hostile = file_of("{}", "");
    hostile[static_cast<std::size_t>(byte)] = std::byte{0xff};
    CHECK_FALSE(read_safetensors(hostile).ok());
  }
  auto all = file_of("{}", "");
  std::fill_n(all.begin(), 8, std::byte{0xff});
  CHECK(holds(failure(all), "limit"));
  CHECK(watch.largest() < 10'000);
}

TEST_CASE("Safetensors_OffsetsThatDoNotFit_AreRejected") {
  const auto one = [](const std::string& offsets) {
    return R"({"t":{"dtype":"U8","shape":[4],"data_offsets":)" + offsets + "}}";
  };
  CHECK(read_safetensors(file_of(one("[0,4]"), "abcd")).ok());
  CHECK(holds(failure(one("[0,4]"), "abc"), "truncated"));
  CHECK(holds(failure(one("[0,4]"), "abcde"), "5 bytes of data, but the tensors take 4"));
  CHECK(holds(failure(one("[1,5]"), "abcde"), "starts at 1, expected 0"));
  CHECK_FALSE(read_safetensors(file_of(one("[4,0]"), "abcd")).ok());
  CHECK_FALSE(read_safetensors(file_of(one("[0,9223372036854775807]"), "abcd")).ok());
  CHECK_FALSE(read_safetensors(file_of(one("[0,18446744073709551615]"), "abcd")).ok());
  CHECK_FALSE(read_safetensors(file_of(one("[-4,0]"), "abcd")).ok());
  CHECK_FALSE(read_safetensors(file_of(one("[0.0,4]"), "abcd")).ok());
  CHECK_FALSE(read_safetensors(file_of(one("[0,4,4]"), "abcd")).ok());
  CHECK(holds(failure(one("[0,3]"), "abc"), "tensor 't': uint8 of shape 4 needs 4 bytes, got 3"));
}

TEST_CASE("Safetensors_OverlapsAndHoles_AreRejected") {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + first +
           R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + second + "}}";
  };
  CHECK(read_safetensors(file_of(two("[0,2]", "[2,4]"), "abcd")).ok());
  CHECK(read_safetensors(file_of(two("[2,4]", "[0,2]"), "abcd")).ok());
  CHECK(holds(failure(two("[0,2]", "[1,3]"), "abc"), "overlap"));
  CHECK(holds(failure(two("[0,2]", "[0,2]"), "ab"), "overlap"));
  CHECK(holds(failure(two("[0,2]", "[3,5]"), "abcde"), "holes"));
}

TEST_CASE("Safetensors_ShapesThatOverflow_AreRejected") {
  const auto shaped = [](const std::string& shape) {
    return R"({"t":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,4]}})";
  };
  const AllocationWatch watch;
  CHECK(read_safetensors(file_of(shaped("[1]"), "abcd")).ok());
  CHECK_FALSE(read_safetensors(file_of(shaped("[4294967296,4294967296]"), "abcd")).ok());
  CHECK_FALSE(read_safetensors(file_of(shaped("[4611686018427387905]"), "abcd")).ok());
  CHECK_FALSE(read_safetensors(file_of(shaped("[-1]"), "abcd")).ok());
  CHECK_FALSE(read_safetensors(file_of(shaped("[1e3]"), "abcd")).ok());
  CHECK_FALSE(read_safetensors(file_of(shaped("[[1]]"), "abcd")).ok());
  std::string ones = "[1";
  for (int i = 0; i < 40; ++i) ones += ",1";
  CHECK(holds(failure(shaped(ones + "]"), "abcd"), "dimensions"));
  CHECK(watch.largest() < 100'000);
}

TEST_CASE("Safetensors_HostileJson_IsRejected") {
  const std::string tensor = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  CHECK(holds(failure(R"({"t":)" + tensor + R"(,"t":)" + tensor + "}", "a"), "'t' twice"));
  CHECK(holds(failure(R"({"t":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "a"),
              "'dtype' twice"));
  for (const std::string header :
       {"", "[]", "null", "{", "{\"a\":}", "{\"a\":1}", "{\"a\":{}}", "{\"\xff\":1}", "{}x",
        "{\"__metadata__\":[]}", "{\"__metadata__\":{\"k\":1}}"}) {
    INFO(header);
    CHECK_FALSE(read_safetensors(file_of(header, "")).ok());
  }
  CHECK(holds(failure(R"({"t":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})", "a"), "'F4'"));
  CHECK(holds(failure(std::string(100'000, '['), ""), "nested"));
  CHECK(holds(failure("{\"a\":" + std::string(100'000, '['), ""), "nested"));
  CHECK(holds(failure(R"({"t":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", "\x02"),
              "expected 0 or 1"));
}

TEST_CASE("Safetensors_WhatCannotBeWritten_IsAnError") {
  const Tensor one = any_tensor(DType::float32, {1});
  const auto fails = [](const Safetensors& file, const std::string& part) {
    const auto bytes = write_safetensors(file);
    REQUIRE_FALSE(bytes.ok());
    CHECK(holds(bytes.error().message, part));
  };
  fails({{}, {{"a", one}, {"a", one}}}, "'a' is given twice");
  fails({{}, {{"\xff", one}}}, "not UTF-8");
  fails({{{"k", "\xff"}}, {}}, "not UTF-8");
  fails({{}, {{"__metadata__", one}}}, "reserves");
  fails({{}, {{"q", any_tensor(DType::int4, {2})}}}, "no dtype for int4");
}

TEST_CASE("Safetensors_Mutations_AreReadOrRejected") {
  const std::uint64_t seed = test_seed(11);
  SEED_INFO(seed);
  Rng rng(seed);
  Safetensors file{{{"format", "x"}}, {}};
  for (int i = 0; i < 5; ++i)
    file.tensors.push_back({"t" + std::to_string(i), any_tensor(DType::float32, {2, i})});
  const auto bytes = write_safetensors(file);
  REQUIRE(bytes.ok());
  for (int i = 0; i < 5000; ++i) {
    const auto damaged = mutated(*bytes, rng);
    const AllocationWatch watch;
    const auto read = read_safetensors(damaged);
    CHECK(watch.largest() <= 1 << 16);
    if (read.ok()) {  // accepted input can be written and is the same again
      const auto written = write_safetensors(*read);
      REQUIRE(written.ok());
      const auto again = read_safetensors(*written);
      REQUIRE(again.ok());
      check_equal(*again, *read);
    } else {
      CHECK_FALSE(read.error().message.empty());
    }
  }
}

}  // namespace driftscope::test::safetensors_test
