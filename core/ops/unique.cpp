// Unique, opset 11 to 21: the different elements (or slices along an axis), sorted or in the order of
// their first appearance; where each first appears, which one each element is, how often each appears.
// NaNs are equal to one another and come last.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/ops/shared/elements.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::unique {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::fixed_size));
  TensorType y{context.input(0).dtype, std::nullopt};
  if (context.node().attribute("axis") == nullptr) {
    y.shape = unknown_shape(1);
  } else if (context.input(0).shape) {
    y.shape = context.input(0).shape;
    DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "axis", 0));
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, y.shape->size()));
    (*y.shape)[axis] = Dimension{};
  }
  const TensorType list{DType::int64, unknown_shape(1)};
  return std::vector{std::move(y), list, list, list};
}

// Item i of `count`: the elements at (o·count + i)·inner + j for all o, j.
struct Items {
  std::size_t count = 0;
  std::size_t outer = 1;
  std::size_t inner = 1;

  // −1, 0, 1 in lexicographic order.
  template <class T>
  [[nodiscard]] int compare(std::span<const T> x, std::size_t a, std::size_t b) const {
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t j = 0; j < inner; ++j) {
        const T& left = x[(o * count + a) * inner + j];
        const T& right = x[(o * count + b) * inner + j];
        if (ordered_before(left, right)) return -1;
        if (ordered_before(right, left)) return 1;
      }
    return 0;
  }
};

struct Groups {
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> inverse;
  std::vector<std::int64_t> counts;
};

template <class T>
Groups group(std::span<const T> x, const Items& items, bool sorted) {
  std::vector<std::size_t> order(items.count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int sign = items.compare(x, a, b);
    return sign < 0 || (sign == 0 && a < b);
  });
  // The first of each run of equals stands for it.
  std::vector<std::size_t> heads;
  std::vector<std::size_t> head_of(items.count);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || items.compare(x, order[i - 1], order[i]) != 0) heads.push_back(order[i]);
    head_of[order[i]] = heads.back();
  }
  if (!sorted) std::sort(heads.begin(), heads.end());
  std::vector<std::int64_t> rank(items.count);
  Groups groups;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    rank[heads[i]] = static_cast<std::int64_t>(i);
    groups.first.push_back(static_cast<std::int64_t>(heads[i]));
  }
  groups.counts.resize(heads.size());
  for (const std::size_t head : head_of) {
    groups.inverse.push_back(rank[head]);
    ++groups.counts[static_cast<std::size_t>(rank[head])];
  }
  return groups;
}

template <class S>
Status put(KernelContext<S>& context, std::size_t output, const std::vector<std::int64_t>& list) {
  if (!context.wants_output(output)) return {};
  DRIFTSCOPE_CHECK(context.allocate_output(output, DType::int64, {static_cast<std::int64_t>(list.size())}));
  std::ranges::copy(list, context.tensor_output(output).template mutable_values<std::int64_t>().begin());
  return {};
}

struct Unique {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 0, "X"));
    DRIFTSCOPE_TRY(const bool sorted, flag_attribute(context.node(), "sorted", true));
    const Shape& x = context.shape(0);
    Items items{static_cast<std::size_t>(element_count(x)), 1, 1};
    Shape y_shape = {0};
    std::size_t axis = 0;
    if (context.node().attribute("axis") != nullptr) {
      DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "axis", 0));
      DRIFTSCOPE_TRY(axis, normalize_axis(given, x.size()));
      y_shape = x;
      items.count = static_cast<std::size_t>(x[axis]);
      items.outer = static_cast<std::size_t>(element_count(std::span(x).first(axis)));
      items.inner = static_cast<std::size_t>(element_count(std::span(x).subspan(axis + 1)));
    }
    Groups groups;
    const bool known = with_elements(
        context, 0, [&]<class T>(std::span<const T> elements) { groups = group(elements, items, sorted); });
    if (!known) return unsupported("elements of this type are not compared");
    y_shape[axis] = static_cast<std::int64_t>(groups.first.size());
    DRIFTSCOPE_CHECK(put(context, 1, groups.first));
    DRIFTSCOPE_CHECK(put(context, 2, groups.inverse));
    DRIFTSCOPE_CHECK(put(context, 3, groups.counts));
    if (!context.wants_output(0)) return {};
    DRIFTSCOPE_CHECK(context.allocate_output(0, context.dtype(0), y_shape));
    constexpr std::array<std::size_t, 1> inputs = {0};
    move_elements(context, inputs, 0, [&](auto sources, auto target) {
      auto to = target.begin();
      for (std::size_t o = 0; o < items.outer; ++o)
        for (const std::int64_t item : groups.first)
          to = std::copy_n(
              sources[0].data() + (o * items.count + static_cast<std::size_t>(item)) * items.inner,
              items.inner, to);
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Unique>(
      {.op_type = "Unique", .since = 11, .inputs = {1, 1}, .outputs = {1, 4}, .infer = infer}));
}

}  // namespace driftscope::ops::unique
