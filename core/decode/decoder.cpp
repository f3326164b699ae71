#include "core/decode/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

bool is_index(DType dtype) { return dtype == DType::int64 || dtype == DType::int32; }

int rank_of(const Value& value) { return value.shape ? static_cast<int>(value.shape->size()) : -1; }

std::string replaced_once(std::string text, std::string_view from, std::string_view to) {
  if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

// The names that exporters give to the output that continues `past`.
std::optional<ValueId> grown_output(const Graph& graph, const std::string& past) {
  constexpr std::array<std::array<std::string_view, 2>, 5> rules = {
      {{"past_key_values", "present"},
       {"past_key_values", "present_key_values"},
       {"past", "present"},
       {"past_", "new_"},
       {"past", "updated"}}};
  for (const auto& [from, to] : rules) {
    const std::string name = replaced_once(past, from, to);
    for (const ValueId output : graph.outputs)
      if (graph.values[output].name == name && name != past) return output;
  }
  return std::nullopt;
}

std::string symbolic_text(const Value& value) {
  return value.shape ? shape_text(*value.shape) : "of unknown rank";
}

// The axis that grows is the open one that is not the batch.
Result<DecoderCache> cache_of(const Graph& graph, std::size_t place, ValueId grown) {
  const Value& value = graph.values[graph.inputs[place]];
  DecoderCache cache{.past = value.name, .present = graph.values[grown].name, .value = place};
  if (!value.shape || value.shape->size() < 2)
    return unsupported(fmt::format("{}: a cache needs at least a batch and a sequence, this one is {}",
                                   in_quotes(value.name), symbolic_text(value)));
  std::vector<int> open;
  for (int axis = 1; axis < rank_of(value); ++axis)
    if (!(*value.shape)[static_cast<std::size_t>(axis)].known()) open.push_back(axis);
  if (open.size() != 1)
    return unsupported(
        fmt::format("{}: its shape {} has {} open sizes behind the batch; expected one, the length of the "
                    "cache, which grows by a token a step{}",
                    in_quotes(value.name), symbolic_text(value), open.size(),
                    open.empty() ? " (caches of fixed length are not supported)" : ""));
  cache.axis = open.front();
  for (const Dimension& size : *value.shape) cache.empty.push_back(size.known() ? size.size : 1);
  cache.empty[0] = 1;
  cache.empty[static_cast<std::size_t>(cache.axis)] = 0;
  return cache;
}

// The rows of the table that the tokens choose from.
std::optional<std::int64_t> vocabulary_of(const Graph& graph, const std::string& tokens) {
  for (const Node& node : graph.nodes) {
    const bool gather = node.op_type == "Gather" && node.inputs.size() == 2;
    if (!gather || graph.value_name(node.inputs[1]) != tokens || node.inputs[0] == no_value) continue;
    const Value& table = graph.values[node.inputs[0]];
    const auto shape = table.static_shape();
    if (shape && shape->size() == 2 && node.attribute("axis") == nullptr) return (*shape)[0];
  }
  return std::nullopt;
}

std::string input_list(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId input : graph.inputs)
    names.push_back(fmt::format("{} {} {}", graph.values[input].name, dtype_name(graph.values[input].dtype),
                                symbolic_text(graph.values[input])));
  return fmt::format("{}", fmt::join(names, "; "));
}

Status find_logits(const Graph& graph, Decoder& decoder) {
  std::vector<std::string> candidates;
  for (const ValueId output : graph.outputs) {
    const Value& value = graph.values[output];
    const bool cache =
        std::ranges::find(decoder.caches, value.name, &DecoderCache::present) != decoder.caches.end();
    if (cache || is_index(value.dtype)) continue;
    if (value.name == "logits") {
      decoder.logits = value.name;
      return {};
    }
    if (rank_of(value) == 3 || rank_of(value) < 0) candidates.push_back(value.name);
  }
  if (candidates.size() == 1) {
    decoder.logits = candidates.front();
    return {};
  }
  return unsupported(fmt::format(
      "no output is the logits: expected one that is called logits, or a single one [batch, sequence, "
      "vocabulary] beside the caches; found {}",
      candidates.empty() ? std::string("none") : fmt::format("{}", fmt::join(candidates, ", "))));
}

Result<Tensor> integers(const Graph& graph, const std::string& name, Shape shape,
                        const std::vector<std::int64_t>& values) {
  const auto id = graph.find_value(name);
  const DType dtype = id ? graph.values[*id].dtype : DType::int64;
  if (dtype == DType::int64) return Tensor::from_values<std::int64_t>(std::move(shape), values);
  std::vector<std::int32_t> narrow;
  for (const std::int64_t value : values) {
    if (!std::in_range<std::int32_t>(value))
      return bad_input(fmt::format("{}: {} does not fit into int32, its type", in_quotes(name), value));
    narrow.push_back(static_cast<std::int32_t>(value));
  }
  return Tensor::from_values<std::int32_t>(std::move(shape), narrow);
}

}  // namespace

