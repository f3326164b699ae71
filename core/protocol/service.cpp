#include "core/protocol/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/compare/dataset_predictions.hpp"
#include "core/graph/topology.hpp"
#include "core/protocol/comparison.hpp"
#include "core/protocol/error_json.hpp"
#include "core/protocol/load.hpp"
#include "core/protocol/measure.hpp"
#include "core/protocol/programs.hpp"
#include "core/protocol/response.hpp"
#include "core/protocol/schema.hpp"
#include "core/protocol/timed_run.hpp"
#include "core/trace/trace_file.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

struct Reply {
  json head = json::object();
  std::vector<std::byte> payload;
};

// A measurement is prepared like a run.
messages::Start start_of(messages::Prepare&& prepare) {
  messages::Start start;
  start.target = std::move(prepare.target);
  // Without a trace only the outputs are kept.
  start.capture = prepare.capture == messages::Capture::none ? messages::Capture::outputs : prepare.capture;
  start.seed = prepare.seed;
  start.environment = std::move(prepare.environment);
  start.values = std::move(prepare.values);
  return start;
}

Error unknown_request(const json& request) {
  std::string names;
  for (const MessageSpec& message : message_specs())
    if (message.by.empty()) names += fmt::format("{}{}", names.empty() ? "" : ", ", message.name);
  const auto verb = request.find("do");
  const std::string got = verb == request.end() ? "nothing" : in_quotes(json_text(*verb));
  return bad_input(fmt::format("request: field \"do\": expected one of {}, got {}", names, got));
}

}  // namespace

struct Service::State {
  std::optional<LoadedModel> model;
  messages::Load loaded;  // how, and from where if it lies outside
  ByteSource outside;
  std::unique_ptr<TimedRun> run;
  std::unique_ptr<Measurement> measurement;
  std::unique_ptr<ServiceComparison> comparison;
  ReadOutside read_outside;
  FindInPlace find_outside;
  TensorSink sink;                    // of the next run
  std::optional<NamedInputs> inputs;  // of the next start, in place of its payload
  std::function<void(Trace)> deliver;
  RunRecorder* recorder = nullptr;

  Result<Reply> answer(const Message& message);
  Result<Reply> load(const json& request, std::span<const std::byte> payload);
  Result<LoadedModel*> load_again();
  Result<Reply> start(const json& request, std::span<const std::byte> payload);
  Result<Reply> poll(const json& request);
  Result<Reply> finish();
  Result<Reply> prepare(const json& request, std::span<const std::byte> payload);
  Result<Reply> measure(const json& request);
  Result<Reply> describe();
  Result<Reply> programs(const json& request);
  Result<Reply> compare(const json& request);
  Result<Reply> advance(const json& request, std::span<const std::byte> payload);
  Result<Reply> topology();
  void end_runs() {
    run.reset();
    measurement.reset();
    comparison.reset();
  }
};

Result<Reply> Service::State::load(const json& request, std::span<const std::byte> payload) {
  end_runs();
  model.reset();
  loaded = {};
  DRIFTSCOPE_CHECK(decode(request, loaded));
  outside = {};
  if (loaded.outside) {
    if (!read_outside) return bad_input("request: \"outside\", but this service has no bytes outside");
    outside.size = static_cast<std::uint64_t>(*loaded.outside);
    outside.read = read_outside;
    outside.in_place = find_outside;
  }
  const bool stays = loaded.outside.has_value();
  DRIFTSCOPE_TRY(model, load_model(loaded, stays ? outside : source_of(payload), stays));
  return Reply{encode(describe_model(*model)), {}};
}

Result<LoadedModel*> Service::State::load_again() {
  if (!model->weights_consumed) return &*model;
  if (!loaded.outside)
    return bad_input(
        "request: \"unwatched_ms\" and \"memory_runs\" need the model once more, which was loaded once; load "
        "it "
        "without \"once\", or with \"outside\"");
  model.reset();
  loaded.unhashed = true;  // the trace has the hash
  DRIFTSCOPE_TRY(model, load_model(loaded, outside, true));
  return &*model;
}

