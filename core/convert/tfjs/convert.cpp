#include "core/convert/tfjs/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "core/base/json.hpp"
#include "core/base/sha256.hpp"
#include "core/convert/tf/from_onnx.hpp"
#include "core/convert/tfjs/dialect.hpp"
#include "core/convert/tfjs/graph_def.hpp"

namespace driftscope::convert::tfjs {
namespace {

using nlohmann::json;

// As TensorFlow's converter cuts them, so that browsers fetch them side by side and cache each.
constexpr std::size_t shard_bytes = std::size_t{4} << 20;
constexpr std::size_t hash_digits = 16;

File file_of(std::string name, std::span<const std::byte> bytes) {
  return {std::move(name), std::vector<std::byte>(bytes.begin(), bytes.end())};
}

std::string_view weight_type(DType dtype) {
  switch (dtype) {
    case DType::int32: return "int32";
    case DType::boolean: return "bool";
    default: return "float32";
  }
}

// The constants one after the other, and what is where.
struct Weights {
  json specs = json::array();
  std::vector<std::byte> bytes;
};
Weights weights_of(const tf::TfGraph& graph) {
  Weights weights;
  for (const auto& [name, tensor] : graph.constants) {
    weights.specs.push_back(
        {{"name", name}, {"shape", tensor.shape()}, {"dtype", weight_type(tensor.dtype())}});
    const auto bytes = tensor.bytes();
    weights.bytes.insert(weights.bytes.end(), bytes.begin(), bytes.end());
  }
  return weights;
}

// What begins `text`, removed.
bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}
bool take_digits(std::string_view& text, std::string_view digits) {
  const std::size_t count = std::min(text.find_first_not_of(digits), text.size());
  text.remove_prefix(count);
  return count > 0;
}

/// JSON has no other numbers, and TensorFlow.js takes its defaults for null.
Status expect_finite(const tf::TfGraph& graph) {
  for (const tf::Node& node : graph.nodes)
    for (const auto& [name, value] : node.attributes)
      if (const auto* number = std::get_if<float>(&value); number != nullptr && !std::isfinite(*number))
        return unsupported(
            fmt::format("node {}: {} is {}, which model.json cannot hold", node.name, name, *number));
  return {};
}

}  // namespace

bool is_named_by_contents(std::string_view name) {
  constexpr std::string_view decimal = "0123456789";
  if (!take(name, "group1-shard") || !take_digits(name, decimal) || !take(name, "of") ||
      !take_digits(name, decimal) || !take(name, "-"))
    return false;
  const std::string_view hash = name.substr(0, hash_digits);
  return hash.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         name.substr(hash.size()) == ".bin";
}

Result<ConvertedModel> convert(const Graph& graph, const ConvertOptions& options) {
  DRIFTSCOPE_TRY(tf::Lowered lowered, tf::from_onnx(graph, options, dialect()));
  DRIFTSCOPE_CHECK(expect_finite(lowered.graph));
  Weights weights = weights_of(lowered.graph);
  ConvertedModel model;
  const std::size_t shards = (weights.bytes.size() + shard_bytes - 1) / shard_bytes;
  json paths = json::array();
  for (std::size_t i = 0; i < shards; ++i) {
    const std::size_t begin = i * shard_bytes;
    const std::size_t size = std::min(shard_bytes, weights.bytes.size() - begin);
    const auto bytes = std::span(weights.bytes).subspan(begin, size);
    const std::string contents =
        options.names_by_contents ? "-" + sha256_hex(bytes).substr(0, hash_digits) : std::string();
    model.files.push_back(file_of(fmt::format("group1-shard{}of{}{}.bin", i + 1, shards, contents), bytes));
    paths.push_back(model.files.back().name);
  }
  json topology = {
      {"format", "graph-model"},
      {"signature",
       {{"inputs", signature_of(lowered.graph, lowered.graph.inputs)},
        {"outputs", signature_of(lowered.graph, lowered.graph.outputs)}}},
      {"modelTopology", graph_def(lowered.graph)},
      {"weightsManifest", json::array({{{"paths", paths}, {"weights", std::move(weights.specs)}}})}};
  if (options.says_origin) topology["generatedBy"] = topology["convertedBy"] = "driftscope";
  const std::string text = json_text(topology);
  model.files.insert(model.files.begin(), file_of("model.json", std::as_bytes(std::span(text))));
  model.values = std::move(lowered.values);
  model.without = std::move(lowered.without);
  model.facts = std::move(lowered.facts);
  return model;
}

}  // namespace driftscope::convert::tfjs
