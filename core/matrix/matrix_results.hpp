// What came of a cell, from the comparison that it wrote; the results of a matrix as text. Clients: the
// matrix command, tests. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "generated/documents/matrix_results.hpp"

namespace driftscope {

/// Of a comparison (driftscope-compare-1) of one target with the left one; names, key, worker and seconds are
/// left to the caller. Errors: no such document.
[[nodiscard]] Result<documents::MatrixCell> cell_of_comparison(std::string_view json);

/// The same of a verification (driftscope-verify-1), or of the worst of several.
[[nodiscard]] Result<documents::MatrixCell> cell_of_verification(std::string_view json);

/// Of a cell that has no comparison.
[[nodiscard]] documents::MatrixCell failed_cell(std::string error);

[[nodiscard]] bool cell_ran(const documents::MatrixCell& cell);
/// A failed check, or it did not run.
[[nodiscard]] bool is_bad(const documents::MatrixCell& cell);

/// As a line of a store, and back.
[[nodiscard]] std::string cell_line(const documents::MatrixCell& cell);
[[nodiscard]] Result<documents::MatrixCell> read_cell(std::string_view line);

/// A table for each model: a row for each target, a column for data; then what is bad, with the reason, and a
/// sentence about all of it.
[[nodiscard]] std::string matrix_text(const documents::MatrixResults& results);

/// Of traces that were verified: what is bad, with the reason, and a sentence about all of them.
[[nodiscard]] std::string verified_text(const documents::MatrixResults& results);

}  // namespace driftscope
