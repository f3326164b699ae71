// All pictures of a set in one tensor of bytes, in the size that the model wants. Clients: formats/idx.cpp,
// formats/cifar10.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/text.hpp"
#include "core/dataset/sample_source.hpp"

namespace driftscope {

/// Reads a file and parses it; both kinds of error name it.
template <class T>
Result<T> parsed_file(const std::string& path, const ReadFile& read_file,
                      Result<T> (*parse)(std::span<const std::byte>)) {
  DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, read_file(path));
  auto value = parse(bytes);
  if (!value.ok()) return in_context(std::move(value).error(), in_quotes(path, 200));
  return value;
}

/// `images`: N×H×W or N×C×H×W, uint8, as `how` expects them; `labels`: one for each, or none.
[[nodiscard]] Result<Source> open_stored_pictures(const DatasetSpec& spec, Tensor images,
                                                  std::vector<std::int64_t> labels, const Preprocess& how);

}  // namespace driftscope
