// Which cause explains a planted fault. Clients: judge, main.
#pragma once

#include <string>

namespace driftscope::faults {

/// The finding that must name the kind's cause, as in "parameter.bias_missing"; empty: it is not in the
/// catalogue (core/verify/variants), and no cause may be named.
[[nodiscard]] std::string expected_cause(std::string kind);

}  // namespace driftscope::faults
