// Recognises files that are not ONNX models, for the error message: people export other formats, downloads
// yield HTML pages and LFS pointers. Client: the ONNX reader, once reading has failed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace driftscope {

/// Number of leading bytes that are examined.
inline constexpr std::size_t foreign_file_bytes = 512;

/// What a file with these first bytes is, and what to do: "a Git LFS pointer; fetch the file itself with
/// `git lfs pull`". Empty for unknown beginnings.
[[nodiscard]] std::string foreign_file(std::string_view begin);

}  // namespace driftscope
