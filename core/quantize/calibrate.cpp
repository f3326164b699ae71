#include "core/quantize/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"
#include "core/quantize/model_run.hpp"

namespace driftscope::quantize {
namespace {

using See = std::function<Status(const std::string& name, const Tensor& tensor, std::int64_t sample)>;

Status over_samples(const Model& model, const std::vector<std::string>& values, const InputSource& data,
                    std::int64_t samples, std::string_view step, const Watch& watch, const See& see) {
  DRIFTSCOPE_TRY(ModelRun run, ModelRun::prepare(model, {values.begin(), values.end()}));
  for (std::int64_t i = 0; i < samples; ++i) {
    if (!watch(step, i, samples)) return Error{ErrorKind::cancelled, "stopped"};
    DRIFTSCOPE_TRY(const InputItem item, data.item(i));
    auto ran = run.run(item.tensors);
    if (!ran.ok()) return in_context(std::move(ran).error(), fmt::format("calibration sample {}", i));
    for (const auto& [name, tensor] : *ran)
      if (std::ranges::binary_search(values, name)) DRIFTSCOPE_CHECK(see(name, tensor, i));
  }
  return {};
}

}  // namespace

Result<std::map<std::string, ValueRange>> calibrate(const Model& model,
                                                    const std::vector<std::string>& values,
                                                    const InputSource& data, std::int64_t samples,
                                                    const Method& method, const MethodOptions& options,
                                                    const Watch& watch) {
  std::vector<std::string> sorted = values;
  std::ranges::sort(sorted);
  std::map<std::string, Observed> seen;
  const auto extremes = [&](const std::string& name, const Tensor& tensor, std::int64_t sample) -> Status {
    if (tensor.dtype() != DType::float32 || tensor.elements() == 0) return {};
    const auto [entry, first] = seen.try_emplace(name);
    ValueRange& range = entry->second.extremes;
    const auto x = tensor.values<float>();
    if (first) range = {x[0], x[0]};
    for (const float value : x) {
      if (!std::isfinite(value))
        return bad_input(
            fmt::format("value {} is {} on calibration sample {}; a scale needs finite values: leave "
                        "the sample out, or see where it begins with driftscope run --trace",
                        in_quotes(name), value, sample));
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
    return {};
  };
  DRIFTSCOPE_CHECK(over_samples(model, sorted, data, samples, "calibrating", watch, extremes));
  if (method.bins > 0) {
    for (auto& [name, one] : seen) one.bins.resize(method.bins);
    const auto count = [&](const std::string& name, const Tensor& tensor, std::int64_t) -> Status {
      Observed& one = seen[name];
      if (tensor.dtype() != DType::float32 || one.bins.empty()) return {};
      for (const float x : tensor.values<float>()) ++one.bins[one.bin_of(x)];
      return {};
    };
    DRIFTSCOPE_CHECK(over_samples(model, sorted, data, samples, "counting", watch, count));
  }
  std::map<std::string, ValueRange> ranges;
  for (const std::string& name : sorted) {
    const auto found = seen.find(name);
    if (found == seen.end())
      return bad_input(
          fmt::format("value {} had no elements on any calibration sample; keep the layers that use it "
                      "in float (--keep), or give other data",
                      in_quotes(name)));
    ranges[name] = method.range(found->second, options);
  }
  return ranges;
}

}  // namespace driftscope::quantize
