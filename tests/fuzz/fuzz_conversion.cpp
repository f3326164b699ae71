// Any bytes as the map of a conversion check, and as the values of both sides: two traces without models,
// which the bytes before the first 0 pair.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "core/convert_check/check.hpp"
#include "core/platform/platform.hpp"
#include "core/trace/trace_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace driftscope;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto end = static_cast<std::size_t>(std::ranges::find(bytes, std::byte{0}) - bytes.begin());
  const auto map = convert::read_value_map({reinterpret_cast<const char*>(bytes.data()), end});
  if (end == size) return 0;
  // Two traces, one behind the other: the first one's length comes in two bytes.
  const auto rest = bytes.subspan(end + 1);
  if (rest.size() < 2) return 0;
  const std::size_t length = std::min(
      rest.size() - 2, std::to_integer<std::size_t>(rest[0]) + 256 * std::to_integer<std::size_t>(rest[1]));
  const auto a = read_trace(rest.subspan(2, length));
  const auto b = read_trace(rest.subspan(2 + length));
  if (!a.ok() || !b.ok()) return 0;
  const convert::Side first(nullptr, *a);
  const convert::Side second(nullptr, *b);
  const auto pairs = convert::align(first, second, map.ok() ? *map : convert::ValueMap{});
  if (!pairs.ok()) return 0;
  for (const convert::ValuePair& pair : pairs->pairs)
    if (first.find(pair.a) == nullptr || second.find(pair.b) == nullptr) std::abort();
  // What is written is read again.
  const auto again = convert::read_value_map(convert::value_map_json(*pairs));
  if (!again.ok()) std::abort();
  static ThreadPool threads(1);
  (void)convert::check_conversion(first, second, map.ok() ? *map : convert::ValueMap{}, threads);
  return 0;
}
