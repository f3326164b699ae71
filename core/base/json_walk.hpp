// A first look at JSON from elsewhere that builds nothing: is it well-formed, how deep, are keys unique?
// The library's own callbacks while parsing would do as well, but take time as the square of the number of
// keys of an object. Clients: the readers of headers, metadata and baselines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace driftscope {

struct JsonWalk {
  bool valid = false;  ///< well-formed, and not too deep
  bool too_deep = false;
  std::string duplicate;           ///< the first key that an object has twice; which one counts is undefined
  std::vector<std::string> order;  ///< keys of the outermost object, as they come
};

/// At most `deepest` objects and arrays may lie inside each other: readers that recurse cannot run out of
/// stack.
[[nodiscard]] JsonWalk walk_json(std::string_view text, int deepest);

}  // namespace driftscope
