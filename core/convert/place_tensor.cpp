#include "core/convert/place_tensor.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace driftscope::convert {
namespace {

// 16-bit floats are converted to float32 and back, below.
template <class E>
constexpr bool is_cpp_number = E::kind != ElementKind::floating || E::bits >= 32;

template <class To, class From>
bool holds(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    if constexpr (std::is_floating_point_v<From>)
      return std::isnan(value) || static_cast<From>(static_cast<To>(value)) == value;
    else  // integers up to the precision are exact
      return std::fabs(static_cast<double>(value)) <= std::exp2(std::numeric_limits<To>::digits);
  } else if constexpr (std::is_floating_point_v<From>) {
    return std::trunc(value) == value && value >= static_cast<From>(std::numeric_limits<To>::min()) &&
           value < std::ldexp(From{1}, std::numeric_limits<To>::digits);
  } else {
    return std::in_range<To>(value);
  }
}

template <class From, class To>
Status convert_all(const Tensor& from, Tensor& to) {
  const auto source = from.values<From>();
  const auto target = to.mutable_values<To>();
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (!holds<To>(source[i]))
      return unsupported(
          fmt::format("element {} is {}, which {} cannot hold", i, +source[i], dtype_name(to.dtype())));
    target[i] = static_cast<To>(source[i]);
  }
  return {};
}

/// Between a float of 16 bits and float32.
template <class Half, bool widens>
Status convert_half(const Tensor& from, Tensor& to) {
  using From = std::conditional_t<widens, std::uint16_t, float>;
  using To = std::conditional_t<widens, float, std::uint16_t>;
  const auto source = from.values<From>();
  const auto target = to.mutable_values<To>();
  for (std::size_t i = 0; i < source.size(); ++i) {
    if constexpr (widens) {
      target[i] = static_cast<float>(Half::to_double(source[i]));
    } else {
      target[i] = Half::nearest(double{source[i]});
      if (!std::isnan(source[i]) && Half::to_double(target[i]) != double{source[i]})
        return unsupported(
            fmt::format("element {} is {}, which {} cannot hold", i, source[i], dtype_name(to.dtype())));
    }
  }
  return {};
}

bool is_permutation(const std::vector<std::size_t>& order) {
  std::vector<bool> seen(order.size());
  for (const std::size_t axis : order) {
    if (axis >= order.size() || seen[axis]) return false;
    seen[axis] = true;
  }
  return true;
}

}  // namespace

Result<Tensor> with_dtype(const Tensor& tensor, DType dtype) {
  if (dtype == tensor.dtype() || dtype == DType::undefined) return tensor;
  DRIFTSCOPE_TRY(Tensor result, Tensor::unwritten(dtype, tensor.shape()));
  Status status;
  bool known = false;
  visit_plain_number(tensor.dtype(), [&]<class From>() {
    visit_plain_number(dtype, [&]<class To>() {
      if constexpr (is_cpp_number<From> && is_cpp_number<To>) {
        status = convert_all<typename From::Stored, typename To::Stored>(tensor, result);
        known = true;
      } else if constexpr (From::dtype == DType::float32 && To::bits == 16 && !is_cpp_number<To>) {
        status = convert_half<To, false>(tensor, result);
        known = true;
      } else if constexpr (To::dtype == DType::float32 && From::bits == 16 && !is_cpp_number<From>) {
        status = convert_half<From, true>(tensor, result);
        known = true;
      }
    });
  });
  if (!known)
    return unsupported(
        fmt::format("elements of {} cannot be passed as {}", dtype_name(tensor.dtype()), dtype_name(dtype)));
  DRIFTSCOPE_CHECK(std::move(status));
  return result;
}

Result<Tensor> permuted(const Tensor& tensor, const std::vector<std::size_t>& order) {
  if (order.empty()) return tensor;
  const Shape& shape = tensor.shape();
  const std::size_t rank = shape.size();
  if (order.size() != rank || !is_permutation(order))
    return unsupported(fmt::format("a tensor of shape {} cannot have its axes in the order [{}]",
                                   shape_text(shape), fmt::join(order, ",")));
  const int bits = bits_per_element(tensor.dtype());
  if (bits % 8 != 0 || bits == 0)
    return unsupported(
        fmt::format("the axes of a tensor of {} cannot be reordered", dtype_name(tensor.dtype())));
  Shape target_shape(rank);
  std::vector<std::int64_t> strides(rank, 1);  // of the source, in elements
  for (std::size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  std::vector<std::int64_t> steps(rank);  // of the source, by axis of the target
  for (std::size_t i = 0; i < rank; ++i) {
    target_shape[i] = shape[order[i]];
    steps[i] = strides[order[i]];
  }
  DRIFTSCOPE_TRY(Tensor result, Tensor::unwritten(tensor.dtype(), target_shape));
  const auto size = static_cast<std::size_t>(bits / 8);
  const std::byte* const source = tensor.bytes().data();
  std::byte* target = result.mutable_bytes().data();
  std::vector<std::int64_t> at(rank, 0);
  std::int64_t offset = 0;
  for (std::int64_t n = 0; n < result.elements(); ++n, target += size) {
    std::memcpy(target, source + static_cast<std::size_t>(offset) * size, size);
    for (std::size_t axis = rank; axis-- > 0;) {
      offset += steps[axis];
      if (++at[axis] < target_shape[axis]) break;
      offset -= steps[axis] * target_shape[axis];
      at[axis] = 0;
    }
  }
  return result;
}

std::vector<std::size_t> inverse(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = i;
  return result;
}

namespace {

// Through int32, as the sum may fit neither type.
Result<Tensor> moved(const Tensor& tensor, std::int64_t by, DType dtype) {
  DRIFTSCOPE_TRY(Tensor wide, with_dtype(tensor, DType::int32));
  for (std::int32_t& value : wide.mutable_values<std::int32_t>()) value += static_cast<std::int32_t>(by);
  return with_dtype(wide, dtype);
}

}  // namespace

Result<Tensor> to_placed(const Tensor& tensor, const PlacedValue& place) {
  DRIFTSCOPE_TRY(Tensor typed, place.offset == 0 ? with_dtype(tensor, place.dtype)
                                                 : moved(tensor, place.offset, place.dtype));
  return permuted(typed, place.order);
}

Result<Tensor> from_placed(const Tensor& tensor, const PlacedValue& place, DType dtype) {
  Tensor ours = tensor;
  if (place.dtype == tensor.dtype()) {
    DRIFTSCOPE_TRY(ours, place.offset == 0 ? with_dtype(tensor, dtype) : moved(tensor, -place.offset, dtype));
  }
  if (place.order.size() != tensor.shape().size()) return ours;
  return permuted(ours, inverse(place.order));
}

}  // namespace driftscope::convert
