#include "core/inputs/input_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "core/base/text.hpp"
#include "core/inputs/input_source.hpp"

namespace driftscope {
namespace {

std::optional<std::int64_t> parse_size(std::string_view text) {
  std::int64_t size = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || text.empty() || size < 0)
    return std::nullopt;
  return size;
}

/// The symbols of the model's inputs, for errors.
std::string symbols_of(const Graph& graph) {
  std::set<std::string> symbols;
  for (const ValueId id : graph.inputs)
    for (const Dimension& dimension : graph.values[id].shape.value_or(SymbolicShape()))
      if (!dimension.known() && names_a_size(dimension.symbol)) symbols.insert(in_quotes(dimension.symbol));
  return symbols.empty() ? "it names none; give whole shapes with --input-shape"
                         : fmt::format("its names are {}", fmt::join(symbols, ", "));
}

void set_symbol(Graph& graph, const std::string& symbol, std::int64_t size) {
  for (Value& value : graph.values) {
    if (!value.shape) continue;
    for (Dimension& dimension : *value.shape)
      if (!dimension.known() && dimension.symbol == symbol) dimension = {size, ""};
  }
}

Status set_dim(Graph& graph, const std::string& symbols, std::string_view given) {
  const std::size_t equals = given.rfind('=');
  const auto size = equals == std::string_view::npos ? std::nullopt : parse_size(given.substr(equals + 1));
  if (!size || equals == 0)
    return bad_input(fmt::format("--dim {}: expected a name and a size, as in time=16000", given));
  const std::string symbol(given.substr(0, equals));
  bool known = false;
  for (const ValueId id : graph.inputs)
    for (const Dimension& dimension : graph.values[id].shape.value_or(SymbolicShape()))
      known = known || (!dimension.known() && dimension.symbol == symbol);
  if (!known || !names_a_size(symbol))
    return bad_input(fmt::format("--dim {}: no input has an open size of this name; {}", given, symbols));
  set_symbol(graph, symbol, *size);
  return {};
}

Result<ValueId> input_of(const Graph& graph, std::string_view name, std::string_view given) {
  if (name.empty()) {
    if (graph.inputs.size() == 1) return graph.inputs[0];
    return bad_input(fmt::format(
        "--input-shape {0}: the model has {1} inputs ({2}); say which one: --input-shape NAME={0}", given,
        graph.inputs.size(), input_names(graph)));
  }
  for (const ValueId id : graph.inputs)
    if (graph.values[id].name == name) return id;
  return bad_input(fmt::format("--input-shape {}: the model has no input {}; its inputs are {}", given,
                               in_quotes(name), input_names(graph)));
}

Status set_shape(Graph& graph, std::string_view given) {
  const std::size_t equals = given.rfind('=');
  const bool named = equals != std::string_view::npos;
  const std::string_view text = named ? given.substr(equals + 1) : given;
  auto wanted = parse_input_shape(text);
  if (!wanted.ok()) return in_context(std::move(wanted).error(), fmt::format("--input-shape {}", given));
  DRIFTSCOPE_TRY(const ValueId id, input_of(graph, named ? given.substr(0, equals) : "", given));
  const std::optional<SymbolicShape> declared = graph.values[id].shape;
  if (!declared) {
    graph.values[id].shape = *wanted;
    return {};
  }
  const auto mismatch = [&] {
    return bad_input(fmt::format("--input-shape {}: input {} is {} in the model", given,
                                 in_quotes(graph.values[id].name), shape_text(*declared)));
  };
  if (declared->size() != wanted->size()) return mismatch();
  for (std::size_t axis = 0; axis < wanted->size(); ++axis) {
    const std::int64_t size = (*wanted)[axis].size;
    if (size < 0) continue;
    // Again from the graph: the symbol may have been set by an axis before this one.
    const Dimension now = (*graph.values[id].shape)[axis];
    if (now.known() && now.size != size) return mismatch();
    if (now.known()) continue;
    if (names_a_size(now.symbol))
      set_symbol(graph, now.symbol, size);
    else
      (*graph.values[id].shape)[axis] = {size, ""};
  }
  return {};
}

}  // namespace

bool names_a_size(const std::string& symbol) { return !symbol.empty() && symbol != "?"; }

bool is_size_spec(std::string_view spec) {
  return spec.starts_with(dim_prefix) || spec.starts_with(shape_prefix);
}

Result<SymbolicShape> parse_input_shape(std::string_view text) {
  if (text == "scalar") return SymbolicShape{};
  SymbolicShape shape;
  while (true) {
    const std::size_t end = text.find('x');
    const std::string_view part = text.substr(0, end);
    const auto size = parse_size(part);
    if (!size && part != "?")
      return bad_input(fmt::format(
          "{} is no size; expected sizes with x between them, as 1x3x?x320 ('?' is found)", in_quotes(part)));
    shape.push_back({size.value_or(-1), ""});
    if (shape.size() > max_rank)
      return limit_error(fmt::format("more than {} axes are not supported", max_rank));
    if (end == std::string_view::npos) return shape;
    text.remove_prefix(end + 1);
  }
}

Result<Graph> with_input_sizes(Graph graph, std::span<const std::string> specs) {
  const std::string symbols = symbols_of(graph);
  std::set<std::string> seen;
  for (const std::string& spec : specs) {
    if (!is_size_spec(spec)) continue;
    const bool dim = spec.starts_with(dim_prefix);
    const std::string_view given = std::string_view(spec).substr((dim ? dim_prefix : shape_prefix).size());
    const std::size_t equals = given.rfind('=');
    const std::string option = dim ? "--dim" : "--input-shape";
    const std::string name(equals == std::string_view::npos ? "" : given.substr(0, equals));
    if (!seen.insert(option + " " + name).second)
      return bad_input(fmt::format("{} {}: {} has a size already", option, given,
                                   name.empty() ? "the input" : in_quotes(name)));
    DRIFTSCOPE_CHECK(dim ? set_dim(graph, symbols, given) : set_shape(graph, given));
  }
  return graph;
}

std::string typed_input_text(const Value& input) {
  if (input.dtype == DType::undefined && !input.shape) return input.name + " (of an unknown type and shape)";
  return fmt::format("{} ({} {})", input.name,
                     input.dtype == DType::undefined ? "of an unknown type" : dtype_name(input.dtype),
                     input.shape ? shape_text(*input.shape) : "of any shape");
}

}  // namespace driftscope
