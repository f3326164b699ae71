// What a file is that is no ONNX model, for the message: people export to other formats, and downloads give
// pages and pointers. Client: the ONNX reader, once reading has failed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace driftscope {

/// So many first bytes are looked at.
inline constexpr std::size_t foreign_file_bytes = 512;

/// What begins so, and what to do about it: "a Git LFS pointer; fetch the file itself with `git lfs pull`".
/// Empty when nothing is known that begins so.
[[nodiscard]] std::string foreign_file(std::string_view begin);

}  // namespace driftscope
