// The frame of a self-contained HTML page: style, policy, main element. Clients: pages of results.
#pragma once

#include <string>
#include <string_view>

namespace driftscope {

/// `style`: rules beside the report's; `main`: markup, with what comes from files escaped in it. Nothing but
/// that style and pictures inside the page is loaded, and nothing runs.
[[nodiscard]] std::string page_html(const std::string& title, std::string_view style,
                                    const std::string& main);

/// The policy of such a page: its style sheet by its hash.
[[nodiscard]] std::string page_policy(const std::string& style);

}  // namespace driftscope
