// A ComparisonView as a table: layers down, targets across, looked up once and held in columns
// (layer_results.hpp), so that a comparison of a hundred thousand layers costs little.
// Clients: text tables, report. The screens match layers of other names as well (core/gui/snapshot.hpp).
#pragma once

#include <string>
#include <vector>

#include "core/results/comparison_view.hpp"
#include "core/results/layer_results.hpp"

namespace driftscope {

class LayerTable {
 public:
  /// The view must outlive the table and stay as it is.
  explicit LayerTable(const ComparisonView& view);

  /// Left first.
  [[nodiscard]] const std::vector<const TargetResult*>& targets() const { return targets_; }

  struct Row {
    std::string node;
    std::string op;
    std::string output;
    Shape shape;
    bool constant = false;  ///< depends on no input of the model
  };
  /// Layers in any comparison, from the first target where both sides recorded it, else from
  /// any target; without a comparison the verified layers. In topological order.
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  /// Whether a table leaves the row out unless asked for: a constant on which nothing is suspect.
  [[nodiscard]] bool is_folded(std::size_t row) const;
  [[nodiscard]] std::size_t folded() const;
  [[nodiscard]] ResultCell cell(std::size_t row, std::size_t target) const {
    return results_.cell(row, target);
  }
  [[nodiscard]] const LayerResults& results() const { return results_; }
  /// The tensor that the target recorded for the layer; null if none.
  [[nodiscard]] const Tensor* tensor(std::size_t row, std::size_t target) const {
    return tensors_[target * rows_.size() + row];
  }
  /// Verify's results other than numbers: the worst element, the group; null if none.
  [[nodiscard]] const LayerVerdict* verified(std::size_t row, std::size_t target) const {
    return verified_[target * rows_.size() + row];
  }

 private:
  void add_rows(const ComparisonView& view);
  void fill(std::size_t target);

  std::vector<const TargetResult*> targets_;
  std::vector<Row> rows_;
  LayerResults results_;
  std::vector<const Tensor*> tensors_;         // target by target
  std::vector<const LayerVerdict*> verified_;  // target by target
};

}  // namespace driftscope
