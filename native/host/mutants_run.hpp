// Generated data sets as files: the originals that are read, the mutants that are made of them and written.
// Clients: mutants, study.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/mutants/generator.hpp"
#include "generated/documents/generated.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

struct MutantsPlan {
  const ModelFile* model = nullptr;
  std::string dataset;  ///< the originals: idx:IMAGES,LABELS or cifar10:FILE
  std::string method = "deephunter";
  std::string criterion;  ///< empty: the method's own
  std::string engine = "strict";
  std::int64_t count = 1000;
  std::uint64_t seed = 42;
  /// Called with the number that is made so far.
  std::function<void(std::int64_t made)> progress;
  std::function<bool()> stopped;  ///< true ends it with a cancelled error
};

/// Fills in the criterion. Errors: methods and criteria that are not there or do not go together.
[[nodiscard]] Status check_mutants_plan(MutantsPlan& plan);

struct GeneratedSet {
  documents::Generated manifest;
  double covered = -1.0;  ///< share of all sections; below 0: there is no whole
  std::int64_t originals = 0;
};

/// Makes the set and writes it to the folder, the manifest last: where it is, the set is complete. Errors:
/// a plan that cannot be, a data set of another format, a model whose data are no pictures, too many
/// pictures for the memory, a model that no mutant makes do anything new, files that cannot be written.
[[nodiscard]] Result<GeneratedSet> generate_set(MutantsPlan plan, const std::filesystem::path& folder);

/// The set in a folder as a data set: "idx:FOLDER/images…,FOLDER/labels…".
[[nodiscard]] std::string generated_dataset(const documents::Generated& manifest,
                                            const std::filesystem::path& folder);

}  // namespace driftscope
