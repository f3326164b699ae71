// Everything that the GUI shows, as one immutable value: layers down, targets across. Views only
// read it; a new result is a new snapshot. Clients: view models, views.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/gui/layer_match.hpp"
#include "core/gui/recorded_tensors.hpp"
#include "core/results/comparison_view.hpp"
#include "core/results/layer_results.hpp"

namespace driftscope::gui {

/// One layer on one target.
using Cell = ResultCell;

struct Layer {
  std::string node;
  std::string label;  ///< the same, shorter: without scopes that repeat or that all share
  std::string op;
  std::string output;
  DType dtype = DType::undefined;
  Shape shape;
  bool shape_known = false;
  std::int64_t bytes = 0;
  bool constant = false;              ///< depends on no input of the model
  std::vector<std::uint32_t> inputs;  ///< layers that it reads; empty without the model's structure
};

struct TargetColumn {
  std::string target;              ///< "chrome/strict:threads=2"
  std::string name;                ///< "chrome", if unambiguous
  std::string ran;                 ///< browser, instruction set, threads
  std::string error;               ///< why there is no result
  std::vector<std::string> notes;  ///< what checks found: repeated runs, capturing, memory
  Verdict verdict = Verdict::missing;
  std::optional<bool> same_answer;          ///< as the left target, as of same_answer
  std::string matters;                      ///< as of causal_headline
  std::string hidden_overflow;              ///< as of hidden_overflow
  std::string nonfinite;                    ///< as of nonfinite_text
  std::size_t first_fault = no_place;       ///< a layer
  std::size_t first_divergence = no_place;  ///< a layer
  RunTime time;                             ///< of the whole model
  MemoryRecord peak;
  Trace about;                                     ///< nodes, times, memory; no tensors
  std::shared_ptr<const RecordedTensors> tensors;  ///< null when they are not available
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
  LayerResults results;                                            ///< of these layers and targets
  std::unordered_map<std::size_t, LayerExplanation> explanations;  ///< of wrong layers, as tensor_places
  std::vector<std::uint32_t> tensor_places;  ///< places among a target's tensors, target by target
  bool has_structure = false;                ///< layers know their inputs
  std::vector<std::string> notes;            ///< for the user: on the model, how runs were matched
  std::string headline;                      ///< one sentence about all of it (core/results/headline.hpp)

  [[nodiscard]] Cell cell(std::size_t layer, std::size_t target) const { return results.cell(layer, target); }
  /// Index among the target's tensors, or no_place.
  [[nodiscard]] std::size_t tensor_place(std::size_t layer, std::size_t target) const {
    const std::uint32_t place = tensor_places[target * layers.size() + layer];
    return place == unknown_place ? no_place : place;
  }
  /// Why the layer is wrong on this target; null where nothing was tried.
  [[nodiscard]] const LayerExplanation* explanation(std::size_t layer, std::size_t target) const {
    const auto found = explanations.find(target * layers.size() + layer);
    return found == explanations.end() ? nullptr : &found->second;
  }
  static constexpr auto unknown_place = static_cast<std::uint32_t>(-1);
};

/// The data of one target; everything but its name may be absent.
struct TargetParts {
  std::string target;
  Trace about;
  std::shared_ptr<const RecordedTensors> tensors;
  std::optional<Verification> verification;
  std::optional<Comparison> comparison;  ///< with the first target
  std::optional<DatasetResult> dataset;
  std::optional<RunTime> stored_time = {};
  std::vector<std::string> notes = {};  ///< as of target_notes
  std::string error;
};

struct SnapshotParts {
  std::string title;
  std::string model_sha256;
  std::string input_text;
  std::string input_label;
  std::string dataset_text;
  std::vector<std::string> class_names;
  std::vector<std::string> notes = {};  ///< on the model (note_lines)
  std::vector<TargetParts> targets;
  std::optional<Topology> topology;
};

/// Called with the number of layers compared and of all; returning false stops (then without comparisons).
using SnapshotProgress = std::function<bool(std::int64_t done, std::int64_t total)>;

/// Builds a snapshot; a target with tensors but no comparison is compared with the first.
[[nodiscard]] Snapshot make_snapshot(SnapshotParts parts, const SnapshotProgress& progress = {});

/// One target of a comparison; without a trace, from its JSON.
[[nodiscard]] TargetParts parts_of(TargetResult result);

/// Names and texts of a comparison, without its targets.
[[nodiscard]] SnapshotParts description_of(const ComparisonView& view);

/// A comparison that `compare` made: its traces stay in memory.
[[nodiscard]] SnapshotParts parts_of(ComparisonView view, const Graph& graph);

/// Whether the layer is left out unless asked for: a constant on which nothing is suspect.
[[nodiscard]] bool is_folded(const Snapshot& snapshot, std::size_t layer);

/// The most severe verdict of a layer over all targets.
[[nodiscard]] Verdict worst_verdict(const Snapshot& snapshot, std::size_t layer);

}  // namespace driftscope::gui
