#include "core/hunt/fill.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/hunt/draws.hpp"
#include "core/model/tensor_elements.hpp"

namespace driftscope::hunt {

void FillTable::add(const Fill& fill) {
  const auto place =
      std::ranges::upper_bound(fills_, std::pair(fill.order, fill.name), {},
                               [](const Fill& other) { return std::pair(other.order, other.name); });
  fills_.insert(place, fill);
}

const Fill& draw_fill(Rng& rng) {
  std::vector<const Fill*> fills;
  for (const Fill& fill : fill_table().all()) fills.push_back(&fill);
  return by_weight(rng, fills);
}

void store_number(Tensor& tensor, std::size_t i, double value) {
  visit_number(tensor.dtype(), [&]<class E>() {
    if constexpr (E::kind == ElementKind::minifloat) {
      const unsigned bits = narrow(E::format, value, true);
      if constexpr (E::packed)
        store_packed(tensor, i, bits);
      else
        tensor.mutable_values<std::uint8_t>()[i] = static_cast<std::uint8_t>(bits);
    } else if constexpr (E::packed) {
      const double whole = std::isnan(value) ? 0.0 : std::nearbyint(value);
      const double limited = std::clamp(whole, double{E::lowest}, double{E::largest});
      store_packed(tensor, i, static_cast<unsigned>(static_cast<int>(limited)));
    } else if constexpr (E::kind == ElementKind::floating) {
      tensor.mutable_values<typename E::Stored>()[i] = E::nearest(value);
    } else if constexpr (E::kind == ElementKind::boolean) {
      tensor.mutable_values<typename E::Stored>()[i] = value > 0.0;
    } else {
      constexpr double safe = 0x1p62;  // any 64-bit integer that is near the limit stays one
      const double whole = std::isnan(value) ? 0.0 : std::clamp(std::nearbyint(value), -safe, safe);
      using Stored = typename E::Stored;
      const double low = std::max(-safe, static_cast<double>(E::lowest));
      const double high = std::min(safe, static_cast<double>(E::largest));
      tensor.mutable_values<Stored>()[i] = static_cast<Stored>(std::clamp(whole, low, high));
    }
  });
}

Result<Tensor> filled(DType dtype, const Shape& shape, const Fill& fill, Rng& rng) {
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(dtype, shape));
  const auto next = fill.make(Rng(rng.next()));
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i)
    store_number(tensor, i, next());
  return tensor;
}

}  // namespace driftscope::hunt
