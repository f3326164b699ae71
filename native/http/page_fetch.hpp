// A page and the files that it names, fetched as a browser's first visit would: only the URL that the user
// gave and files of its own origin, without cookies, within limits of size, time and number. Nothing is
// executed. Client: driftscope doctor --page.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/deploy/page.hpp"

namespace driftscope {

struct FetchLimits {
  std::chrono::milliseconds request{15000};  ///< for each request, whatever it does
  std::chrono::milliseconds all{60000};      ///< after it no further file is asked for
  std::int64_t text_bytes = 8 << 20;         ///< of a page or script, decoded
  std::size_t files = 64;
  int redirects = 10;
  int script_levels =
      1;  ///< 1: scripts that the page names are looked through; 2: also those that these name
};

/// `beside_models`: names of files that lie beside every model of the page (its external data). Errors: a URL
/// that is wrong, no connection, a certificate that browsers refuse, a redirect loop, a body or an answer
/// without an end. What happens to the other files is part of the result.
[[nodiscard]] Result<DeployPage> fetch_page(std::string_view url,
                                            std::span<const std::string> beside_models = {},
                                            const FetchLimits& limits = {});

}  // namespace driftscope
