#include "native/bench/browser_subject.hpp"

#include <fmt/format.h>

#include <chrono>

#include "core/base/json.hpp"
#include "native/bench/bench_page.hpp"
#include "native/bench/build_id.hpp"
#include "native/bench/peak_sampler.hpp"
#include "native/bench/service_client.hpp"
#include "native/browser/page_life.hpp"
#include "native/browser/run_in_browser.hpp"

namespace driftscope {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds look_up{50};               // how often a wait checks whether to go on
constexpr std::chrono::seconds rest_interval{1};  // between two samples of memory, while nothing computes

messages::Job description_of(const SubjectSpec& spec, const HostInfo& host) {
  messages::Job description = job_for(spec.target, host);
  description.model = {spec.model->name, static_cast<std::int64_t>(spec.model->bytes.size()), {}};
  for (const JobAttachment& file : spec.model->attachments)
    description.attachments.push_back({file.location, static_cast<std::int64_t>(file.bytes.size())});
  description.bench = true;
  description.capture = capture_of(spec);
  return description;
}

class BrowserSubject final : public Subject, private ServiceTransport {
 public:
  BrowserSubject(Server& server, std::shared_ptr<Job> job, std::unique_ptr<BenchPage> page,
                 const SubjectSpec& spec, StopCheck stop)
      : server_(server),
        job_(server.jobs(), std::move(job)),
        page_(std::move(page)),
        limits_(limits_of(spec)),
        start_patience_(spec.start_patience),
        stop_(std::move(stop)) {}

  Status load(const std::filesystem::path& site, BenchRow& row) {
    DRIFTSCOPE_TRY(const Start start, open_page());
    const Traffic& before = start.traffic;
    row.start_ms = ms_since(start.begin);
    peak_.emplace([this] { return page_->memory(); });
    const PeakSampler::Watch watch(*peak_, true);
    // The results so far are the response to the first request.
    DRIFTSCOPE_TRY(const auto loaded, client_.send(messages::Hello{}));
    const messages::StartTimes& times = loaded.head.times;
    row.load_parts = {
        {"compile_ms", times.compile_ms}, {"read_ms", times.read_ms}, {"prepare_ms", times.prepare_ms}};
    row.load_ms += times.compile_ms + times.read_ms + times.prepare_ms;
    clock_ns_ = row.clock_ns = loaded.head.prepared.clock_ns;
    DRIFTSCOPE_TRY(const Slice first, measure({.slice_ms = 0, .max_runs = 1, .warm_up = true}));
    row.first_ms = median(first.times_ns) * 1e-6;
    add_preparation(row, last_);
    DRIFTSCOPE_TRY(const auto about, client_.send(messages::Describe{}));
    const nlohmann::json& ran = about.head.ran;
    row.ran = json_text(ran);
    row.build = build_id(site / "engine" / (ran.value("wasm_variant", "") + ".wasm"));
    const Traffic after = server_.traffic();
    row.download = {after.bytes - before.bytes, after.raw_bytes - before.raw_bytes,
                    after.engine_bytes - before.engine_bytes,
                    after.engine_raw_bytes - before.engine_raw_bytes, after.job_bytes - before.job_bytes};
    return {};
  }

  [[nodiscard]] double clock_ns() const override { return clock_ns_; }

  [[nodiscard]] Result<Slice> measure(const SliceRequest& request) override {
    const PeakSampler::Watch watch(*peak_, request.warm_up);
    DRIFTSCOPE_TRY(auto measured, client_.send(measure_request(request)));
    last_ = std::move(measured.head);
    // Another runtime's heap is added.
    if (last_.memory_kind == "wasm_heap")
      wasm_heap_peak_ =
          std::max(wasm_heap_peak_, last_.memory_bytes.value_or(0) + last_.engine_memory_bytes.value_or(0));
    return read_slice(last_);
  }

  void settle() override { page_->wait_until_idle(); }

  void rest() override {
    if (Clock::now() - last_look_ < rest_interval) return;
    peak_->look();
    last_look_ = Clock::now();
  }

  void describe(BenchRow& row) const override {
    row.process_peak_bytes = peak_->peak();
    row.wasm_heap_peak_bytes = wasm_heap_peak_;
  }

  [[nodiscard]] std::vector<MemoryRecord> processes() const override {
    return {{0.0, page_->memory(), "process_tree_pss"},
            {0.0, page_->gpu_process_memory(), "gpu_process_pss"}};
  }

  [[nodiscard]] std::vector<std::string> notes() const override { return page_->notes(); }

