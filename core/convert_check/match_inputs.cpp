#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/convert_check/check.hpp"

namespace driftscope::convert {
namespace {

/// The shape that an input takes from a tensor with these sizes in some order; unknown dimensions fit any
/// size.
std::optional<Order> order_for(const Shape& shape, const Value& input) {
  if (!input.shape) return Order();
  std::optional<Order> found;
  const auto fits = [&](const Order& order) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const Dimension& dimension = (*input.shape)[i];
      if (dimension.known() && dimension.size != shape[order.empty() ? i : order[i]]) return false;
    }
    return true;
  };
  if (input.shape->size() != shape.size()) return std::nullopt;
  if (fits({})) return Order();
  for (const Order& order :
       std::vector<Order>{{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 2, 1}, {0, 2, 3, 4, 1}, {0, 4, 1, 2, 3}})
    if (order.size() == shape.size() && fits(order)) return order;
  return std::nullopt;
}

std::string list_of(const Graph& graph) {
  std::string list;
  for (const ValueId id : graph.inputs)
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", graph.value_name(id),
                        graph.values[id].shape ? shape_text(*graph.values[id].shape) : "any shape");
  return list.empty() ? "none" : list;
}

Result<Tensor> fitting(const NamedTensor& input, const Value& value, const Order& order) {
  DRIFTSCOPE_TRY(Tensor moved, permuted(input.tensor, order));
  if (value.dtype == DType::undefined) return moved;
  auto made = as_dtype(moved, value.dtype);
  if (!made.ok()) return in_context(std::move(made).error(), "input " + in_quotes(value.name) + " of B");
  return made;
}

}  // namespace

Result<MatchedInputs> match_inputs(const std::vector<NamedTensor>& inputs, const Graph& graph,
                                   const ValueMap& map) {
  MatchedInputs made;
  std::vector<bool> used(inputs.size());
  const auto partner_of = [&](const Value& value, ValuePair& pair) -> const NamedTensor* {
    const auto take = [&](std::size_t i) {
      used[i] = true;
      return &inputs[i];
    };
    for (const ValuePair& given : map.pairs)
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (given.b == value.name && given.a == inputs[i].name && !used[i]) {
          pair = given;
          return take(i);
        }
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].name == value.name && !used[i]) return take(i);
    pair.by = FoundBy::structure;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!used[i] && same_kind(inputs[i].tensor.dtype(), value.dtype) &&
          order_for(inputs[i].tensor.shape(), value))
        return take(i);
    return nullptr;
  };
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    ValuePair pair{"", value.name, {}, FoundBy::name};
    const NamedTensor* const input = partner_of(value, pair);
    if (input == nullptr)
      return bad_input(
          fmt::format("input {} of B: A has no input that fits; B's inputs are: {}; name the partner in "
                      "a map (--map)",
                      in_quotes(value.name), list_of(graph)));
    pair.a = input->name;
    if (pair.by != FoundBy::given) {
      const auto order = order_for(input->tensor.shape(), value);
      if (!order)
        return bad_input(fmt::format(
            "input {} of B: expected {}, A's {} is {}, and no order of the axes fits", in_quotes(value.name),
            shape_text(*value.shape), in_quotes(input->name), shape_text(input->tensor.shape())));
      pair.order = *order;
    } else if (!pair.order.empty() && pair.order.size() != input->tensor.shape().size()) {
      return bad_input(fmt::format("input {} of B: the map's order has {} axes, A's {} has {}",
                                   in_quotes(value.name), pair.order.size(), in_quotes(input->name),
                                   input->tensor.shape().size()));
    }
    DRIFTSCOPE_TRY(Tensor tensor, fitting(*input, value, pair.order));
    made.tensors.push_back({value.name, std::move(tensor)});
    made.pairs.push_back(std::move(pair));
  }
  return made;
}

ValueMap with_inputs(ValueMap map, const MatchedInputs& inputs) {
  for (const ValuePair& pair : inputs.pairs) {
    const auto known = [&](const ValuePair& one) { return one.b == pair.b || one.a == pair.a; };
    if (std::ranges::none_of(map.pairs, known)) map.pairs.push_back(pair);
  }
  return map;
}

Result<Tensor> stacked_in_order(const Tensor& stacked, const ValuePair& pair, const Graph& graph) {
  Order order = {0};
  for (const std::size_t axis : pair.order) order.push_back(axis + 1);
  const auto id = graph.find_value(pair.b);
  if (!id) return internal_error("an input of B is not in its graph");
  return fitting({pair.a, stacked}, graph.values[*id], pair.order.empty() ? Order() : order);
}

}  // namespace driftscope::convert
