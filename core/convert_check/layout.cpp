#include "core/convert_check/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/model/tensor_elements.hpp"

namespace driftscope::convert {
namespace {

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

Shape without_ones(const Shape& shape) {
  Shape kept;
  std::ranges::copy_if(shape, std::back_inserter(kept), [](std::int64_t size) { return size != 1; });
  return kept;
}

bool fits(const Shape& shape, const Shape& other, const Order& order) {
  for (std::size_t i = 0; i < other.size(); ++i)
    if (other[i] != shape[order[i]]) return false;
  return true;
}

/// Visits the elements of a tensor with these sizes and strides in their order.
template <class Body>
void walk(const Shape& sizes, const Shape& strides, const Body& body) {
  const std::int64_t count = element_count(sizes);
  Shape at(sizes.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    body(i, offset);
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < sizes[axis]) break;
      offset -= strides[axis] * sizes[axis];
      at[axis] = 0;
    }
  }
}

template <class T>
Status store(std::span<const double> numbers, Tensor& made) {
  const auto target = made.mutable_values<T>();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!(numbers[i] >= low && numbers[i] < end))
      return bad_input(fmt::format("{} does not fit into {}", numbers[i], dtype_name(made.dtype())));
    target[i] = static_cast<T>(numbers[i]);
  }
  return {};
}

Status store_numbers(std::span<const double> numbers, Tensor& made) {
  Status status = unsupported(fmt::format("no numbers are stored as {}", dtype_name(made.dtype())));
  visit_plain_number(made.dtype(), [&]<class E>() {
    using T = typename E::Stored;
    status = Status();
    if constexpr (E::kind == ElementKind::integer)
      status = store<T>(numbers, made);
    else if constexpr (E::kind == ElementKind::boolean)
      std::ranges::transform(numbers, made.mutable_values<T>().begin(),
                             [](double x) { return static_cast<T>(x != 0.0); });
    else
      std::ranges::transform(numbers, made.mutable_values<T>().begin(), E::nearest);
  });
  return status;
}

}  // namespace

std::vector<Order> layouts_of_runtimes(std::size_t rank) {
  if (rank < 3) return {};
  Order same(rank);
  std::iota(same.begin(), same.end(), std::size_t{0});
  Order channels_last = same;
  std::rotate(channels_last.begin() + 1, channels_last.begin() + 2, channels_last.end());
  Order filter = same;
  std::rotate(filter.begin(), filter.begin() + 2, filter.end());
  std::swap(filter[rank - 2], filter[rank - 1]);
  Order transposed_filter = same;
  std::rotate(transposed_filter.begin(), transposed_filter.begin() + 1, transposed_filter.end());
  return {channels_last,   inverse(channels_last), filter,
          inverse(filter), transposed_filter,      inverse(transposed_filter)};
}

std::vector<Order> axes_moved_last(std::size_t rank) {
  std::vector<Order> orders;
  for (std::size_t axis = 0; axis + 1 < rank; ++axis) {
    Order order(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto at = order.begin() + static_cast<std::ptrdiff_t>(axis);
    std::rotate(at, at + 1, order.end());
    orders.push_back(inverse(order));
    orders.push_back(std::move(order));
  }
  return orders;
}

std::vector<Order> orders_between(const Shape& shape, const Shape& other) {
  if (shape.size() != other.size())
    return without_ones(shape) == without_ones(other) ? std::vector<Order>{{}} : std::vector<Order>();
  std::vector<Order> found;
  if (shape == other) found.push_back({});
  const std::size_t rank = shape.size();
  if (rank < 2) return found;
  Order same(rank);
  std::iota(same.begin(), same.end(), 0u);
  const auto add = [&](const Order& order) {
    if (order != same && fits(shape, other, order) && std::ranges::find(found, order) == found.end())
      found.push_back(order);
  };
  for (const Order& order : layouts_of_runtimes(rank)) add(order);
  for (const Order& order : axes_moved_last(rank)) add(order);
  for (Order order = same; rank <= 4 && std::ranges::next_permutation(order).found;) add(order);
  return found;
}

Result<Tensor> restored(const Tensor& other, const Order& order, const Shape& shape) {
  DRIFTSCOPE_TRY(const Tensor made, permuted(other, inverse(order)));
  return made.reshaped(shape);
}

Samples samples_of(const Tensor& tensor, const Tensor& other, const Order& order, std::size_t limit) {
  Samples samples;
  const auto count = static_cast<std::size_t>(tensor.elements());
  const std::size_t step = std::max<std::size_t>(1, count / std::max<std::size_t>(limit, 1));
  const Shape strides = strides_of(tensor.shape());
  const Shape other_strides = strides_of(other.shape());
  for (std::size_t i = 0; i < count; i += step) {
    std::size_t j = i;
    if (!order.empty()) {
      j = 0;
      for (std::size_t axis = 0; axis < order.size(); ++axis) {
        const std::size_t from = order[axis];
        const std::int64_t at = static_cast<std::int64_t>(i) / strides[from] % tensor.shape()[from];
        j += static_cast<std::size_t>(at * other_strides[axis]);
      }
    }
    samples.first.push_back(number_at(tensor, i));
    samples.second.push_back(number_at(other, j));
  }
  return samples;
}

Result<Tensor> as_dtype(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  if (!same_kind(tensor.dtype(), dtype))
    return bad_input(fmt::format("{} where {} is expected", dtype_name(tensor.dtype()), dtype_name(dtype)));
  DRIFTSCOPE_TRY(Tensor made, Tensor::unwritten(dtype, tensor.shape()));
  DRIFTSCOPE_CHECK(store_numbers(numbers_of(tensor), made));
  return made;
}

bool same_kind(DType a, DType b) {
  const auto is_whole = [](DType dtype) {
    return dtype == DType::boolean || (is_integer(dtype) && bits_per_element(dtype) >= 8);
  };
  return (is_floating(a) && is_floating(b)) || (is_whole(a) && is_whole(b));
}

}  // namespace driftscope::convert