Result<Reply> Service::State::start(const json& request, std::span<const std::byte> payload) {
  if (!model) return bad_input("request: \"start\" before a model was loaded");
  end_runs();
  messages::Start given;
  DRIFTSCOPE_CHECK(decode(request, given));
  DRIFTSCOPE_TRY(StartRequest wanted,
                 read_start_request(given, payload, *model->graph, std::exchange(inputs, std::nullopt)));
  wanted.record.sink = std::exchange(sink, nullptr);
  DRIFTSCOPE_TRY(run, TimedRun::start(*model, std::move(wanted), [this] { return load_again(); }));
  return Reply{encode(messages::StartResponse{.nodes = static_cast<std::int64_t>(run->nodes())}), {}};
}

Result<Reply> Service::State::poll(const json& request) {
  if (!run) return bad_input("request: \"poll\" without a run");
  messages::Poll wanted;
  DRIFTSCOPE_CHECK(decode(request, wanted));
  const auto progress = run->poll(wanted.budget_ms * 1'000'000);
  if (!progress.ok()) {
    run.reset();
    return progress.error();
  }
  ValueStream::Pieces values = run->take_values();
  messages::PollResponse response{.done = progress->nodes.done,
                                  .total = progress->nodes.total,
                                  .sample = progress->sample,
                                  .samples = progress->samples,
                                  .finished = progress->finished() && values.table.empty(),
                                  .waiting = progress->nodes.waiting,
                                  .preparing = progress->nodes.preparing,
                                  .prepared = progress->nodes.prepared,
                                  .to_prepare = progress->nodes.to_prepare,
                                  .timing = {},
                                  .values = {},
                                  .step = {}};
  if (run->timing()) response.timing = true;
  if (!values.table.empty()) response.values = std::move(values.table);
  return Reply{encode(response), std::move(values.payload)};
}

Result<Reply> Service::State::finish() {
  if (!run) return bad_input("request: \"finish\" without a run");
  DRIFTSCOPE_TRY(Trace trace, run->take());
  Reply reply;
  messages::FinishResponse described = describe_trace(trace, run->output_names());
  if (run->samples() > 0)
    if (auto dataset = dataset_predictions(*model->graph, trace, run->samples(), {}, trace.target);
        dataset.ok())
      described.predictions = std::move(dataset->predictions);
  reply.head = encode(described);
  run.reset();
  if (const auto receive = std::exchange(deliver, nullptr)) {
    receive(std::move(trace));
  } else {
    DRIFTSCOPE_TRY(reply.payload, write_trace(trace));
  }
  return reply;
}

Result<Reply> Service::State::prepare(const json& request, std::span<const std::byte> payload) {
  if (!model) return bad_input("request: \"prepare\" before a model was loaded");
  end_runs();
  messages::Prepare given;
  DRIFTSCOPE_CHECK(decode(request, given));
  const bool traced = given.capture != messages::Capture::none;
  DRIFTSCOPE_TRY(StartRequest wanted, read_start_request(start_of(std::move(given)), payload, *model->graph));
  wanted.traced = traced;
  DRIFTSCOPE_TRY(measurement, Measurement::prepare(*model, std::move(wanted), recorder));
  return Reply{json(measurement->describe()), {}};
}

Result<Reply> Service::State::describe() {
  if (!measurement) return bad_input("request: \"describe\" before \"prepare\"");
  return Reply{json(measurement->describe()), {}};
}

Result<Reply> Service::State::programs(const json& request) {
  if (!measurement) return bad_input("request: \"programs\" before \"prepare\"");
  messages::Programs wanted;
  DRIFTSCOPE_CHECK(decode(request, wanted));
  DRIFTSCOPE_TRY(const auto found, measurement->programs(wanted.node));
  Reply reply{encode(messages::ProgramsResponse{.waiting = !found}), {}};
  if (found) reply.payload = write_programs(*found);
  return reply;
}

Result<Reply> Service::State::compare(const json& request) {
  if (!model) return bad_input("request: \"compare\" before a model was loaded");
  DRIFTSCOPE_CHECK(expect_whole(*model));
  end_runs();
  messages::Compare wanted;
  DRIFTSCOPE_CHECK(decode(request, wanted));
  DRIFTSCOPE_TRY(comparison, ServiceComparison::begin(wanted, *model));
  return Reply{};
}

