#include "native/bench/service_client.hpp"

#include <algorithm>
#include <cmath>

namespace driftscope {

using nlohmann::json;

json prepare_request(const SubjectSpec& spec, const json& environment) {
  return {{"do", "prepare"},
          {"target", spec.target.text()},
          {"capture", spec.capture},
          {"environment", environment}};
}

json measure_request(const SliceRequest& request) {
  return {{"do", "measure"},
          {"slice_us", std::llround(request.slice_ms * 1e3)},
          {"inner", request.inner},
          {"max_runs", request.max_runs}};
}

void add_preparation(BenchRow& row, const json& answer) {
  const auto found = answer.find("preparing_ns");
  if (found == answer.end() || !found->is_number()) return;
  const double ms = found->get<double>() * 1e-6;
  row.load_parts["prepare_ms"] += ms;
  row.load_ms += ms;
}

Result<Slice> read_slice(const json& answer) {
  const auto times = answer.find("times_ns");
  if (times == answer.end() || !times->is_array())
    return internal_error("the answer to a measurement holds no times");
  Slice slice;
  for (const json& time : *times) {
    // A browser's clock may stand still for a whole run; none takes less than a nanosecond.
    if (!time.is_number() || !(time.get<double>() >= 0.0))
      return internal_error("the answer to a measurement holds a time that is none");
    slice.times_ns.push_back(std::max(time.get<double>(), 1.0));
  }
  const auto whole = [&](const char* key) {
    const auto found = answer.find(key);
    return found != answer.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
  };
  slice.alive_tensors = whole("alive_tensors");
  slice.alive_bytes = whole("alive_bytes");
  slice.heap_bytes = whole("heap_bytes");
  return slice;
}

}  // namespace driftscope
