// Content codings of HTTP (RFC 9110, 8.4): choosing one that a browser accepts, encoding, and checking.
// Clients: static_files, job_api. It knows nothing of files or requests.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

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

/// What a body holds that was packed by gzip, which must be `bytes` long: no more is ever unpacked. Errors:
/// another length, no gzip, something behind it.
[[nodiscard]] Result<std::vector<std::byte>> unpack_gzip(std::span<const std::byte> coded, std::size_t bytes);

}  // namespace driftscope
