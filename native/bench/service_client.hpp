// Requests of a bench to a service, and how to read its responses. Clients: the subjects of a bench.
#pragma once

#include "core/base/result.hpp"
#include "core/bench/bench_run.hpp"
#include "core/protocol/client.hpp"
#include "native/bench/subject.hpp"

namespace driftscope {

[[nodiscard]] messages::Capture capture_of(const SubjectSpec& spec);
[[nodiscard]] messages::Prepare prepare_request(const SubjectSpec& spec, const nlohmann::json& environment);
[[nodiscard]] messages::Measure measure_request(const SliceRequest& request);

/// Adds the times of a preparation that lasted until the first slice.
void add_preparation(BenchRow& row, const messages::MeasureResponse& response);

/// The slice of a finished measurement.
[[nodiscard]] Result<Slice> read_slice(const messages::MeasureResponse& response);

}  // namespace driftscope
