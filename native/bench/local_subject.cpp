// A target whose host has a program for it: the service in a process of that.
#include <algorithm>
#include <chrono>

#include "core/base/json.hpp"
#include "native/bench/peak_sampler.hpp"
#include "native/bench/service_client.hpp"
#include "native/host/worker_process.hpp"

namespace driftscope {
namespace {

class LocalSubject final : public Subject, private ServiceTransport {
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
    outside_ = load.outside;
    DRIFTSCOPE_CHECK(client_.send(load.head));
    lap("read_ms");
    DRIFTSCOPE_TRY(const auto prepared,
                   client_.send(prepare_request(spec, {{"host", spec.target.host}}), *spec.inputs));
    lap("prepare_ms");
    clock_ns_ = row.clock_ns = prepared.head.clock_ns;
    DRIFTSCOPE_TRY(const Slice first, measure({.slice_ms = 0, .max_runs = 1, .warm_up = true}));
    row.first_ms = median(first.times_ns) * 1e-6;
    add_preparation(row, last_);
    DRIFTSCOPE_TRY(const auto about, client_.send(messages::Describe{}));
    row.ran = json_text(about.head.ran);
    return {};
  }

  [[nodiscard]] double clock_ns() const override { return clock_ns_; }

  [[nodiscard]] Result<Slice> measure(const SliceRequest& request) override {
    const PeakSampler::Watch watch(peak_, request.warm_up);
    while (true) {
      DRIFTSCOPE_TRY(auto measured, client_.send(measure_request(request)));
      last_ = std::move(measured.head);
      if (!last_.finished) continue;
      peak_.include(last_.memory_bytes.value_or(0));
      return read_slice(last_);
    }
  }

  void settle() override { process_.wait_until_idle(); }

  void describe(BenchRow& row) const override { row.process_peak_bytes = peak_.peak(); }

  [[nodiscard]] std::vector<MemoryRecord> processes() const override {
    return {{0.0, process_.memory(), "process_pss"}};
  }

 private:
  Result<Response> exchange(const std::string& request, std::span<const std::byte> payload) override {
    const OutsideParts outside = std::exchange(outside_, {});
    return process_.exchange(request, payload, outside, timeout_, stop_);
  }

  WorkerProcess process_;
  std::chrono::milliseconds timeout_;
  StopCheck stop_;
  double clock_ns_ = 1.0;
  OutsideParts outside_;  // of the next request
  ServiceClient client_{*this};
  messages::MeasureResponse last_;
  PeakSampler peak_;  // last: it reads the process
};

}  // namespace

Result<std::unique_ptr<Subject>> open_local_subject(const SubjectSpec& spec, const StopCheck& stop,
                                                    BenchRow& row) {
  const auto begin = Clock::now();
  DRIFTSCOPE_TRY(WorkerProcess process, WorkerProcess::start(spec.program));
  row.start_ms = ms_since(begin);
  auto subject = std::make_unique<LocalSubject>(std::move(process), spec, stop);
  DRIFTSCOPE_CHECK(subject->load(spec, row));
  return std::unique_ptr<Subject>(std::move(subject));
}

}  // namespace driftscope
