#include "core/inputs/found_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/base/rng.hpp"
#include "core/inputs/found_sizes.hpp"
#include "core/inputs/input_sizes.hpp"
#include "core/inputs/integer_limits.hpp"
#include "core/inputs/value_rules.hpp"
#include "core/trace/run_fact.hpp"
#include "generated/documents/chosen_inputs.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t usual_end = 4;  // of integers that nothing limits
constexpr std::int64_t byte_end = 256;

/// How one input is filled.
struct Filling {
  IntegerLimits limits;
  std::optional<FixedValues> fixed;
};

Filling filling_of(const FoundSizes& sizes, std::size_t place) {
  const Graph& bound = sizes.bound;
  const Value& value = bound.values[bound.inputs[place]];
  const bool pixels = value.dtype == DType::uint8 && sizes.shapes[place].size() >= 3;
  Filling filling;
  filling.limits = integer_limits(bound, bound.inputs[place], 0, pixels ? byte_end : usual_end);
  filling.fixed = fixed_values({bound, place});
  return filling;
}

template <class E>
std::int64_t within(std::int64_t number, const IntegerLimits& limits) {
  using Limits = std::numeric_limits<typename E::Stored>;
  std::int64_t least = std::is_signed_v<typename E::Stored> ? static_cast<std::int64_t>(Limits::min()) : 0;
  std::int64_t most = sizeof(typename E::Stored) < 8 ? static_cast<std::int64_t>(Limits::max())
                                                     : std::numeric_limits<std::int64_t>::max();
  if (limits.found && limits.low < limits.end) {
    least = std::max(least, limits.low);
    most = std::min(most, limits.end - 1);
  }
  return std::clamp(number, least, std::max(least, most));
}

/// Element i of values that are not random.
std::int64_t fixed_element(const FixedValues& fixed, std::int64_t i, std::int64_t last_axis) {
  if (fixed.ascends_from) return *fixed.ascends_from + i % last_axis;
  return fixed.numbers[static_cast<std::size_t>(i) % fixed.numbers.size()];
}

template <class E>
typename E::Stored element(const Filling& filling, std::int64_t i, std::int64_t last_axis, Rng& rng) {
  using Stored = typename E::Stored;
  if constexpr (E::kind == ElementKind::floating) {
    if (!filling.fixed) return E::nearest(rng.normal());
    return E::nearest(static_cast<float>(fixed_element(*filling.fixed, i, last_axis)));
  } else if constexpr (E::kind == ElementKind::boolean) {
    return static_cast<Stored>(filling.fixed ? fixed_element(*filling.fixed, i, last_axis) != 0
                                             : rng.below(2));
  } else {
    const IntegerLimits& limits = filling.limits;
    std::int64_t number = 0;
    if (filling.fixed)
      number = fixed_element(*filling.fixed, i, last_axis);
    else
      number = limits.low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(
                                std::max<std::int64_t>(1, limits.end - limits.low))));
    return static_cast<Stored>(within<E>(number, limits));
  }
}

Status fill(Tensor& tensor, const Filling& filling, Rng& rng, const std::string& name) {
  const std::int64_t last_axis =
      tensor.shape().empty() ? 1 : std::max<std::int64_t>(1, tensor.shape().back());
  const bool filled = visit_plain_number(tensor.dtype(), [&]<class E>() {
    std::int64_t i = 0;
    for (auto& x : tensor.mutable_values<typename E::Stored>()) x = element<E>(filling, i++, last_axis, rng);
  });
  if (filled) return {};
  return unsupported(fmt::format("input {}: no random values of type {}; give it with --input", name,
                                 dtype_name(tensor.dtype())));
}

std::string values_text(const Filling& filling, DType dtype) {
  if (filling.fixed) return filling.fixed->text;
  bool integer = false;
  visit_plain_number(dtype, [&]<class E>() { integer = E::kind == ElementKind::integer; });
  if (!integer || !filling.limits.found) return "";
  return fmt::format("{} to {}", filling.limits.low, std::max(filling.limits.low, filling.limits.end - 1));
}

