// Cookies of requests. Clients: one_visit, hub.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace driftscope {

/// The value of this name in Cookie headers ("a=1; b=2"); empty: there is none.
[[nodiscard]] std::string cookie(const std::vector<std::string>& headers, std::string_view name);

}  // namespace driftscope
