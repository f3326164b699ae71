// Requests of a bench to a service, and what its responses say. Clients: the subjects of a bench.
#pragma once

#include "core/base/result.hpp"
#include "core/bench/bench_run.hpp"
#include "core/protocol/client.hpp"
#include "native/bench/subject.hpp"

namespace driftscope {

[[nodiscard]] messages::CaptureOrNone capture_of(const SubjectSpec& spec);
[[nodiscard]] messages::Prepare prepare_request(const SubjectSpec& spec, const nlohmann::json& environment);
[[nodiscard]] messages::Measure measure_request(const SliceRequest& request);

/// What the first slice says besides its time: a preparation that went on until then.
void add_preparation(BenchRow& row, const messages::MeasureResponse& response);

/// Of a finished measurement.
[[nodiscard]] Result<Slice> read_slice(const messages::MeasureResponse& response);

}  // namespace driftscope
