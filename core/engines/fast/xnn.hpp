// RAII wrappers for XNNPACK's C objects. Clients: the lowering and its
// operators, the session. The library's names stay visible: a reader of an operator's file finds
// XNNPACK's own calls there.
#pragma once

#include <xnnpack.h>

#include <memory>
#include <string_view>
#include <type_traits>

#include "core/base/result.hpp"

namespace driftscope::fast {

struct DeleteOperator {
  void operator()(xnn_operator_t op) const { xnn_delete_operator(op); }
};
using XnnOperator = std::unique_ptr<std::remove_pointer_t<xnn_operator_t>, DeleteOperator>;

/// Once per process; an error when this processor lacks what XNNPACK needs.
[[nodiscard]] Status initialize_xnnpack();

[[nodiscard]] std::string_view status_text(xnn_status status);

/// An internal error that names the call, or nothing.
[[nodiscard]] Status xnn_check(xnn_status status, std::string_view call);

}  // namespace driftscope::fast
