// Which inputs of a decoder are what, what a step gets, and which models are refused.
#include <doctest/doctest.h>

#include "core/decode/decoder.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::decoder_test {
namespace {

// Of a single layer, whose cache is the embedding of what was read.
ModelBuilder cached(const std::vector<Dim>& past = {"batch", 1, "past", 2}) {
  ModelBuilder model;
  model.input("input_ids", DType::int64, {"batch", "sequence"})
      .input("attention_mask", DType::int64, {"batch", "total"})
      .input("position_ids", DType::int32, {"batch", "sequence"})
      .input("use_cache_branch", DType::boolean, {1})
      .input("past_key_values.0.key", DType::float32, past)
      .initializer("table", tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}))
      .initializer("axes", tensor<std::int64_t>({1}, {1}))
      .node("Gather", {"table", "input_ids"}, {"words"})
      .node("Unsqueeze", {"words", "axes"}, {"heads"})
      .node("Concat", {"past_key_values.0.key", "heads"}, {"present.0.key"}, {integer("axis", 2)})
      .node("Identity", {"words"}, {"logits"})
      .output("logits")
      .output("present.0.key");
  return model;
}

std::string refusal(const ModelBuilder& model) {
  const auto decoder = recognise_decoder(built(model));
  REQUIRE(!decoder.ok());
  CHECK(decoder.error().kind == ErrorKind::unsupported);
  return decoder.error().message;
}

template <class T>
std::vector<T> values_of(const NamedInputs& inputs, const std::string& name, const Shape& shape) {
  for (const NamedTensor& named : inputs)
    if (named.name == name) {
      CHECK(named.tensor.shape() == shape);
      const auto values = named.tensor.values<T>();
      return {values.begin(), values.end()};
    }
  FAIL("no input " << name);
  return {};
}

}  // namespace

TEST_CASE("Decoder_Names_SayWhatInputsAre") {
  const auto decoder = recognise_decoder(built(cached()));
  REQUIRE_MESSAGE(decoder.ok(), decoder.error().message);
  CHECK(decoder->tokens == "input_ids");
  CHECK(decoder->attention_mask == "attention_mask");
  CHECK(decoder->position_ids == "position_ids");
  CHECK(decoder->use_cache == "use_cache_branch");
  CHECK(decoder->logits == "logits");
  CHECK(decoder->vocabulary == 3);
  CHECK(decoder->others.empty());
  REQUIRE(decoder->caches.size() == 1);
  CHECK(decoder->caches[0].past == "past_key_values.0.key");
  CHECK(decoder->caches[0].present == "present.0.key");
  CHECK(decoder->caches[0].axis == 2);
  CHECK(decoder->caches[0].empty == Shape{1, 1, 0, 2});
}

TEST_CASE("Decoder_Steps_GetWhatWasNotSeen") {
  const Graph graph = built(cached());
  const auto decoder = recognise_decoder(graph);
  REQUIRE(decoder.ok());
  DecoderState state;
  state.tokens = {2, 0};
  auto inputs = step_inputs(*decoder, graph, state, {});
  REQUIRE(inputs.ok());
  CHECK(values_of<std::int64_t>(*inputs, "input_ids", {1, 2}) == std::vector<std::int64_t>{2, 0});
  CHECK(values_of<std::int64_t>(*inputs, "attention_mask", {1, 2}) == std::vector<std::int64_t>{1, 1});
  CHECK(values_of<std::int32_t>(*inputs, "position_ids", {1, 2}) == std::vector<std::int32_t>{0, 1});
  CHECK(values_of<std::uint8_t>(*inputs, "use_cache_branch", {1}) == std::vector<std::uint8_t>{0});
  CHECK(values_of<float>(*inputs, "past_key_values.0.key", {1, 1, 0, 2}).empty());

  const std::vector<NamedTensor> grown = {{"present.0.key", tensor<float>({1, 1, 2, 2}, {5, 6, 1, 2})}};
  REQUIRE(take_caches(*decoder, grown, state).ok());
  state.tokens.push_back(1);
  inputs = step_inputs(*decoder, graph, state, {});
  REQUIRE(inputs.ok());
  CHECK(values_of<std::int64_t>(*inputs, "input_ids", {1, 1}) == std::vector<std::int64_t>{1});
  CHECK(values_of<std::int64_t>(*inputs, "attention_mask", {1, 3}) == std::vector<std::int64_t>{1, 1, 1});
  CHECK(values_of<std::int32_t>(*inputs, "position_ids", {1, 1}) == std::vector<std::int32_t>{2});
  CHECK(values_of<std::uint8_t>(*inputs, "use_cache_branch", {1}) == std::vector<std::uint8_t>{1});
  CHECK(values_of<float>(*inputs, "past_key_values.0.key", {1, 1, 2, 2}) == std::vector<float>{5, 6, 1, 2});

  // As long as before: a cache that does not grow.
  const Status status = take_caches(*decoder, grown, state);
  REQUIRE(!status.ok());
  CHECK(status.error().message == "'present.0.key' after 3 tokens is 1x1x2x2; expected 1x1x3x2");
  CHECK(!take_caches(*decoder, {}, state).ok());
}