Result<Reply> Service::State::advance(const json& request, std::span<const std::byte> payload) {
  if (!comparison) return bad_input("request: \"advance\" without a comparison");
  messages::Advance given;
  DRIFTSCOPE_CHECK(decode(request, given));
  DRIFTSCOPE_TRY(const auto advanced, comparison->advance(given, payload));
  const auto text = std::as_bytes(std::span(advanced.comparison));
  return Reply{encode(advanced.head), {text.begin(), text.end()}};
}

Result<Reply> Service::State::topology() {
  if (!model) return bad_input("request: \"topology\" before a model was loaded");
  DRIFTSCOPE_CHECK(expect_whole(*model));
  messages::TopologyResponse response;
  for (TopologyNode& node : topology_of(*model->graph).nodes)
    response.nodes.push_back({std::move(node.name), std::move(node.op), std::move(node.inputs),
                              std::move(node.outputs), node.constant});
  return Reply{encode(response), {}};
}

Result<Reply> Service::State::measure(const json& request) {
  if (!measurement) return bad_input("request: \"measure\" before \"prepare\"");
  messages::Measure wanted;
  DRIFTSCOPE_CHECK(decode(request, wanted));
  auto measured = measurement->measure({wanted.slice_us * 1000, wanted.inner, wanted.max_runs},
                                       wanted.budget_ms * 1'000'000);
  if (!measured.ok()) {
    measurement.reset();
    return std::move(measured).error();
  }
  return Reply{encode(*measured), {}};
}

Result<Reply> Service::State::answer(const Message& message) {
  if (message.json.empty())
    return bad_input("request: malformed message; expected 4 bytes of length, JSON, payload");
  const json request = parse_json(message.json);
  if (!request.is_object()) return bad_input("request: expected a JSON object");
  const std::string verb = request.contains("do") && request["do"].is_string() ? request["do"] : json("");
  const auto known = std::ranges::find(message_specs(), std::string_view(verb), &MessageSpec::name);
  if (known == message_specs().end() || !known->by.empty()) return unknown_request(request);
  if (verb == "load") return load(request, message.payload);
  if (verb == "start") return start(request, message.payload);
  if (verb == "poll") return poll(request);
  if (verb == "prepare") return prepare(request, message.payload);
  if (verb == "measure") return measure(request);
  if (verb == "programs") return programs(request);
  if (verb == "compare") return compare(request);
  if (verb == "advance") return advance(request, message.payload);
  DRIFTSCOPE_CHECK(check_object(*known->request, request));  // they have no fields
  if (verb == "capabilities") return Reply{encode(describe_build()), {}};
  if (verb == "finish") return finish();
  if (verb == "describe") return describe();
  if (verb == "topology") return topology();
  if (verb == "cancel") {
    end_runs();
    return Reply{};
  }
  return internal_error(fmt::format(
      "request {}: declared in the schema, but the service has no handler for it", in_quotes(verb)));
}

Service::Service() : state_(std::make_unique<State>()) {}
Service::~Service() = default;

void Service::load_from(ReadOutside read, FindInPlace in_place) {
  state_->read_outside = std::move(read);
  state_->find_outside = std::move(in_place);
}

void Service::record_to(TensorSink sink) { state_->sink = std::move(sink); }

void Service::take_inputs(NamedInputs inputs) { state_->inputs = std::move(inputs); }

void Service::deliver_to(std::function<void(Trace)> receive) { state_->deliver = std::move(receive); }

void Service::measure_into(RunRecorder* recorder) { state_->recorder = recorder; }

std::vector<std::byte> Service::request(std::span<const std::byte> message) {
  const auto reject = [](const Error& error) {
    return pack_message(json_text(json{{"error", error_to_json(error)}}), {});
  };
  try {
    const auto reply = state_->answer(unpack_message(message));
    if (!reply.ok()) return reject(reply.error());
    return pack_message(json_text(reply->head), reply->payload);
  } catch (const std::bad_alloc&) {
    // Release everything first: the response needs memory as well.
    state_->end_runs();
    state_->model.reset();
    return reject(limit_error("out of memory; the model or its values are too large for this host"));
  } catch (const std::exception& error) {
    return reject(internal_error(error.what()));
  }
}

}  // namespace driftscope
