// Everything that the screens show, as one immutable value: layers down, targets across. A view reads
// it and changes nothing; a new result is a new snapshot. Clients: view models, views.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/gui/layer_match.hpp"
#include "core/gui/recorded_tensors.hpp"
#include "core/results/comparison_view.hpp"

namespace driftscope::gui {

inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// One layer on one target.
struct Cell {
  Verdict verdict = Verdict::missing;
  bool judged = false;     ///< by verify
  bool compared = false;   ///< with the left target
  bool mismatch = false;   ///< another shape or dtype than the left target's
  bool inherited = false;  ///< differs only because its inputs do
  double budget_used = not_measured;
  double local_error = not_measured;  ///< largest absolute error that the layer itself made
  double max_abs = not_measured;      ///< against the left target, as the next four
  double max_rel = not_measured;
  double max_ulp = not_measured;
  double cosine = not_measured;
  double kl = not_measured;
  std::int64_t different = -1;  ///< elements with other bits; −1 unknown
  std::int64_t elements = 0;
  std::int64_t nan = 0;
  std::int64_t inf = 0;
  std::int64_t time_ns = 0;       ///< steady; 0 unknown
  std::int64_t first_ns = 0;      ///< of the first run
  std::size_t tensor = no_place;  ///< place among the target's tensors
  std::string note;               ///< why it could not be compared or judged, how it was matched
};

struct Layer {
  std::string node;
  std::string op;
  std::string output;
  DType dtype = DType::undefined;
  Shape shape;
  bool shape_known = false;
  std::int64_t bytes = 0;
  std::vector<std::uint32_t> inputs;  ///< layers that it reads; empty without the model's structure
};

struct TargetColumn {
  std::string target;  ///< "chrome/strict:threads=2"
  std::string name;    ///< "chrome", where that is enough
  std::string ran;     ///< browser, instruction set, threads
  std::string error;   ///< why there is no result
  Verdict verdict = Verdict::missing;
  std::size_t first_fault = no_place;       ///< a layer
  std::size_t first_divergence = no_place;  ///< a layer
  std::int64_t total_ns = 0;
  std::int64_t first_total_ns = 0;
  MemoryRecord peak;
  Trace about;                                     ///< nodes, times, memory; no tensors
  std::shared_ptr<const RecordedTensors> tensors;  ///< null when they are not at hand
  std::optional<DatasetResult> dataset;
};

struct Snapshot {
  std::string title;  ///< file name of the model, or of what was opened
  std::string model_sha256;
  std::string input_text;
  std::string input_label;
  std::string dataset_text;
  std::vector<std::string> class_names;
  std::vector<TargetColumn> targets;  ///< the left one first
  std::vector<Layer> layers;
  std::vector<Cell> cells;
  bool has_structure = false;      ///< layers know their inputs
  std::vector<std::string> notes;  ///< what a person should know about how runs were matched

  [[nodiscard]] const Cell& cell(std::size_t layer, std::size_t target) const {
    return cells[layer * targets.size() + target];
  }
};

/// What is known of one target; everything but its name may be absent.
struct TargetParts {
  std::string target;
  Trace about;
  std::shared_ptr<const RecordedTensors> tensors;
  std::optional<Verification> verification;
  std::optional<Comparison> comparison;  ///< with the first target
  std::optional<DatasetResult> dataset;
  std::string error;
};

struct SnapshotParts {
  std::string title;
  std::string model_sha256;
  std::string input_text;
  std::string input_label;
  std::string dataset_text;
  std::vector<std::string> class_names;
  std::vector<TargetParts> targets;
  std::optional<Topology> topology;
};

/// Told layers compared so far and in all; false stops (the snapshot then lacks comparisons).
using SnapshotProgress = std::function<bool(std::int64_t done, std::int64_t total)>;

/// Puts it together; where a target has tensors and no comparison, it is compared with the first.
[[nodiscard]] Snapshot make_snapshot(SnapshotParts parts, const SnapshotProgress& progress = {});

/// A comparison that `compare` made: its traces stay in memory.
[[nodiscard]] SnapshotParts parts_of(ComparisonView view, const Graph& graph);

/// One sentence about all of it: "fault at Conv_4 on chrome", "no differing bit on 3 targets", …
[[nodiscard]] std::string snapshot_headline(const Snapshot& snapshot);

/// The gravest verdict of a layer over all targets.
[[nodiscard]] Verdict worst_verdict(const Snapshot& snapshot, std::size_t layer);

}  // namespace driftscope::gui
