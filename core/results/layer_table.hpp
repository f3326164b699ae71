// A ComparisonView by layer and target, looked up once: the functions of comparison_view.hpp search, which
// a table of a hundred thousand layers cannot afford. Clients: tables, report.
#pragma once

#include <string>
#include <vector>

#include "core/results/comparison_view.hpp"

namespace driftscope {

/// What is known of one layer on one target; null where there is nothing.
struct LayerCell {
  const LayerDifference* difference = nullptr;  ///< from the left target
  const LayerVerdict* verified = nullptr;
  const Tensor* tensor = nullptr;
  std::int64_t time_ns = 0;
  bool recorded = false;               ///< the target ran and its trace holds this output
  Verdict verdict = Verdict::missing;  ///< as layer_verdict has it; on the left as verify has it
  bool inherited = false;              ///< it differs only because its inputs do

  /// Both sides recorded it.
  [[nodiscard]] bool compared() const { return difference != nullptr && difference->recorded; }
};

class LayerIndex {
 public:
  /// The view must outlive the index and stay as it is.
  explicit LayerIndex(const ComparisonView& view);

  /// Left first.
  [[nodiscard]] const std::vector<const TargetResult*>& targets() const { return targets_; }

  struct Row {
    std::string node;
    std::string op;
    std::string output;
    Shape shape;
  };
  /// Layers that any comparison has; without a comparison those that were judged. In topological order.
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const LayerCell& cell(std::size_t row, std::size_t target) const {
    return cells_[row * targets_.size() + target];
  }

 private:
  void add_rows(const ComparisonView& view);
  void fill(std::size_t target);

  std::vector<const TargetResult*> targets_;
  std::vector<Row> rows_;
  std::vector<LayerCell> cells_;  // row by row
};

}  // namespace driftscope
