// Content codings of HTTP (RFC 9110, 8.4): which one a browser takes, and the bytes in it.
// Client: static_files. It knows nothing of files or requests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace driftscope {

enum class Coding { identity, gzip, brotli };

/// As Content-Encoding says it: "", "gzip", "br".
[[nodiscard]] std::string_view coding_name(Coding coding);

/// The shortest coding that the header Accept-Encoding allows (RFC 9110, 12.5.3): brotli, else gzip,
/// else identity. "q=0" forbids one; other weights are not looked at.
[[nodiscard]] Coding best_coding(std::string_view accept_encoding);

/// Quick, for what was not compressed when the page was built (brotli 5, gzip 6). Nothing when there is
/// no memory for it.
[[nodiscard]] std::optional<std::string> compress(Coding coding, std::string_view bytes);

}  // namespace driftscope
