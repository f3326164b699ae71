#include "native/host/page_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/compare/dataset_predictions.hpp"
#include "core/inputs/found_inputs.hpp"
#include "core/protocol/error_json.hpp"
#include "core/protocol/load.hpp"
#include "core/protocol/response.hpp"
#include "core/protocol/run.hpp"
#include "core/protocol/service.hpp"
#include "core/trace/trace_file.hpp"
#include "native/browser/remote_device.hpp"
#include "native/host/target_runner.hpp"
#include "native/host/targets.hpp"

namespace driftscope {
namespace {

using Bytes = std::vector<std::byte>;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* model_name = "model.onnx";  // pages do not say it

SharedBytes copy_of(std::span<const std::byte> bytes) {
  return SharedBytes(Bytes(bytes.begin(), bytes.end()));
}

/// The payload of "load": the model, then the files of the table.
Result<ModelFile> read_model(const messages::Load& load, std::span<const std::byte> payload) {
  if (load.outside) return bad_input("request: \"outside\", but a page sends its model");
  std::size_t files = 0;
  const std::vector<messages::Attachment> table =
      load.attachments.value_or(std::vector<messages::Attachment>());
  for (const messages::Attachment& one : table) {
    if (static_cast<std::uint64_t>(one.bytes) > payload.size() - files)
      return bad_input(fmt::format("request: attachment {} has {} bytes, the message only {} more",
                                   in_quotes(one.name), one.bytes, payload.size() - files));
    files += static_cast<std::size_t>(one.bytes);
  }
  if (files == payload.size()) return bad_input("load: no model bytes came with the request");
  const auto model = payload.first(payload.size() - files);
  auto rest = payload.subspan(model.size());
  std::vector<JobAttachment> attachments;
  for (const messages::Attachment& one : table) {
    const auto size = static_cast<std::size_t>(one.bytes);
    attachments.push_back({one.name, copy_of(rest.first(size))});
    rest = rest.subspan(size);
  }
  return load_model_bytes(model_name, model_name, copy_of(model), std::move(attachments));
}

struct Reply {
  nlohmann::json head = nlohmann::json::object();
  Bytes payload = {};
};

class PageRun final : public RunElsewhere {
 public:
  PageRun(RunTarget run, milliseconds longest_silence)
      : run_(std::move(run)), longest_silence_(longest_silence), heard_(Clock::now()) {}
  ~PageRun() override { end(); }

  Bytes request(std::span<const std::byte> message) override {
    const auto reject = [](const Error& error) {
      return pack_message(json_text(nlohmann::json{{"error", error_to_json(error)}}), {});
    };
    hear();
    try {
      const auto reply = answer(unpack_message(message));
      hear();
      if (!reply.ok()) return reject(reply.error());
      return pack_message(json_text(reply->head), reply->payload);
    } catch (const std::bad_alloc&) {
      return reject(limit_error("out of memory; the model or its values are too large for this PC"));
    } catch (const std::exception& error) {
      return reject(internal_error(error.what()));
    }
  }

 private:
  /// What the page is told while it waits.
  struct Step {
    std::string name = "starting";
    std::int64_t done = 0;
    std::int64_t total = 0;
  };

  Result<Reply> answer(const Message& message) {
    const nlohmann::json request = parse_json(message.json);
    if (!request.is_object()) return bad_input("request: expected a JSON object");
    const std::string verb = text_at(request, "do");
    if (verb == "load") return load(request, message.payload);
    if (verb == "start") return start(request, message.payload);
    if (verb == "poll") return poll(request);
    if (verb == "finish") return finish();
    return bad_input("request: field \"do\": expected one of load, start, poll, finish");
  }

  Result<Reply> load(const nlohmann::json& request, std::span<const std::byte> payload) {
    end();
    model_.reset();
    messages::Load given;
    DRIFTSCOPE_CHECK(decode(request, given));
    DRIFTSCOPE_TRY(model_, read_model(given, payload));
    LoadedModel loaded;
    loaded.sha256 = model_->sha256;
    loaded.graph = without_weights(model_->graph);
    return Reply{encode(describe_model(loaded))};
  }

  Result<Reply> start(const nlohmann::json& request, std::span<const std::byte> payload) {
    if (!model_) return bad_input("request: \"start\" before a model was loaded");
    end();
    messages::Start given;
    DRIFTSCOPE_CHECK(decode(request, given));
    DRIFTSCOPE_TRY(target_, read_target(given.target));
    if (!is_remote(target_))
      return bad_input(fmt::format("target {}: expected a device of the hub", in_quotes(given.target)));
    DRIFTSCOPE_TRY(StartRequest wanted, read_start_request(given, payload, model_->graph));
    chosen_ = std::move(wanted.chosen);
    samples_ = wanted.samples;
    RunRequest run;
    run.model = &*model_;
    run.inputs = std::move(wanted.inputs);
    run.plan = given;
    run.stopped = [this] { return stopped(); };
    step_ = {};
    outcome_.reset();
    stop_ = false;
    thread_ = std::thread([this, run = std::move(run)] { carry_out(run); });
    return Reply{
        encode(messages::StartResponse{.nodes = static_cast<std::int64_t>(model_->graph.nodes.size())})};
  }

