#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/text.hpp"
#include "core/convert_check/check.hpp"

namespace driftscope::convert {
namespace {

/// The orders in which a tensor with these sizes fits an input, the likely ones first: as it is, the layouts
/// of runtimes; where none of these fits, any other of up to four axes. Unknown dimensions fit any size.
std::vector<Order> orders_for(const Shape& shape, const Value& input) {
  if (!input.shape) return {{}};
  const std::size_t rank = shape.size();
  if (input.shape->size() != rank) return {};
  std::vector<Order> found;
  Order same(rank);
  std::iota(same.begin(), same.end(), std::size_t{0});
  const auto add = [&](const Order& order) {
    for (std::size_t i = 0; i < rank; ++i) {
      const Dimension& dimension = (*input.shape)[i];
      if (dimension.known() && dimension.size != shape[order[i]]) return;
    }
    Order known = order == same ? Order() : order;
    if (std::ranges::find(found, known) == found.end()) found.push_back(std::move(known));
  };
  add(same);
  for (const Order& order : layouts_of_runtimes(rank)) add(order);
  if (found.empty())
    for (const Order& order : axes_moved_last(rank)) add(order);
  // An order supported only by the sizes is taken if there is no other: as a second choice it could hide that
  // an operator is missing.
  for (Order order = same; found.empty() && rank <= 4 && std::ranges::next_permutation(order).found;)
    add(order);
  return found;
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
          !orders_for(inputs[i].tensor.shape(), value).empty())
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
    const bool fixed = !pair.a.empty();  // by the map
    pair.a = input->name;
    if (!fixed) {
      std::vector<Order> orders = orders_for(input->tensor.shape(), value);
      if (orders.empty())
        return bad_input(fmt::format(
            "input {} of B: expected {}, A's {} is {}, and no order of the axes fits", in_quotes(value.name),
            shape_text(*value.shape), in_quotes(input->name), shape_text(input->tensor.shape())));
      pair.order = std::move(orders.front());
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

std::vector<ValueMap> other_orders(const std::vector<NamedTensor>& inputs, const Graph& graph,
                                   const ValueMap& map, const MatchedInputs& matched, std::size_t limit) {
  std::vector<std::vector<ValuePair>> found = {{}};
  for (const ValuePair& pair : matched.pairs) {
    std::vector<Order> orders = {pair.order};
    const auto input = std::ranges::find(inputs, pair.a, &NamedTensor::name);
    const auto id = graph.find_value(pair.b);
    if (pair.by != FoundBy::given && input != inputs.end() && id)
      orders = orders_for(input->tensor.shape(), graph.values[*id]);
    std::vector<std::vector<ValuePair>> longer;
    for (const Order& order : orders)
      for (const std::vector<ValuePair>& before : found) {
        if (longer.size() > limit) break;
        longer.push_back(before);
        longer.back().push_back({pair.a, pair.b, order, pair.by});
      }
    found = std::move(longer);
  }
  std::vector<ValueMap> maps;
  for (std::size_t i = 1; i < found.size(); ++i) {  // the first has the orders of `matched`
    maps.push_back(map);
    for (ValuePair& pair : found[i])
      if (std::ranges::none_of(map.pairs, [&](const ValuePair& one) { return one.b == pair.b; }))
        maps.back().pairs.push_back(std::move(pair));
  }
  return maps;
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
