// What issues for all makers have in common, as Markdown. Clients: runtimes/.
#pragma once

#include <string>

#include "core/repro/runtime.hpp"

namespace driftscope::repro {

/// The operators, inputs, weights and output as a list, with how many elements are wrong and which.
[[nodiscard]] std::string contents_list(const Report& report);

/// The worst element in a table; empty without one.
[[nodiscard]] std::string element_table(const Report& report);

/// What was computed instead, if that is known; ends with an empty line.
[[nodiscard]] std::string cause_text(const Report& report);

/// One parameter beside right and wrong; empty where none was varied.
[[nodiscard]] std::string parameter_section(const Report& report);

/// "In the attached folder: npm install …"
[[nodiscard]] std::string page_steps();

/// The sections on what was expected and what came, as Chromium's tracker asks for them.
[[nodiscard]] std::string expected_and_instead(const Report& report);

/// "2 of 64 elements are wrong"
[[nodiscard]] std::string wrong_text(const Report& report);

}  // namespace driftscope::repro