  void carry_out(const RunRequest& request) {
    const auto report = [this](std::string_view name, std::int64_t done, std::int64_t total) {
      const std::lock_guard lock(mutex_);
      step_ = {std::string(name), done, total};
    };
    Result<Trace> trace = internal_error("the run has not ended");
    try {
      trace = run_(target_, request, report);
    } catch (const std::bad_alloc&) {
      trace = limit_error("out of memory; the model or its values are too large for this PC");
    } catch (const std::exception& error) {
      trace = internal_error(error.what());
    }
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(trace);
    changed_.notify_all();
  }

  Result<Reply> poll(const nlohmann::json& request) {
    messages::Poll wanted;
    DRIFTSCOPE_CHECK(decode(request, wanted));
    if (!thread_.joinable()) return bad_input("request: \"poll\" without a run");
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, milliseconds(wanted.budget_ms), [this] { return outcome_.has_value(); });
    const bool by_sample = samples_ > 0;
    if (outcome_ && !outcome_->ok()) return failure(outcome_->error());
    return Reply{encode(messages::PollResponse{.done = by_sample ? 0 : step_.done,
                                               .total = by_sample ? 0 : step_.total,
                                               .sample = by_sample ? step_.done : 0,
                                               .samples = samples_,
                                               .finished = outcome_.has_value(),
                                               .waiting = false,
                                               .preparing = false,
                                               .prepared = 0,
                                               .to_prepare = 0,
                                               .timing = {},
                                               .values = {},
                                               .step = step_.name})};
  }

  /// A run that was stopped because of the page is no wish of its user's.
  [[nodiscard]] Error failure(const Error& error) const {
    if (error.kind != ErrorKind::cancelled || !was_silent_) return error;
    return Error{ErrorKind::io, fmt::format("the run on {} was ended: the page said nothing for {} s",
                                            target_.text(), longest_silence_.count() / 1000)};
  }

  Result<Reply> finish() {
    if (!thread_.joinable()) return bad_input("request: \"finish\" without a run");
    {
      const std::lock_guard lock(mutex_);
      if (!outcome_) return bad_input("request: \"finish\" before the run has ended");
    }
    thread_.join();
    auto outcome = std::exchange(outcome_, std::nullopt);
    if (!outcome->ok()) return failure(outcome->error());
    Trace trace = *std::move(*outcome);
    if (chosen_) add_chosen_inputs(trace, *chosen_);
    std::vector<std::string> outputs;
    for (const ValueId id : model_->graph.outputs) outputs.push_back(model_->graph.values[id].name);
    messages::FinishResponse described = describe_trace(trace, outputs);
    if (samples_ > 0)
      if (auto dataset = dataset_predictions(model_->graph, trace, samples_, {}, trace.target); dataset.ok())
        described.predictions = std::move(dataset->predictions);
    Reply reply{encode(described)};
    DRIFTSCOPE_TRY(reply.payload, write_trace(trace));
    return reply;
  }

  void hear() {
    const std::lock_guard lock(mutex_);
    heard_ = Clock::now();
  }

  [[nodiscard]] bool stopped() {
    const std::lock_guard lock(mutex_);
    was_silent_ = was_silent_ || Clock::now() - heard_ > longest_silence_;
    return stop_ || was_silent_;
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    if (thread_.joinable()) thread_.join();
  }

  const RunTarget run_;
  const milliseconds longest_silence_;
  std::optional<ModelFile> model_;
  Target target_;
  std::optional<ChosenInputs> chosen_;
  std::int64_t samples_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_ while the thread runs.
  Clock::time_point heard_;
  bool stop_ = false;
  bool was_silent_ = false;
  Step step_;
  std::optional<Result<Trace>> outcome_;

  std::thread thread_;
};

}  // namespace

std::unique_ptr<RunElsewhere> page_run(RunTarget run, milliseconds longest_silence) {
  return std::make_unique<PageRun>(std::move(run), longest_silence);
}

BeginRunElsewhere page_runs(const RunnerOptions& options) {
  return [options] {
    return page_run(
        [options](const Target& target, const RunRequest& request, const TargetProgress& progress) {
          TargetRunner runner(options);
          return runner.run(target, request, progress);
        });
  };
}

}  // namespace driftscope
