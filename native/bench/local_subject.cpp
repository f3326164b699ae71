// A target on this PC: the service in a child process.
#include <algorithm>
#include <chrono>

#include "core/base/json.hpp"
#include "native/bench/peak_sampler.hpp"
#include "native/bench/service_client.hpp"
#include "native/bench/worker_process.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

class LocalSubject final : public Subject {
 public:
  LocalSubject(WorkerProcess process, const SubjectSpec& spec, StopCheck stop)
      : process_(std::move(process)),
        timeout_(spec.timeout),
        stop_(std::move(stop)),
        peak_([this] { return process_.memory(); }) {}

  Status load(const SubjectSpec& spec, BenchRow& row) {
    const PeakSampler::Watch watch(peak_, true);
    auto begin = Clock::now();
    const auto lap = [&](const char* part) {
      row.load_parts[part] = ms_since(begin);
      row.load_ms += row.load_parts[part];
      begin = Clock::now();
    };
    const LoadRequest load = load_request(*spec.model, spec.target);
    DRIFTSCOPE_CHECK(ask(load.head, {}, load.outside));
    lap("read_ms");
    DRIFTSCOPE_TRY(const json prepared,
                   ask(prepare_request(spec, {{"host", spec.target.host}}), *spec.inputs));
    lap("prepare_ms");
    clock_ns_ = row.clock_ns = prepared.value("clock_ns", 1.0);
    DRIFTSCOPE_TRY(const Slice first, measure({.slice_ms = 0, .max_runs = 1, .warm_up = true}));
    row.first_ms = median(first.times_ns) * 1e-6;
    add_preparation(row, last_answer_);
    DRIFTSCOPE_TRY(const json about, ask({{"do", "describe"}}, {}));
    row.ran = json_text(about.value("ran", json::object()));
    return {};
  }

  [[nodiscard]] double clock_ns() const override { return clock_ns_; }

  [[nodiscard]] Result<Slice> measure(const SliceRequest& request) override {
    const PeakSampler::Watch watch(peak_, request.warm_up);
    while (true) {
      DRIFTSCOPE_TRY(last_answer_, ask(measure_request(request), {}));
      if (!last_answer_.value("finished", false)) continue;
      peak_.include(last_answer_.value("memory_bytes", std::int64_t{0}));
      return read_slice(last_answer_);
    }
  }

  void describe(BenchRow& row) const override { row.process_peak_bytes = peak_.peak(); }

 private:
  Result<json> ask(const json& request, std::span<const std::byte> payload,
                   const OutsideParts& outside = {}) {
    return process_.ask(request, payload, outside, timeout_, stop_);
  }

  WorkerProcess process_;
  std::chrono::milliseconds timeout_;
  StopCheck stop_;
  double clock_ns_ = 1.0;
  json last_answer_;  // to "measure"
  PeakSampler peak_;  // last: it reads the process
};

}  // namespace

Result<std::unique_ptr<Subject>> open_local_subject(const SubjectSpec& spec, const StopCheck& stop,
                                                    BenchRow& row) {
  const auto begin = Clock::now();
  DRIFTSCOPE_TRY(WorkerProcess process, WorkerProcess::start());
  row.start_ms = ms_since(begin);
  auto subject = std::make_unique<LocalSubject>(std::move(process), spec, stop);
  DRIFTSCOPE_CHECK(subject->load(spec, row));
  return std::unique_ptr<Subject>(std::move(subject));
}

}  // namespace driftscope
