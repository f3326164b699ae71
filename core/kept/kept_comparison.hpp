// A comparison kept as one file, "run.drift": model, inputs, traces and results, as if it had just run. It is
// a zip file (docs/formats.md, driftscope-run-1), so that other programs can read the parts:
//   drift.json           what is where
//   comparison.json      driftscope-compare-1
//   graph.json           the nodes of the model and what they read
//   inputs.safetensors
//   model/NAME           the .onnx file and the files of external data that it names, unless left out
//   traces/N.safetensors driftscope-trace-1 of the N-th target, 0 is the left one; stored, so that they are
//                        read in place
// Clients: native/host/kept_file, the page's screens. It opens no file.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/archive/archive_reader.hpp"
#include "core/archive/archive_writer.hpp"
#include "core/graph/topology.hpp"
#include "core/results/comparison_view.hpp"

namespace driftscope {

/// The member that says what is where; the first in the file.
inline constexpr std::string_view kept_index_name = "drift.json";

/// A file that belongs to a model: itself, or one of external data.
struct ModelPart {
  std::string name;  ///< of external data: as the model names it
  std::span<const std::byte> bytes;
};

/// What is kept beside the results.
struct KeptSources {
  std::vector<ModelPart> model;  ///< the .onnx file first; empty: the file holds its hash alone
  std::span<const NamedTensor> inputs;
  Topology topology;
};

/// Traces are those of the view's results; a target without one has none in the file.
[[nodiscard]] Status write_kept(const ComparisonView& view, const KeptSources& sources,
                                ArchiveOutput& output);

class KeptComparison {
 public:
  /// `bytes`, the whole file, must outlive it. Errors: not such a file, cut or damaged, of a newer version, a
  /// trace of another model than the comparison's.
  [[nodiscard]] static Result<KeptComparison> open(std::span<const std::byte> bytes);

  /// Names, texts and results; its targets have no traces.
  [[nodiscard]] const ComparisonView& view() const { return view_; }
  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const std::vector<NamedTensor>& inputs() const { return inputs_; }
  /// The .onnx file first; empty: the model was left out.
  [[nodiscard]] const std::vector<ModelPart>& model() const { return model_; }
  /// A whole trace file, in place; empty: the target has none. 0 is the left target.
  [[nodiscard]] std::span<const std::byte> trace(std::size_t target) const { return traces_[target]; }

  /// The view with its traces read: as large in memory as when it ran.
  [[nodiscard]] Result<ComparisonView> whole_view() const;

 private:
  ComparisonView view_;
  Topology topology_;
  std::vector<NamedTensor> inputs_;
  std::vector<ModelPart> model_;
  std::vector<std::span<const std::byte>> traces_;
};

}  // namespace driftscope
