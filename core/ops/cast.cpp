// Cast (opset 6 to 25) and CastLike (15 to 25) between all types but strings, complex numbers and float6.
//
// float to float rounds to nearest even. float to integer truncates towards zero; ONNX leaves NaN and
// numbers out of range open: here they become 0 and the nearest end, or the low bits of four as in ONNX's
// cases, and any integer is within the bound. Integers to narrower integers keep their low bits. Anything but
// 0 is true. To float8 and float4 as in ONNX's tables (core/base/minifloat.hpp); a runtime may go by way of
// float32.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "core/graph/attributes.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/rounding.hpp"
#include "core/ops/shared/elementwise.hpp"
#include "core/ops/shared/minifloats.hpp"

namespace driftscope::ops::cast {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool can_be_cast(DType dtype) {
  return dtype != DType::string && dtype != DType::complex64 && dtype != DType::complex128;
}

Status check_input(const InferContext& context) {
  const DType dtype = context.input(0).dtype;
  if (can_be_cast(dtype)) return {};
  return unsupported(
      fmt::format("input 0 (input): a cast from {} is not supported; casts are "
                  "between floating-point types, integers and bool",
                  dtype_name(dtype)));
}

Result<DType> target_type(const Node& node) {
  if (node.attribute("to") == nullptr) return bad_input("attribute to: is missing");
  DRIFTSCOPE_TRY(const std::int64_t to, int_attribute(node, "to", 0));
  if (to == 27 || to == 28)
    return unsupported(fmt::format("attribute to: {} is a float of 6 bits, which is not known here", to));
  const auto dtype = dtype_from_onnx(to);
  if (!dtype || *dtype == DType::undefined)
    return bad_input(fmt::format("attribute to: {} is not an element type", to));
  if (!can_be_cast(*dtype))
    return unsupported(fmt::format("attribute to: a cast to {} is not supported", dtype_name(*dtype)));
  return *dtype;
}

Result<std::vector<TensorType>> infer_cast(const InferContext& context) {
  DRIFTSCOPE_CHECK(check_input(context));
  DRIFTSCOPE_TRY(const DType dtype, target_type(context.node()));
  return std::vector{TensorType{dtype, context.input(0).shape}};
}

Result<std::vector<TensorType>> infer_cast_like(const InferContext& context) {
  DRIFTSCOPE_CHECK(check_input(context));
  const DType dtype = context.input(1).dtype;
  if (!can_be_cast(dtype))
    return unsupported(
        fmt::format("input 1 (target_type): a cast to {} is not supported", dtype_name(dtype)));
  return std::vector{TensorType{dtype, context.input(0).shape}};
}

// ---- from floating types ----

// Whether every number of `from` is representable in `to`.
bool widens(DType from, DType to) {
  if (is_minifloat(from) && from != DType::float8e8m0) return true;
  return from == to || to == DType::float64 || (to == DType::float32 && from != DType::float64);
}

Bounded rounded(Bounded x) {
  if (!std::isfinite(x.value) || !(x.worst < infinity)) return x;
  const ErrorModel& model = current_error_model();
  const double half_step = power_of_two_below(model.largest) * model.ulp / 2;
  if (model.rounds_to_nearest && std::fabs(x.value) - x.worst >= model.largest + half_step)
    return x.value > 0.0 ? infinity : -infinity;
  const auto add = [&](double error) { return error + rounding_error(model, std::fabs(x.value) + error); };
  return {x.value, add(x.worst), add(x.likely), add(x.systematic)};
}

template <class S, class Elements>
void float_to_float(KernelContext<S>& context, const Elements& elements) {
  const bool exact = widens(context.dtype(0), context.output_dtype(0));
  map_elements(context, elements, context.real_output(0), [&](S x) {
    if constexpr (std::is_same_v<S, Bounded>)
      return exact ? x : rounded(x);
    else
      return x;  // storing it in the narrower type rounds it
  });
}

// Bounds of the integer converted from x, for integers from low to high.
Bounded cut(Bounded x, double result, double low, double high) {
  const auto inside = [&](double t) { return t > low - 1.0 && t < high + 1.0; };
  if (!inside(x.value - x.worst) || !inside(x.value + x.worst)) return {result, infinity, infinity};
  return math::step(x, [](double t) { return std::trunc(t); });
}

template <class S>
Status bound_integers(KernelContext<S>& context, std::span<const S> x, double low, double high) {
  if constexpr (std::is_same_v<S, Bounded>) {
    const bool all_sure = std::all_of(x.begin(), x.end(), [&](const Bounded& b) {
      return b.worst == 0.0 && cut(b, 0.0, low, high).worst == 0.0;
    });
    if (all_sure) return {};
    DRIFTSCOPE_TRY(const std::span<Bounded> bounds, context.bounds_output(0));
    map_elements(context, x, bounds, [&](const Bounded& b) {
      return cut(b, std::fmin(std::fmax(std::trunc(b.value), low), high), low, high);
    });
  }
  return {};
}

template <class S>
Status float_to_integer(KernelContext<S>& context, std::span<const S> x) {
  double low = 0.0;
  double high = 0.0;
  visit_number(context.output_dtype(0), [&]<class E>() {
    if constexpr (E::kind != ElementKind::integer) {
      return;
    } else {
      low = static_cast<double>(E::lowest);
      high = static_cast<double>(E::largest);
    }
    if constexpr (E::packed) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto whole = truncate_to_integer<std::int32_t>(math::to_double(x[i]));
        store_packed(context.tensor_output(0), i, static_cast<unsigned>(whole));
      }
    } else if constexpr (E::kind == ElementKind::integer) {
      using T = typename E::Stored;
      map_elements(context, x, context.tensor_output(0).template mutable_values<T>(),
                   [](const S& t) { return truncate_to_integer<T>(math::to_double(t)); });
    }
  });
  return bound_integers(context, x, low, high);
}

