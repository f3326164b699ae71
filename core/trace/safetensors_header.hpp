// The JSON header of a safetensors file, as data. Clients: safetensors, trace_view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// One tensor of the header; offsets count from the end of the header.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::undefined;
  Shape shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::size_t position = 0;  ///< in the header
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<SafetensorsEntry> entries;
};

/// Parses the JSON; entries keep the order of the text. Duplicate keys, wrong types and unknown
/// dtypes are errors; offsets are not checked here.
[[nodiscard]] Result<SafetensorsHeader> parse_safetensors_header(std::string_view text);

/// The JSON, entries in their order. All names and texts must be UTF-8.
[[nodiscard]] std::string safetensors_header_text(const SafetensorsHeader& header);

/// "F32", …; empty for a dtype that the format lacks.
[[nodiscard]] std::string_view safetensors_dtype(DType dtype);

}  // namespace driftscope
