// Content codings of HTTP (RFC 9110, 8.4): choosing one that a browser accepts, encoding, and checking.
// Client: static_files. It knows nothing of files or requests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace driftscope {

enum class Coding { identity, gzip, brotli };

/// The value of Content-Encoding: "", "gzip", "br".
[[nodiscard]] std::string_view coding_name(Coding coding);

/// The shortest coding that the header Accept-Encoding allows (RFC 9110, 12.5.3): brotli, else gzip,
/// else identity. "q=0" forbids one; other weights are ignored.
[[nodiscard]] Coding best_coding(std::string_view accept_encoding);

/// Fast, for files not compressed by the build (brotli 5, gzip 6). Nothing if memory
/// runs out.
[[nodiscard]] std::optional<std::string> compress(Coding coding, std::string_view bytes);

/// Whether `coded` is `plain` in this coding, nothing before it and nothing after.
[[nodiscard]] bool decodes_to(Coding coding, std::string_view coded, std::string_view plain);

}  // namespace driftscope
