// Kept comparisons (core/kept) as files: written beside and renamed, read by mapping them.
// Clients: compare, verify, report, the window.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/kept/kept_comparison.hpp"
#include "native/host/inputs.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

enum class KeepModel { whole, hash_alone };

/// The extension that is usual for such files.
inline constexpr const char* kept_extension = ".drift";

[[nodiscard]] Status save_kept(const std::filesystem::path& path, const ComparisonView& view,
                               const ModelFile& model, const NamedInputs& inputs, KeepModel keep);

/// Whether the path names a kept comparison: by its extension, else by how the file begins: other formats are
/// zip files too.
[[nodiscard]] bool is_kept_file(const std::filesystem::path& path);

/// A file that stays mapped.
class KeptFile {
 public:
  [[nodiscard]] static Result<KeptFile> open(const std::filesystem::path& path);

  [[nodiscard]] const KeptComparison& comparison() const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Keeps what comparison() refers to alive.
  [[nodiscard]] std::shared_ptr<const void> owner() const { return mapped_; }
  /// The model in it. An error where it was left out, which says what to name instead.
  [[nodiscard]] Result<ModelFile> model(Weights weights = Weights::in_memory) const;
  /// Gives back the memory of what was read of the file.
  void release() const;
  /// The results with their traces in memory.
  [[nodiscard]] Result<ComparisonView> view() const;

 private:
  std::filesystem::path path_;
  struct Mapped;
  std::shared_ptr<const Mapped> mapped_;
};

/// Its inputs, as --input would have given them.
[[nodiscard]] GivenInputs kept_inputs(const KeptFile& kept);

/// A model's file, or a kept comparison: its model and what that ran on.
struct OpenedModel {
  ModelFile model;
  std::optional<GivenInputs> inputs;
};
[[nodiscard]] Result<OpenedModel> open_model(const std::filesystem::path& path,
                                             Weights weights = Weights::in_memory);

}  // namespace driftscope