 private:
  // While a page measures, its worker alone gives signs of life: between two steps of a run.
  static LifeLimits limits_of(const SubjectSpec& spec) {
    LifeLimits limits = life_limits(spec.timeout, spec.stall_timeout);
    limits.silence = spec.timeout;
    return limits;
  }

  [[nodiscard]] Error hang(const std::string& why) const {
    return missing_error(fmt::format("{} ({}) {}", page_->host().host, page_->host().version, why));
  }

  /// Why waiting is pointless, if so.
  [[nodiscard]] std::optional<Error> trouble() {
    if (stop_()) return Error{ErrorKind::cancelled, "stopped"};
    if (job_->wait(milliseconds(0)).over) {
      const auto outcome = job_->take();
      return outcome.ok() ? internal_error(page_->host().host + ": the page ended on its own")
                          : in_context(outcome.error(), page_->host().host);
    }
    if (const auto how = page_->ended()) return hang(*how);
    return std::nullopt;
  }

  struct Start {
    Traffic traffic;  // traffic so far
    Clock::time_point begin;
  };

  Result<Start> start_browser() {
    const Start now{server_.traffic(), Clock::now()};
    DRIFTSCOPE_CHECK(page_->open(*job_));
    return now;
  }

  /// A browser that does not open the page gets a second chance, as in run_in_browser.
  Result<Start> open_page() {
    const auto asked = Clock::now();
    DRIFTSCOPE_TRY(Start start, start_browser());
    bool again = false;
    while (!job_->wait(look_up).opened) {
      if (auto error = trouble()) return *std::move(error);
      Job::Snapshot waiting = job_->wait(milliseconds(0));
      waiting.last_sign = asked;
      if (const auto why = given_up(waiting, Clock::now(), limits_)) return hang(*why);
      if (again || !page_->opens_again() || Clock::now() - asked < start_patience_) continue;
      again = true;
      page_->end();  // none of its pages may open the job any longer
      if (job_->wait(milliseconds(0)).opened)
        return hang(fmt::format("did not open the page for {} and was ended", seconds_text(start_patience_)));
      DRIFTSCOPE_TRY(start, start_browser());
    }
    return start;
  }

  /// Requests of a bench have no payload.
  Result<Response> exchange(const std::string& request, std::span<const std::byte> /*payload*/) override {
    DRIFTSCOPE_TRY(std::string response, ask(request));
    return Response{std::move(response), {}};
  }

  /// The page's response; while working on it the page sends signs of life.
  Result<std::string> ask(const std::string& request) {
    job_->long_poll().send(request);
    const auto begin = Clock::now();
    while (true) {
      if (auto text = job_->long_poll().response(look_up)) return *std::move(text);
      if (auto error = trouble()) return *std::move(error);
      Job::Snapshot now = job_->wait(milliseconds(0));
      now.last_sign = std::max(begin, now.last_sign);
      now.last_change = std::max(begin, now.last_change);
      if (const auto why = given_up(now, Clock::now(), limits_)) return hang(*why);
    }
  }

  Server& server_;
  BoardEntry job_;
  std::unique_ptr<BenchPage> page_;
  LifeLimits limits_;
  milliseconds start_patience_;
  StopCheck stop_;
  double clock_ns_ = 1.0;
  ServiceClient client_{*this};
  messages::MeasureResponse last_;
  std::int64_t wasm_heap_peak_ = 0;
  Clock::time_point last_look_{};
  std::optional<PeakSampler> peak_;  // last: it reads the page
};

}  // namespace

Result<std::unique_ptr<Subject>> open_browser_subject(Server& server, const SubjectSpec& spec,
                                                      const StopCheck& stop, BenchRow& row) {
  DRIFTSCOPE_TRY(std::unique_ptr<BenchPage> page, bench_page(server, spec.target, spec.web_driver, stop));
  DRIFTSCOPE_CHECK(check_browser_model(spec.model->name, spec.model->bytes, spec.model->attachments));
  JobContent content{
      json_text(encode(description_of(spec, page->host()))), spec.model->bytes, {}, spec.inputs};
  for (const JobAttachment& file : spec.model->attachments) content.attachments.push_back(file.bytes);
  DRIFTSCOPE_TRY(std::shared_ptr<Job> job, server.jobs().add(std::move(content)));
  auto subject = std::make_unique<BrowserSubject>(server, std::move(job), std::move(page), spec, stop);
  DRIFTSCOPE_CHECK(subject->load(spec.site, row));
  return std::unique_ptr<Subject>(std::move(subject));
}

}  // namespace driftscope
