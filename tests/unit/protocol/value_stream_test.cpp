#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/protocol/service.hpp"
#include "core/protocol/value_stream.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/mutate.hpp"

namespace driftscope::test::value_stream_test {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

std::vector<NamedTensor> three_values() {
  return {{"a", tensor<float>({5, 2}, counted(10))},
          {"none", tensor<float>({0}, {})},
          {"b", tensor<std::int64_t>({3}, {1, -2, 3})}};
}

/// Everything through pieces of at most `limit` bytes.
std::vector<Bytes> messages(ValueStream& stream, std::size_t limit) {
  std::vector<Bytes> all;
  while (!stream.empty()) {
    const auto pieces = stream.take(limit);
    REQUIRE(pieces.payload.size() <= limit);
    REQUIRE(!pieces.table.empty());
    all.push_back(pack_message(json_text(json{{"values", pieces.table}}), pieces.payload));
  }
  return all;
}

struct Received {
  std::vector<NamedTensor> tensors;
  ValueReceiver receiver;
  explicit Received(std::int64_t limit = 1 << 20)
      : receiver(
            [this](const std::string& name, const Tensor& tensor) {
              tensors.push_back({name, tensor});
              return Status();
            },
            limit) {}
};

Bytes message(const json& entry, std::size_t payload) {
  return pack_message(json_text(json{{"values", {entry}}}), Bytes(payload));
}

const json one_float = {{"name", "a"}, {"dtype", "float32"}, {"shape", {1}}, {"begin", 0}, {"bytes", 4}};

}  // namespace

TEST_CASE("ValueStream_InPiecesOfAnySize_ArrivesAsItWas") {
  for (const std::size_t limit : {1, 7, 40, 41, 1000}) {
    CAPTURE(limit);
    ValueStream stream;
    for (const NamedTensor& value : three_values()) stream.add(value.name, value.tensor);
    CHECK(stream.bytes() == 64);
    Received received;
    for (const Bytes& one : messages(stream, limit)) {
      const Status taken = received.receiver.take(one);
      REQUIRE_MESSAGE(taken.ok(), taken.error().message);
    }
    CHECK(stream.bytes() == 0);
    CHECK(received.receiver.finish().ok());
    const auto wanted = three_values();
    REQUIRE(received.tensors.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      CHECK(received.tensors[i].name == wanted[i].name);
      CHECK(received.tensors[i].tensor.shape() == wanted[i].tensor.shape());
      CHECK(received.tensors[i].tensor.dtype() == wanted[i].tensor.dtype());
      CHECK(std::ranges::equal(received.tensors[i].tensor.bytes(), wanted[i].tensor.bytes()));
    }
  }
}

TEST_CASE("ValueReceiver_WhatDoesNotFit_IsRejected") {
  const auto rejected = [](const json& change, std::size_t payload = 4) {
    json entry = one_float;
    entry.update(change);
    Received received;
    return !received.receiver.take(message(entry, payload)).ok();
  };
  CHECK_FALSE(rejected(json::object()));
  CHECK(rejected(json::object(), 3));
  CHECK(rejected(json::object(), 5));
  CHECK(rejected({{"begin", 4}}));
  CHECK(rejected({{"bytes", 8}}, 8));
  CHECK(rejected({{"bytes", -1}}));
  CHECK(rejected({{"bytes", 1e300}}));
  CHECK(rejected({{"dtype", "float31"}}));
  CHECK(rejected({{"shape", {-1}}}));
  CHECK(rejected({{"shape", {std::uint64_t{1} << 63}}}));
  CHECK(rejected({{"shape", std::vector<int>(33, 1)}}));
  CHECK(rejected({{"shape", {1LL << 40, 1LL << 40}}}));
  CHECK(rejected({{"name", 7}}));
  Received received;
  CHECK(!received.receiver.take(pack_message("[]", {})).ok());
  CHECK(!received.receiver.take(Bytes(3)).ok());
}

TEST_CASE("ValueReceiver_BeyondItsLimit_SaysWhatToDo") {
  Received received(7);
  CHECK(received.receiver.take(message(one_float, 4)).ok());
  const Status taken = received.receiver.take(message(one_float, 4));
  REQUIRE(!taken.ok());
  CHECK(taken.error().kind == ErrorKind::limit);
  CHECK(taken.error().message.find("--capture-nodes") != std::string::npos);
}

TEST_CASE("ValueReceiver_BrokenOff_IsNoticed") {
  Received received;
  const json half = {{"name", "a"}, {"dtype", "float32"}, {"shape", {2}}, {"begin", 0}, {"bytes", 4}};
  CHECK(received.receiver.take(message(half, 4)).ok());
  CHECK(received.tensors.empty());
  CHECK(!received.receiver.finish().ok());
  CHECK(!received.receiver.take(message(one_float, 4)).ok());  // another one before the rest of it
}

TEST_CASE("ValueReceiver_SinkThatFails_EndsIt") {
  ValueReceiver receiver([](const std::string&, const Tensor&) { return Status(io_error("disk full")); },
                         100);
  const Status taken = receiver.take(message(one_float, 4));
  REQUIRE(!taken.ok());
  CHECK(taken.error().message == "disk full");
}

}  // namespace driftscope::test::value_stream_test
