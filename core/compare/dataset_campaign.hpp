// The data set of a comparison on one target, as a campaign: a cell is a sample, its result the class that
// the target says. Client: ComparisonRun, which runs the batches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/campaign/campaign.hpp"
#include "core/graph/graph.hpp"
#include "core/results/comparison_view.hpp"

namespace driftscope {

/// A data set's size and, where they are known, the classes of its samples.
struct DatasetPlan {
  std::int64_t samples = 0;
  std::vector<std::int64_t> labels = {};
  /// Where answers are kept, with the names of the targets in it; null: nobody goes on with them.
  CampaignStore* store = nullptr;
  std::vector<std::string> names_in_store = {};
};

class DatasetCampaign {
 public:
  /// `plan` must outlive it; `place`: of the target.
  DatasetCampaign(const DatasetPlan& plan, std::size_t place);
  DatasetCampaign(const DatasetCampaign&) = delete;
  DatasetCampaign& operator=(const DatasetCampaign&) = delete;

  /// The samples to run next, ascending; none when all are known. Call take() with their run before the next.
  [[nodiscard]] std::span<const std::int64_t> next();
  /// Answers of the samples that next() named. Errors: those of predicted_classes, of the store.
  [[nodiscard]] Status take(const Graph& graph, const Trace& trace, std::string_view target);
  /// Of all samples. Errors: an answer in the store is damaged.
  [[nodiscard]] Result<DatasetResult> result() const;

  /// Samples with an answer.
  [[nodiscard]] std::int64_t done() const { return run_.step(0).done; }
  /// Samples of the batch under way.
  [[nodiscard]] std::int64_t batch_size() const { return batch_ ? std::ssize(batch_->items) : 0; }

 private:
  const DatasetPlan& plan_;
  MemoryStore own_;
  CampaignStore& store_;
  Campaign campaign_;
  CampaignRun run_;
  std::optional<CampaignBatch> batch_;
};

}  // namespace driftscope