template <class S>
Status float_to_bool(KernelContext<S>& context, std::span<const S> x) {
  map_elements(context, x, context.tensor_output(0).template mutable_values<std::uint8_t>(),
               [](const S& t) { return std::uint8_t(math::value(t) != 0); });
  if constexpr (std::is_same_v<S, Bounded>) {
    if (!math::has_error(x)) return {};
    DRIFTSCOPE_TRY(const std::span<Bounded> bounds, context.bounds_output(0));
    map_elements(context, x, bounds, [](const Bounded& b) {
      const auto jump = [&](double error) {
        return error > 0.0 && !(std::fabs(b.value) > error) ? 1.0 : 0.0;
      };
      return Bounded(b.value != 0.0 ? 1.0 : 0.0, jump(b.worst), jump(b.likely));
    });
  }
  return {};
}

// ---- from integers ----

// A double that rounds to every shorter type as x itself does: truncated, and made odd if bits were lost
// (rounding to odd; Boldo and Melquiond 2008).
template <class T>
double rounded_to_odd(T x) {
  if constexpr (sizeof(T) < 8) {
    return static_cast<double>(x);
  } else {
    const bool negative = x < 0;
    std::uint64_t magnitude = static_cast<std::uint64_t>(x);
    if (negative) magnitude = 0 - magnitude;
    const int lost = std::max(0, 64 - 53 - std::countl_zero(magnitude));
    const std::uint64_t below = (std::uint64_t{1} << lost) - 1;
    if ((magnitude & below) != 0) magnitude |= below + 1;
    const auto cut = static_cast<double>(magnitude & ~below);
    return negative ? -cut : cut;
  }
}

template <class S, class T>
S to_real(T x, DType to, double exact_up_to) {
  if constexpr (std::is_same_v<S, Bounded>) {
    const double value = static_cast<double>(x);
    if (std::fabs(value) <= exact_up_to) return value;
    // By way of float32, or at once.
    Bounded result = rounded(value);
    const double first = std::fabs(value) * unit_roundoff_f32;
    return {value, result.worst + first, result.likely + first};
  } else if constexpr (std::is_same_v<S, double>) {
    return to == DType::float64 ? static_cast<double>(x) : rounded_to_odd(x);
  } else {
    return static_cast<S>(x);
  }
}

// Whole numbers that the type holds exactly.
double whole_numbers(DType dtype) {
  double last = 0.0;
  visit_floating(dtype, [&]<class E>() { last = std::ldexp(1.0, E::digits); });
  return last;
}

