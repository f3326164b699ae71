// Requests to a service that lies elsewhere, as JSON objects. Clients: the subjects of a bench.
#pragma once

#include <nlohmann/json.hpp>

#include "core/base/result.hpp"
#include "core/bench/bench_run.hpp"
#include "native/bench/subject.hpp"

namespace driftscope {

[[nodiscard]] nlohmann::json prepare_request(const SubjectSpec& spec, const nlohmann::json& environment);
[[nodiscard]] nlohmann::json measure_request(const SliceRequest& request);

/// What the first slice says besides its time: a preparation that went on until then.
void add_preparation(BenchRow& row, const nlohmann::json& answer);

/// A finished answer to "measure".
[[nodiscard]] Result<Slice> read_slice(const nlohmann::json& answer);

}  // namespace driftscope
