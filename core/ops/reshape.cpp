// Reshape, opset 5 to 21: 0 copies a dimension (unless allowzero), one −1 takes the remaining elements.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::reshape {

// The size that −1 stands for: all elements divided by those of the other dimensions.
Result<Dimension> left_over(const SymbolicShape& x, const SymbolicShape& others) {
  DRIFTSCOPE_TRY(const Dimension all, multiply(x));
  DRIFTSCOPE_TRY(const Dimension taken, multiply(others));
  if (!all.known()) {
    // N×16×5×5 as [−1, 400]: the known factors cancel out and the symbol is left.
    SymbolicShape factors;
    std::copy_if(x.begin(), x.end(), std::back_inserter(factors),
                 [](const Dimension& size) { return size.known(); });
    if (factors.size() + 1 != x.size() || !taken.known()) return Dimension{};
    DRIFTSCOPE_TRY(const Dimension known, multiply(factors));
    const auto symbol = std::find_if(x.begin(), x.end(), [](const Dimension& size) { return !size.known(); });
    return known.size == taken.size ? *symbol : Dimension{};
  }
  if (!taken.known()) return Dimension{};
  if (taken.size == 0) return bad_input("input 1 (shape): −1 beside a dimension of 0 has no definite size");
  if (all.size % taken.size != 0)
    return bad_input(fmt::format("input 1 (shape): {} elements of input 0 (shape {}) cannot be divided by {}",
                                 all.size, shape_text(x), taken.size));
  return known_dimension(all.size / taken.size);
}

// `sizes`: dimensions of the shape that are still symbols, nothing for the numbers in `wanted`.
Result<SymbolicShape> target_shape(const std::optional<SymbolicShape>& x, const Ints& wanted,
                                   std::span<const std::optional<Dimension>> sizes, bool allow_zero) {
  SymbolicShape y(wanted.size());
  SymbolicShape others;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i < sizes.size() && sizes[i]) {
      y[i] = *sizes[i];
      others.push_back(y[i]);
      continue;
    }
    if (wanted[i] == -1) {
      if (open)
        return bad_input(fmt::format("input 1 (shape): [{}] has more than one −1", fmt::join(wanted, ",")));
      open = i;
      continue;
    }
    if (wanted[i] < -1)
      return bad_input(fmt::format("input 1 (shape): [{}] has a size below −1", fmt::join(wanted, ",")));
    if (wanted[i] != 0 || allow_zero) {
      y[i] = known_dimension(wanted[i]);
    } else if (x) {
      if (i >= x->size())
        return bad_input(fmt::format(
            "input 1 (shape): the 0 at position {} copies a dimension that input 0 (shape {}) lacks", i,
            shape_text(*x)));
      y[i] = (*x)[i];
    }
    others.push_back(y[i]);
  }
  // A size that is still a symbol is no 0.
  bool zero = false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    zero = zero || (wanted[i] == 0 && (i >= sizes.size() || !sizes[i]));
  if (open && allow_zero && zero)
    return bad_input("input 1 (shape): with allowzero a 0 and a −1 exclude each other");
  if (!x) return y;
  if (open) {
    // Dimensions copied in place cancel out, so that a batch of unknown size can stay a symbol.
    SymbolicShape rest = *x;
    SymbolicShape kept;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (i == *open) continue;
      // Two unknown sizes need not be equal, but a copied one is.
      const bool same = i >= sizes.size() || !sizes[i] || !sizes[i]->symbol.empty();
      if (same && !y[i].known() && i < rest.size() && rest[i] == y[i])
        rest[i] = known_dimension(1);
      else
        kept.push_back(y[i]);
    }
    DRIFTSCOPE_TRY(y[*open], left_over(rest, kept));
    return y;
  }
  DRIFTSCOPE_TRY(const Dimension from, multiply(*x));
  DRIFTSCOPE_TRY(const Dimension to, multiply(y));
  if (from.known() && to.known() && from.size != to.size)
    return bad_input(fmt::format("input 1 (shape): {} has {} elements, input 0 (shape {}) has {}",
                                 shape_text(y), to.size, shape_text(*x), from.size));
  return y;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  TensorType y{context.input(0).dtype, std::nullopt};
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "data", Kinds::fixed_size));
  DRIFTSCOPE_TRY(const bool allow_zero, flag_attribute(context.node(), "allowzero", false));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, "shape", 0, 1));
  if (const Tensor* shape = context.constant(1)) {
    DRIFTSCOPE_TRY(const Ints wanted, integers_of(*shape, input_label(1, "shape")));
    DRIFTSCOPE_TRY(y.shape, target_shape(context.input(0).shape, wanted, {}, allow_zero));
  } else if (const PartialVector* partial = context.partial(1)) {
    Ints wanted;
    std::vector<std::optional<Dimension>> sizes;
    for (const PartialElement& element : partial->elements) {
      wanted.push_back(element.number);
      sizes.push_back(element.size);
    }
    DRIFTSCOPE_TRY(y.shape, target_shape(context.input(0).shape, wanted, sizes, allow_zero));
  } else if (const auto& shape_type = context.input(1).shape; shape_type && shape_type->size() == 1 &&
                                                              shape_type->front().known() &&
                                                              shape_type->front().size <= 64) {
    y.shape = unknown_shape(static_cast<std::size_t>(shape_type->front().size));
  }
  return std::vector{std::move(y)};
}

struct Reshape {
  template <class S>
  static Status run(KernelContext<S>& context) {
    copy_elements(context);
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Reshape>({.op_type = "Reshape",
                                   .since = 5,
                                   .inputs = {2, 2},
                                   .outputs = {1, 1},
                                   .infer = infer,
                                   .exact_copy = true}));
}

}  // namespace driftscope::ops::reshape
