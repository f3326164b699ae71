// Picks a function out of a table made by HWY_EXPORT for a given target instead of the best one, so
// that sessions of different widths live side by side. To be included after highway.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

namespace driftscope {

template <class Function, std::size_t size>
[[nodiscard]] Function simd_function(Function const (&table)[size], std::int64_t target) {
  if constexpr (size == 1) {
    return table[0];  // a build with a single target
  } else {
    hwy::ChosenTarget chosen;
    chosen.Update(target);
    return table[chosen.GetIndex()];
  }
}

}  // namespace driftscope