// Integers that rounding may have moved, as numbers.
void widen_by(std::span<const Bounded> moved, std::span<Bounded> y, double exact_up_to) {
  const ErrorModel& model = current_error_model();
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const auto add = [&](double& bound, double error) {
      if (error == 0.0) return;
      const double size = std::fabs(y[i].value) + error;
      bound += error + (size <= exact_up_to ? 0.0 : 2.0 * rounding_error(model, size));
    };
    add(y[i].worst, moved[i].worst);
    add(y[i].likely, moved[i].likely);
    add(y[i].systematic, moved[i].systematic);
  }
}

template <class S, class T>
void from_integers(KernelContext<S>& context, std::span<const T> x) {
  const DType to = context.output_dtype(0);
  if (is_floating(to)) {
    const double exact_up_to = whole_numbers(to);
    map_elements(context, x, context.real_output(0), [&](T t) { return to_real<S>(t, to, exact_up_to); });
    if constexpr (std::is_same_v<S, Bounded>) widen_by(context.real(0), context.real_output(0), exact_up_to);
  } else if (to == DType::boolean) {
    map_elements(context, x, context.tensor_output(0).template mutable_values<std::uint8_t>(),
                 [](T t) { return std::uint8_t(t != 0); });
  } else if (bits_per_element(to) < 8) {
    for (std::size_t i = 0; i < x.size(); ++i)
      store_packed(context.tensor_output(0), i, static_cast<unsigned>(x[i]));
  } else {
    context.with_integer(to, [&]<class Y>() {
      map_elements(context, x, context.tensor_output(0).template mutable_values<Y>(),
                   [](T t) { return cut_integer<Y>(widen_integer(t)); });
    });
  }
}

// ---- to and from minifloats ----

// What x may be in float32, where a runtime goes by way of it.
Bounded by_way_of_float32(const Bounded& x) {
  const double value = std::fabs(x.value);
  if (!std::isfinite(value) || static_cast<double>(static_cast<float>(x.value)) == x.value) return x;
  const double error = value * unit_roundoff_f32;
  return {x.value, x.worst + error, x.likely + error};
}

template <class S>
Status to_minifloats(KernelContext<S>& context, std::span<const S> x) {
  Tensor& y = context.tensor_output(0);
  DRIFTSCOPE_TRY(const MinifloatRounder rounder, MinifloatRounder::make(y.dtype(), context.node()));
  std::vector<std::uint8_t> bits(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) bits[i] = rounder.bits(math::to_double(x[i]));
  store_minifloats(bits, y);
  if constexpr (std::is_same_v<S, Bounded>) {
    std::vector<Bounded> bounds(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) bounds[i] = rounder.bounded(by_way_of_float32(x[i]));
    if (!math::has_error(std::span<const Bounded>(bounds))) return {};
    DRIFTSCOPE_TRY(const std::span<Bounded> output, context.bounds_output(0));
    std::ranges::copy(bounds, output.begin());
  }
  return {};
}

template <class S>
Status from_minifloats(KernelContext<S>& context) {
  const std::vector<S> numbers = stored_numbers(context, 0);
  const std::span<const S> x = numbers;
  const DType to = context.output_dtype(0);
  if (to == DType::boolean) return float_to_bool(context, x);
  if (!is_floating(to)) return float_to_integer(context, x);
  float_to_float(context, x);
  return {};
}

struct Cast {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const DType from = context.dtype(0);
    const DType to = context.output_dtype(0);
    if (is_minifloat(to))
      return is_floating(from) ? to_minifloats(context, context.real(0))
                               : to_minifloats(context, std::span<const S>(stored_numbers(context, 0)));
    if (is_minifloat(from)) return from_minifloats(context);
    if (is_floating(from)) {
      if (to == DType::boolean) return float_to_bool(context, context.real(0));
      if (!is_floating(to)) return float_to_integer(context, context.real(0));
      float_to_float(context, RealElements<S>(context, 0));
    } else if (bits_per_element(from) < 8) {
      std::vector<std::int8_t> values(static_cast<std::size_t>(context.tensor(0).elements()));
      with_numbers(context.tensor(0), [&](const auto& at) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int8_t>(at(i));
      });
      from_integers(context, std::span<const std::int8_t>(values));
    } else {
      with_integer_or_bool(
          from, [&]<class T>() { from_integers(context, context.tensor(0).template values<T>()); });
    }
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Cast>(
      {.op_type = "Cast", .since = 6, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_cast}));
  table.add(with_kernels<Cast>(
      {.op_type = "CastLike", .since = 15, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_cast_like}));
}

}  // namespace driftscope::ops::cast
