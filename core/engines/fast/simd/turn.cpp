#include "core/engines/fast/simd/turn.hpp"

#include "core/numerics/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/engines/fast/simd/turn.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace driftscope::fast {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t tile = turned_together;

HWY_INLINE void turn_one_by_one(const Turn<std::uint32_t>& it, std::size_t first_s, std::size_t end_s,
                                std::size_t first_c, std::size_t end_c) {
  for (std::size_t s = first_s; s < end_s; ++s)
    for (std::size_t c = first_c; c < end_c; ++c)
      it.target[c * it.target_row + s] = it.source[s * it.source_row + c];
}

#if HWY_MAX_BYTES >= 16

// Four by four. Vectors of 128 bits suffice: memory is the limit.
HWY_INLINE void turn_square(const std::uint32_t* HWY_RESTRICT from, std::size_t from_row,
                            std::uint32_t* HWY_RESTRICT to, std::size_t to_row) {
  const hn::FixedTag<std::uint32_t, 4> d;
  const auto a = hn::LoadU(d, from);
  const auto b = hn::LoadU(d, from + from_row);
  const auto c = hn::LoadU(d, from + 2 * from_row);
  const auto e = hn::LoadU(d, from + 3 * from_row);
  const auto ac_low = hn::InterleaveLower(d, a, c);
  const auto ac_high = hn::InterleaveUpper(d, a, c);
  const auto be_low = hn::InterleaveLower(d, b, e);
  const auto be_high = hn::InterleaveUpper(d, b, e);
  hn::StoreU(hn::InterleaveLower(d, ac_low, be_low), d, to);
  hn::StoreU(hn::InterleaveUpper(d, ac_low, be_low), d, to + to_row);
  hn::StoreU(hn::InterleaveLower(d, ac_high, be_high), d, to + 2 * to_row);
  hn::StoreU(hn::InterleaveUpper(d, ac_high, be_high), d, to + 3 * to_row);
}

// Rows of the source are far apart: those of the next tile are prefetched during this one.
HWY_INLINE void ask_for_rows(const Turn<std::uint32_t>& it, std::size_t s, std::size_t c) {
  if (s + tile > it.spatial) return;
  for (std::size_t i = 0; i < tile; ++i) hwy::Prefetch(it.source + (s + i) * it.source_row + c);
}

void turn(const Turn<std::uint32_t>& it) {
  const std::size_t channels = it.channels / tile * tile;
  const std::size_t spatial = it.spatial / tile * tile;
  for (std::size_t first_s = 0; first_s < spatial; first_s += tile)
    for (std::size_t first_c = 0; first_c < channels; first_c += tile) {
      ask_for_rows(it, first_s + tile, first_c);
      for (std::size_t c = first_c; c < first_c + tile; c += 4)
        for (std::size_t s = first_s; s < first_s + tile; s += 4)
          turn_square(it.source + s * it.source_row + c, it.source_row, it.target + c * it.target_row + s,
                      it.target_row);
    }
  turn_one_by_one(it, spatial, it.spatial, 0, channels);
  turn_one_by_one(it, 0, it.spatial, channels, it.channels);
}

#else

void turn(const Turn<std::uint32_t>& it) { turn_one_by_one(it, 0, it.spatial, 0, it.channels); }

#endif

Turn32 get_turn() { return &turn; }

}  // namespace HWY_NAMESPACE
}  // namespace driftscope::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/engines/strict/simd/dispatch.hpp"

namespace driftscope::fast {

HWY_EXPORT(get_turn);

Turn32 turn32(const SimdTarget& target) {
  return simd_function(HWY_DISPATCH_TABLE(get_turn), target.highway)();
}

}  // namespace driftscope::fast
#endif  // HWY_ONCE