Result<Decoder> recognise_decoder(const Graph& graph) {
  Decoder decoder;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const Value& value = graph.values[graph.inputs[i]];
    if (value.name.starts_with("past")) {
      const auto grown = grown_output(graph, value.name);
      if (!grown)
        return unsupported(
            fmt::format("{}: no output continues this cache; expected one whose name has 'present' for "
                        "'past' (past_key_values.0.key → present.0.key)",
                        in_quotes(value.name)));
      DRIFTSCOPE_TRY(DecoderCache cache, cache_of(graph, i, *grown));
      decoder.caches.push_back(std::move(cache));
    } else if (value.name == "attention_mask" && is_index(value.dtype)) {
      decoder.attention_mask = value.name;
    } else if (value.name == "position_ids" && is_index(value.dtype)) {
      decoder.position_ids = value.name;
    } else if (value.dtype == DType::boolean && value.name.starts_with("use_cache")) {
      decoder.use_cache = value.name;
    } else if (is_index(value.dtype) && rank_of(value) == 2 &&
               (value.name == "input_ids" || decoder.tokens.empty())) {
      if (!decoder.tokens.empty()) decoder.others.push_back(decoder.tokens);
      decoder.tokens = value.name;
    } else {
      decoder.others.push_back(value.name);
    }
  }
  if (decoder.tokens.empty())
    return unsupported(
        fmt::format("no input takes tokens: expected integers [batch, sequence], called input_ids if there "
                    "are several; the inputs are {}",
                    input_list(graph)));
  DRIFTSCOPE_CHECK(find_logits(graph, decoder));
  decoder.vocabulary = vocabulary_of(graph, decoder.tokens);
  return decoder;
}

Result<NamedInputs> step_inputs(const Decoder& decoder, const Graph& graph, const DecoderState& state,
                                const NamedInputs& others) {
  const std::size_t seen = decoder.caches.empty() ? 0 : state.seen;
  const std::vector<std::int64_t> fresh(state.tokens.begin() + static_cast<std::ptrdiff_t>(seen),
                                        state.tokens.end());
  const auto count = static_cast<std::int64_t>(fresh.size());
  const auto total = static_cast<std::int64_t>(state.tokens.size());
  NamedInputs inputs = others;
  const auto add = [&](const std::string& name, Shape shape,
                       const std::vector<std::int64_t>& values) -> Status {
    if (name.empty()) return {};
    DRIFTSCOPE_TRY(Tensor tensor, integers(graph, name, std::move(shape), values));
    inputs.push_back({name, std::move(tensor)});
    return {};
  };
  DRIFTSCOPE_CHECK(add(decoder.tokens, {1, count}, fresh));
  DRIFTSCOPE_CHECK(
      add(decoder.attention_mask, {1, total}, std::vector<std::int64_t>(state.tokens.size(), 1)));
  std::vector<std::int64_t> positions;
  for (std::int64_t at = total - count; at < total; ++at) positions.push_back(at);
  DRIFTSCOPE_CHECK(add(decoder.position_ids, {1, count}, positions));
  if (!decoder.use_cache.empty()) {
    const auto id = graph.find_value(decoder.use_cache);
    const auto shape = graph.values[*id].static_shape();
    DRIFTSCOPE_TRY(Tensor flag, Tensor::make(DType::boolean, shape.value_or(Shape{1}), decoder.use_cache));
    for (std::byte& one : flag.mutable_bytes()) one = std::byte{seen > 0};
    inputs.push_back({decoder.use_cache, std::move(flag)});
  }
  for (std::size_t i = 0; i < decoder.caches.size(); ++i) {
    const DecoderCache& cache = decoder.caches[i];
    if (!state.caches.empty()) {
      inputs.push_back({cache.past, state.caches[i]});
      continue;
    }
    const DType dtype = graph.values[graph.inputs[cache.value]].dtype;
    DRIFTSCOPE_TRY(Tensor nothing, Tensor::make(dtype, cache.empty, cache.past));
    inputs.push_back({cache.past, std::move(nothing)});
  }
  return inputs;
}

Status take_caches(const Decoder& decoder, const std::vector<NamedTensor>& outputs, DecoderState& state) {
  std::vector<Tensor> grown;
  for (const DecoderCache& cache : decoder.caches) {
    const auto found = std::ranges::find(outputs, cache.present, &NamedTensor::name);
    if (found == outputs.end())
      return bad_input(fmt::format("the run did not give the cache {}", in_quotes(cache.present)));
    Shape expected = cache.empty;
    expected[static_cast<std::size_t>(cache.axis)] = static_cast<std::int64_t>(state.tokens.size());
    if (found->tensor.shape() != expected)
      return bad_input(fmt::format("{} after {} tokens is {}; expected {}", in_quotes(cache.present),
                                   state.tokens.size(), shape_text(found->tensor.shape()),
                                   shape_text(expected)));
    grown.push_back(found->tensor);
  }
  state.caches = std::move(grown);
  state.seen = state.tokens.size();
  return {};
}

}  // namespace driftscope
