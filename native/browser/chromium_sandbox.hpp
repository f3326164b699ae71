// Whether Chromium can isolate its pages from this machine, and what it is started with otherwise. Clients:
// browsers, browser_features, doctor.
//
// Its sandbox needs user namespaces, which the kernel or a container may forbid (Docker does by default), and
// does not work as root. Without it, a vulnerability of the browser exposes the machine: so a Chromium is
// started without one only as root, or where $DRIFTSCOPE_SANDBOX is "if-possible", as in our image, which is
// one itself.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// Why the sandbox does not work here; empty: it works. Asked once per process.
[[nodiscard]] const std::string& why_no_sandbox();

/// What it is started with: nothing, or --no-sandbox. Errors: missing, where that was not allowed.
[[nodiscard]] Result<std::vector<std::string>> sandbox_arguments();

/// The same for a given reason (of why_no_sandbox), for root or not, and value of $DRIFTSCOPE_SANDBOX.
[[nodiscard]] Result<std::vector<std::string>> sandbox_arguments(const std::string& why, bool root,
                                                                 const std::string& setting);

}  // namespace driftscope
