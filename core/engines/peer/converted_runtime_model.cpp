// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/peer/converted_runtime_model.hpp"

#include <fmt/format.h>

#include "core/convert/place_tensor.hpp"

namespace driftscope::peer {
namespace {

class ConvertedRuntimeModel final : public RuntimeModel {
 public:
  ConvertedRuntimeModel(std::unique_ptr<RuntimeModel> model,
                        std::shared_ptr<const convert::ConvertedModel> converted,
                        std::shared_ptr<const Graph> graph)
      : model_(std::move(model)), converted_(std::move(converted)), graph_(std::move(graph)) {
    for (const auto& [ours, place] : converted_->values) ours_.emplace(place.name, ours);
    for (const Value& value : graph_->values) dtypes_.emplace(value.name, value.dtype);
  }

  Result<bool> ready() override { return model_->ready(); }

  Status run(std::span<const NamedTensor> inputs, std::span<const std::string> outputs, bool timed) override {
    placed_.clear();
    for (const NamedTensor& input : inputs) {
      const auto place = converted_->values.find(input.name);
      if (place == converted_->values.end()) continue;  // nothing reads it
      auto tensor = convert::to_placed(input.tensor, place->second);
      if (!tensor.ok()) return in_context(std::move(tensor).error(), fmt::format("input {}", input.name));
      placed_.push_back({place->second.name, *std::move(tensor)});
    }
    asked_.assign(outputs.begin(), outputs.end());
    std::vector<std::string> names;
    for (const std::string& name : asked_) {
      const auto place = converted_->values.find(name);
      if (place == converted_->values.end())
        return internal_error(fmt::format("the converted model lacks value {}", name));
      names.push_back(place->second.name);
    }
    return model_->run(placed_, names, timed);
  }

  Result<std::optional<RunResult>> result() override {
    DRIFTSCOPE_TRY(auto result, model_->result());
    if (!result) return result;
    placed_.clear();
    for (std::size_t i = 0; i < result->values.size() && i < asked_.size(); ++i) {
      NamedTensor& value = result->values[i];
      value.name = asked_[i];
      auto ours =
          convert::from_placed(value.tensor, converted_->values.at(value.name), dtypes_.at(value.name));
      if (!ours.ok()) return in_context(std::move(ours).error(), fmt::format("value {}", value.name));
      value.tensor = *std::move(ours);
    }
    std::erase_if(result->times, [&](auto& time) {
      const auto found = ours_.find(time.first);
      if (found == ours_.end()) return true;
      time.first = found->second;
      return false;
    });
    return result;
  }

  Result<std::vector<std::byte>> rewritten() override { return model_->rewritten(); }
  std::optional<MemorySample> memory() const override { return model_->memory(); }
  void describe(RanWith& ran) const override { model_->describe(ran); }
  bool wait() override { return model_->wait(); }

 private:
  std::unique_ptr<RuntimeModel> model_;
  std::shared_ptr<const convert::ConvertedModel> converted_;
  std::shared_ptr<const Graph> graph_;
  std::map<std::string, std::string, std::less<>> ours_;  // by the name there
  std::map<std::string, DType, std::less<>> dtypes_;      // by our name
  std::vector<NamedTensor> placed_;                       // inputs of the current run
  std::vector<std::string> asked_;                        // by our names
};

}  // namespace

std::unique_ptr<RuntimeModel> under_our_names(std::unique_ptr<RuntimeModel> model,
                                              std::shared_ptr<const convert::ConvertedModel> converted,
                                              std::shared_ptr<const Graph> graph) {
  return std::make_unique<ConvertedRuntimeModel>(std::move(model), std::move(converted), std::move(graph));
}

}  // namespace driftscope::peer
