#include "core/eval/room.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "core/base/checked.hpp"
#include "core/model/alive_tensors.hpp"

namespace driftscope {

Error no_room(std::string_view what, const Shape& shape, std::size_t bytes_each) {
  return limit_error(fmt::format("{}: out of memory for {} bytes (shape {} in double precision)", what,
                                 static_cast<std::uint64_t>(element_count(shape)) * bytes_each,
                                 shape_text(shape)));
}

Status expect_room(std::string_view what, const Shape& shape, std::size_t bytes_each) {
  const auto bytes = checked_mul(element_count(shape), static_cast<std::int64_t>(bytes_each));
  if (bytes && *bytes <= tensor_bytes_left() && *bytes <= std::numeric_limits<std::ptrdiff_t>::max())
    return {};
  return no_room(what, shape, bytes_each);
}

}  // namespace driftscope