std::string sizes_text(const FoundSizes& sizes) {
  std::vector<std::string> parts;
  for (const FoundSizes::Open& open : sizes.open)
    if (!open.symbol.empty()) parts.push_back(fmt::format("{}={}", open.symbol, open.size));
  std::set<std::string> inputs;  // with an axis that has no name
  for (const FoundSizes::Open& open : sizes.open)
    if (open.symbol.empty()) inputs.insert(open.input);
  for (std::size_t i = 0; i < sizes.shapes.size(); ++i)
    if (const std::string& name = sizes.bound.values[sizes.bound.inputs[i]].name; inputs.contains(name))
      parts.push_back(fmt::format("{} {}", name, shape_text(sizes.shapes[i])));
  return parts.empty() ? "" : fmt::format(", {} (found)", fmt::join(parts, ", "));
}

/// "attention_mask ones, past_key_values.0.key and 11 more zeros": what has a fixed value, in few words.
std::string fixed_text(const std::vector<ChosenValues>& values) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_value;
  for (const ChosenValues& one : values) {
    const auto same =
        std::ranges::find(by_value, one.are, &std::pair<std::string, std::vector<std::string>>::first);
    if (same != by_value.end())
      same->second.push_back(one.input);
    else
      by_value.push_back({one.are, {one.input}});
  }
  std::string text;
  for (const auto& [are, inputs] : by_value)
    text += fmt::format(", {}{} {}", inputs[0],
                        inputs.size() == 1   ? ""
                        : inputs.size() == 2 ? " and " + inputs[1]
                                             : fmt::format(" and {} more", inputs.size() - 1),
                        are);
  return text;
}

}  // namespace

Result<FoundInputs> found_inputs(const Graph& graph, std::uint64_t seed, const std::string& model) {
  for (const ValueId id : graph.inputs)
    if (graph.values[id].dtype == DType::undefined)
      return bad_input(fmt::format("input {}: the model does not say its type; give it with --input",
                                   graph.values[id].name));
  DRIFTSCOPE_TRY(const FoundSizes sizes, find_sizes(graph, model));
  FoundInputs found;
  Rng rng(seed);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const Value& value = graph.values[graph.inputs[i]];
    const Filling filling = filling_of(sizes, i);
    DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(value.dtype, sizes.shapes[i], value.name));
    DRIFTSCOPE_CHECK(fill(tensor, filling, rng, value.name));
    found.tensors.push_back({value.name, std::move(tensor)});
    if (std::string are = values_text(filling, value.dtype); !are.empty())
      found.chosen.values.push_back({value.name, std::move(are)});
  }
  for (const FoundSizes::Open& open : sizes.open)
    found.chosen.sizes.push_back({open.symbol, open.input, open.size});
  found.chosen.seed = std::to_string(seed);
  found.chosen.text =
      fmt::format("seed:{} (random){}{}", seed, sizes_text(sizes), fixed_text(found.chosen.values));
  return found;
}

void add_chosen_inputs(Trace& trace, const ChosenInputs& chosen) {
  set_run_fact(trace, "inputs", encode(chosen));
}

std::vector<std::string> size_specs(const ChosenInputs& chosen, const NamedInputs& tensors) {
  std::vector<std::string> specs;
  std::set<std::string> shapes;
  for (const ChosenSize& size : chosen.sizes) {
    if (!size.symbol.empty()) {
      specs.push_back(fmt::format("{}{}={}", dim_prefix, size.symbol, size.size));
      continue;
    }
    if (!shapes.insert(size.input).second) continue;
    for (const NamedTensor& tensor : tensors)
      if (tensor.name == size.input)
        specs.push_back(fmt::format("{}{}={}", shape_prefix, tensor.name, shape_text(tensor.tensor.shape())));
  }
  return specs;
}

}  // namespace driftscope
