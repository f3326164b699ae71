// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/type_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/base/text.hpp"
#include "core/trace/converted_tensor.hpp"
#include "core/trace/run_fact.hpp"

namespace driftscope {
namespace {

constexpr std::size_t max_named = 3;
constexpr const char* fact = "converted";

std::string text_of(const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  const std::vector<std::string> named(
      texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(std::min(texts.size(), max_named)));
  return fmt::format("{} tensor{} converted: {}{}", texts.size(), texts.size() == 1 ? " was" : "s were",
                     fmt::join(named, ", "), texts.size() > max_named ? ", …" : "");
}

/// The shape in which a tensor of this shape is taken for the input: a scalar for [1], or [1] for a scalar.
Shape shape_for(const Value& value, const Shape& shape) {
  const bool one = shape.empty() || (shape.size() == 1 && shape[0] == 1);
  if (!one || !value.shape || value.shape->size() > 1 || value.shape->size() == shape.size()) return shape;
  return Shape(value.shape->size(), 1);
}

}  // namespace

std::vector<ConvertedValue> match_types(const Graph& graph, const TraceView& trace) {
  std::vector<ConvertedValue> converted;
  if (!trace.about().model_sha256.empty()) return converted;
  std::unordered_map<std::string_view, ValueId> ids;
  for (ValueId id = 0; id < graph.values.size(); ++id) ids.emplace(graph.values[id].name, id);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const SafetensorsEntry& entry = trace[i];
    const auto found = ids.find(entry.name);
    if (found == ids.end()) continue;
    const Value& value = graph.values[found->second];
    const bool input = std::ranges::find(graph.inputs, found->second) != graph.inputs.end();
    ConvertedValue one{i, entry.dtype, input ? shape_for(value, entry.shape) : entry.shape, entry.name + ":"};
    if (value.dtype != entry.dtype && can_convert(entry.dtype, value.dtype)) {
      one.dtype = value.dtype;
      one.text += fmt::format(" {} taken as {}", dtype_name(entry.dtype), dtype_name(value.dtype));
    }
    if (one.shape != entry.shape)
      one.text += fmt::format(" shape {} taken as {}", shape_text(entry.shape), shape_text(one.shape));
    if (one.dtype != entry.dtype || one.shape != entry.shape) converted.push_back(std::move(one));
  }
  return converted;
}

void convert_types(const std::vector<ConvertedValue>& converted, TraceView& trace) {
  for (const ConvertedValue& one : converted) trace.convert(one.entry, one.dtype, one.shape);
}

Status convert_types(const std::vector<ConvertedValue>& converted, Trace& trace) {
  if (converted.empty()) return {};
  std::vector<std::string> texts;
  for (const ConvertedValue& one : converted) {
    Tensor& tensor = trace.tensors[one.entry].tensor;
    DRIFTSCOPE_TRY(tensor, converted_tensor(tensor, one.dtype, one.shape));
    texts.push_back(one.text);
  }
  set_run_fact(trace, fact, texts);
  return {};
}

std::string type_match_text(const std::vector<ConvertedValue>& converted) {
  std::vector<std::string> texts;
  for (const ConvertedValue& one : converted) texts.push_back(one.text);
  return text_of(texts);
}

std::string type_match_text(const Trace& trace) {
  const auto list = run_fact_json(trace, fact);
  std::vector<std::string> texts;
  if (list && list->is_array())
    for (const auto& one : *list)
      if (one.is_string() && printable(one.get_ref<const std::string&>()))
        texts.push_back(one.get<std::string>());
  return text_of(texts);
}

}  // namespace driftscope
