// The models and data of a matrix: opened once, hashed, and the job of each cell. Clients: matrix_run.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/matrix/matrix_cells.hpp"
#include "core/runtime/target.hpp"
#include "native/cli/job_parts.hpp"
#include "native/host/run_request.hpp"

namespace driftscope {

struct MatrixFiles {
  documents::Matrix matrix;  ///< every model has a name
  std::string left;
  std::vector<std::string> targets;
  std::vector<MatrixPlace> cells;
  /// As a store has them (names_in_store), the left one first.
  std::vector<std::string> stored_targets;
  std::vector<JobPart> models;
  /// By model and data; without a hash where no cell has both.
  std::vector<std::vector<JobPart>> inputs;
  std::string run_hash;  ///< of the options of every cell
};

/// Reads the file, and every model on the data that it gets. `step`: what is being read, of how many.
/// Errors: with the file's name and the line; a model or data that cannot be read.
[[nodiscard]] Result<MatrixFiles> open_matrix(
    const std::filesystem::path& path, const RunnerOptions& runner,
    const std::function<void(const std::string& step, std::int64_t done, std::int64_t total)>& step);

/// SHA-256 of all that the cell's result depends on beside this build and its page.
[[nodiscard]] std::string key_of(const MatrixFiles& files, const MatrixPlace& cell);

/// `compare` of the cell; the client adds options of where it runs.
[[nodiscard]] ProgramJob job_of(const MatrixFiles& files, const MatrixPlace& cell);

}  // namespace driftscope
