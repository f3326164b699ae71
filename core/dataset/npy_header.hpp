// The header of a .npy file: a Python dictionary as text. Clients: npy.cpp only.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

struct NpyHeader {
  std::string descr;  ///< "<f4"
  bool fortran_order = false;
  Shape shape;
};

/// Parses {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }: these three keys, each once, in
/// any order, and nothing else.
[[nodiscard]] Result<NpyHeader> parse_npy_header(std::string_view text);

}  // namespace driftscope
