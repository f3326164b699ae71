#include "core/quantize/calibration_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"

namespace driftscope::quantize {

float Observed::largest() const { return std::fmax(std::fabs(extremes.low), std::fabs(extremes.high)); }

float Observed::edge(std::size_t i) const {
  const float top = largest();
  if (i == bins.size()) return top;
  const float width = (top + top) / static_cast<float>(bins.size());
  return static_cast<float>(i) * width - top;
}

std::size_t Observed::bin_of(float x) const {
  const auto top = static_cast<double>(largest());
  if (top == 0.0) return bins.size() / 2;
  const double place = (static_cast<double>(x) + top) / (2.0 * top) * static_cast<double>(bins.size());
  auto at = static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(bins.size() - 1)));
  // The edges are rounded: they decide.
  if (at > 0 && x < edge(at)) --at;
  if (at + 1 < bins.size() && x >= edge(at + 1)) ++at;
  return at;
}

void MethodTable::add(Method method) {
  const auto behind = std::ranges::upper_bound(methods_, method.order, {}, &Method::order);
  methods_.insert(behind, std::move(method));
}

std::string method_names() {
  std::vector<std::string> names;
  for (const Method& method : method_table().all()) names.push_back(method.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<const Method*> find_method(std::string_view name) {
  for (const Method& method : method_table().all())
    if (method.name == name) return &method;
  return bad_input(fmt::format("--method {}: expected one of {}", in_quotes(name), method_names()));
}

}  // namespace driftscope::quantize
