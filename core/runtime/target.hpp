// Target names: "host/engine[:option=value,…]", e.g. "chrome/strict:threads=2".
// Clients: the command line, the session service, traces, reports.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

struct Target {
  std::string host;    ///< pc, chrome, firefox, safari, node, file, …
  std::string engine;  ///< reference, strict, …; for host "file" the path of a trace
  std::map<std::string, std::string> options;

  /// The name again, options in alphabetical order.
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] Result<Target> parse_target(std::string_view text);

/// Commas separate targets and also options: "a/x:k=v,l=w,b/y" has two targets. A
/// part that holds a "/" before any "=" starts a new target.
[[nodiscard]] Result<std::vector<Target>> parse_targets(std::string_view text);

}  // namespace driftscope