TEST_CASE("Decoder_WithoutCaches_GetsAllTokensAgain") {
  ModelBuilder model;
  model.input("tokens", DType::int32, {"N", "L"})
      .input("encoded", DType::float32, {"N", 4})
      .initializer("table", tensor<float>({2, 2}, {1, 2, 3, 4}))
      .node("Gather", {"table", "tokens"}, {"scores"})
      .output("scores");
  const Graph graph = built(model);
  const auto decoder = recognise_decoder(graph);
  REQUIRE_MESSAGE(decoder.ok(), decoder.error().message);
  CHECK(decoder->tokens == "tokens");
  CHECK(decoder->logits == "scores");
  CHECK(decoder->others == std::vector<std::string>{"encoded"});
  DecoderState state;
  state.tokens = {1, 0};
  state.tokens = {std::int64_t{1} << 31};
  const auto wide = step_inputs(*decoder, graph, state, {});
  REQUIRE(!wide.ok());
  CHECK(wide.error().message == "'tokens': 2147483648 does not fit into int32, its type");
  state.tokens = {1, 0};
  REQUIRE(take_caches(*decoder, {}, state).ok());
  state.tokens.push_back(1);
  const NamedInputs others = {{"encoded", tensor<float>({1, 4}, {0, 0, 0, 0})}};
  const auto inputs = step_inputs(*decoder, graph, state, others);
  REQUIRE(inputs.ok());
  CHECK(inputs->size() == 2);
  CHECK(values_of<std::int32_t>(*inputs, "tokens", {1, 3}) == std::vector<std::int32_t>{1, 0, 1});
}

TEST_CASE("Decoder_WhatIsNone_IsRefusedWithWhatIsExpected") {
  CHECK(refusal(cached({1, 1, 16, 2})).find("caches of fixed length") != std::string::npos);
  CHECK(refusal(cached({"batch", "heads", "past", 2})).find("has 2 open sizes") != std::string::npos);
  ModelBuilder picture;
  picture.input("x", DType::float32, {1, 3}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(refusal(picture).find("no input takes tokens") != std::string::npos);
  CHECK(refusal(picture).find("x float32 1x3") != std::string::npos);
  ModelBuilder lonely;
  lonely.input("input_ids", DType::int64, {1, "L"})
      .input("past_key_values.0.key", DType::float32, {1, 1, "past", 2})
      .node("Identity", {"past_key_values.0.key"}, {"other"})
      .output("other");
  CHECK(refusal(lonely).find("no output continues this cache") != std::string::npos);
  ModelBuilder encoder;
  encoder.input("input_ids", DType::int64, {1, "L"})
      .node("Identity", {"input_ids"}, {"same"})
      .output("same", DType::int64, {1, "L"});
  CHECK(refusal(encoder).find("no output is the logits") != std::string::npos);
}

}  // namespace driftscope::test::decoder_test
