// A matrix as people write it ("driftscope-matrix-1"): models × data × targets. Clients: the matrix command,
// tests. It opens no file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "generated/documents/matrix.hpp"

namespace driftscope {

/// Where nothing is said of data.
inline constexpr const char* default_matrix_data = "seed:42";
inline constexpr std::int64_t default_cell_seconds = 1800;

/// From a document of JSON or YAML; models and data that are a text alone become objects, and what is not
/// said of data has its default. Errors begin with the path of what is wrong: unknown or missing fields,
/// targets that cannot be read, no target, data that is neither input nor data set.
[[nodiscard]] Result<documents::Matrix> read_matrix(nlohmann::ordered_json document);

/// All targets, each once: `targets`, then every engine on every host.
[[nodiscard]] Result<std::vector<std::string>> targets_of(const documents::Matrix& matrix);

/// The name of data in tables.
[[nodiscard]] std::string name_of(const documents::MatrixData& data);

}  // namespace driftscope
