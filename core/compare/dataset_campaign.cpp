#include "core/compare/dataset_campaign.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/compare/dataset_predictions.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {
namespace {

Campaign campaign_of(const DatasetPlan& plan, std::size_t place) {
  Campaign campaign;
  campaign.targets = {place < plan.names_in_store.size() ? plan.names_in_store[place] : std::string()};
  campaign.items = plan.samples;
  campaign.name_of = [](std::int64_t sample) { return fmt::format("{}", sample); };
  campaign.seconds = [] { return static_cast<double>(monotonic_ns()) * 1e-9; };
  if (plan.store != nullptr) campaign.batch_seconds = resumable_batch_seconds;
  return campaign;
}

std::optional<std::int64_t> class_in(const std::string& result) {
  const auto value = parse_json(result);
  if (!value.is_object()) return std::nullopt;
  const auto found = value.find("class");
  // -1: nothing but NaN.
  if (found == value.end() || !found->is_number_integer() || found->get<std::int64_t>() < -1)
    return std::nullopt;
  return found->get<std::int64_t>();
}

}  // namespace

DatasetCampaign::DatasetCampaign(const DatasetPlan& plan, std::size_t place)
    : plan_(plan),
      store_(plan.store != nullptr ? *plan.store : own_),
      campaign_(campaign_of(plan, place)),
      run_(campaign_, store_) {}

std::span<const std::int64_t> DatasetCampaign::next() {
  batch_ = run_.next();
  return batch_ ? std::span<const std::int64_t>(batch_->items) : std::span<const std::int64_t>();
}

Status DatasetCampaign::take(const Graph& graph, const Trace& trace, std::string_view target) {
  DRIFTSCOPE_TRY(const auto classes, predicted_classes(graph, trace, batch_size(), target));
  std::vector<nlohmann::json> results;
  for (const std::int64_t one : classes) results.push_back({{"class", one}});
  return run_.done(*batch_, results);
}

Result<DatasetResult> DatasetCampaign::result() const {
  std::vector<std::int64_t> predictions;
  for (std::int64_t sample = 0; sample < plan_.samples; ++sample) {
    const CampaignCell cell = cell_of(campaign_, 0, sample);
    const auto found = store_.results().find(cell);
    const auto predicted = found == store_.results().end() ? std::nullopt : class_in(found->second);
    if (!predicted)
      return bad_input(
          fmt::format("--store: the answer to sample {} on {} is damaged: expected {{\"class\": "
                      "N}}; remove its line to have the sample run again",
                      sample, in_quotes(cell.target)));
    predictions.push_back(*predicted);
  }
  return dataset_result(std::move(predictions), plan_.labels);
}

}  // namespace driftscope
