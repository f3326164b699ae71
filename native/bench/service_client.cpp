#include "native/bench/service_client.hpp"

#include <algorithm>
#include <cmath>

namespace driftscope {

messages::Capture capture_of(const SubjectSpec& spec) {
  return messages::named<messages::Capture>(spec.capture).value_or(messages::Capture::none);
}

messages::Prepare prepare_request(const SubjectSpec& spec, const nlohmann::json& environment) {
  messages::Prepare request;
  request.target = spec.target.text();
  request.capture = capture_of(spec);
  request.environment = environment;
  return request;
}

messages::Measure measure_request(const SliceRequest& request) {
  messages::Measure message;
  message.slice_us = std::llround(request.slice_ms * 1e3);
  message.inner = request.inner;
  message.max_runs = request.max_runs;
  return message;
}

void add_preparation(BenchRow& row, const messages::MeasureResponse& response) {
  if (!response.preparing_ns) return;
  const double ms = static_cast<double>(*response.preparing_ns) * 1e-6;
  row.load_parts["prepare_ms"] += ms;
  row.load_ms += ms;
}

Result<Slice> read_slice(const messages::MeasureResponse& response) {
  if (!response.times_ns) return internal_error("the response to a measurement holds no times");
  Slice slice;
  for (const double time : *response.times_ns) {
    // A browser's clock may not advance during a whole run; no run takes less than a nanosecond.
    if (!(time >= 0.0)) return internal_error("the response to a measurement contains an invalid time");
    slice.times_ns.push_back(std::max(time, 1.0));
  }
  slice.alive_tensors = response.alive_tensors.value_or(0);
  slice.alive_bytes = response.alive_bytes.value_or(0);
  slice.heap_bytes = response.heap_bytes.value_or(0);
  slice.engine_bytes = response.engine_memory_bytes.value_or(0);
  slice.engine_kind = response.engine_memory_kind.value_or("engine_memory");
  return slice;
}

}  // namespace driftscope
