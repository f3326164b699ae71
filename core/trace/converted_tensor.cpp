#include "core/trace/converted_tensor.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "core/model/element.hpp"

namespace driftscope {
namespace {

template <class From, class To>
constexpr bool converts() {
  if constexpr (From::kind == ElementKind::floating && To::kind == ElementKind::floating)
    return From::dtype == DType::float64;
  else if constexpr (From::kind == ElementKind::integer && To::kind == ElementKind::integer)
    return std::is_signed_v<typename From::Stored> == std::is_signed_v<typename To::Stored> &&
           sizeof(typename From::Stored) < sizeof(typename To::Stored);
  else
    return false;
}

/// Calls body.template operator()<From, To>() with two different types that convert; whether there were such.
template <class Body>
bool with_conversion(DType from, DType to, const Body& body) {
  bool done = false;
  visit_plain_number(from, [&]<class From>() {
    visit_plain_number(to, [&]<class To>() {
      if constexpr (converts<From, To>() && From::dtype != To::dtype) {
        body.template operator()<From, To>();
        done = true;
      }
    });
  });
  return done;
}

}  // namespace

bool can_convert(DType from, DType to) {
  return with_conversion(from, to, []<class From, class To>() {});
}

Result<Tensor> converted_tensor(const Tensor& tensor, DType to, Shape shape) {
  if (tensor.dtype() == to) return tensor.reshaped(std::move(shape));
  DRIFTSCOPE_TRY(Tensor result, Tensor::make(to, std::move(shape), "a converted tensor"));
  if (result.elements() != tensor.elements()) return internal_error("a conversion changes the elements");
  const bool done = with_conversion(tensor.dtype(), to, [&]<class From, class To>() {
    const auto source = tensor.values<typename From::Stored>();
    const auto target = result.mutable_values<typename To::Stored>();
    for (std::size_t i = 0; i < target.size(); ++i) {
      if constexpr (To::kind == ElementKind::floating)
        target[i] = To::nearest(source[i]);
      else
        target[i] = static_cast<typename To::Stored>(source[i]);
    }
  });
  if (!done)
    return bad_input(fmt::format("{} cannot be taken for {}", dtype_name(tensor.dtype()), dtype_name(to)));
  return result;
}

}  // namespace driftscope
