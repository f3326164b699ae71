// The checks as JUnit XML, which every pipeline shows: a suite per target, a case per layer.
// Client: the command line (--junit).
#pragma once

#include <string>
#include <string_view>

#include "core/checks/checks.hpp"

namespace driftscope {

/// Beyond `max_passed` passed checks of a target, the rest are one case that gives their
/// number: some pipelines reject large files.
[[nodiscard]] std::string junit_xml(const CheckReport& checks, const ComparisonView& view,
                                    std::size_t max_passed = 2000);

/// For XML 1.0 text and attribute values: characters that it forbids and bytes that are not UTF-8 become
/// U+FFFD.
[[nodiscard]] std::string xml_escape(std::string_view text);

}  // namespace driftscope
