// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/peer/peer_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/engines/peer/capture.hpp"
#include "core/engines/peer/converted_runtime_model.hpp"
#include "core/engines/peer/known_values.hpp"
#include "core/eval/infer_shapes.hpp"

namespace driftscope::peer {
namespace {

constexpr std::string_view all_captured = "made outputs of the graph, so nothing is fused across them";

// Our graph in the runtime's format, with these values readable in addition to its outputs.
Result<ModelForm> converted(const PeerInfo& peer, CreateRequest request, const CapturePlan& plan) {
  const std::shared_ptr<const Graph> graph = std::exchange(request.graph, nullptr);
  const convert::ConvertOptions options = {plan.added, request.options};
  DRIFTSCOPE_TRY(convert::ConvertedModel made, peer.convert(*graph, options));
  ModelForm form;
  form.facts = made.facts;
  std::size_t hidden = plan.hidden;
  std::string hidden_why = plan.hidden_why;
  for (const std::string& name : plan.added) {
    if (made.values.contains(name)) {
      form.captured.push_back(name);
    } else if (hidden++ == 0) {
      const auto why = made.without.find(name);
      hidden_why = fmt::format("{}: {}", name, why == made.without.end() ? "not converted" : why->second);
    }
  }
  if (!plan.added.empty()) form.facts["captured"] = fmt::format("{} values", form.captured.size());
  if (hidden > 0) form.facts["not_captured"] = fmt::format("{} values, the first: {}", hidden, hidden_why);
  const auto shared = std::make_shared<const convert::ConvertedModel>(std::move(made));
  request.converted = shared;
  DRIFTSCOPE_TRY(auto model, runtime_of(peer).create(request));
  form.model = under_our_names(std::move(model), shared, graph);
  return form;
}

// Makes the values with these names outputs of the graph.
std::shared_ptr<const Graph> with_outputs_added(const Graph& graph, const std::vector<std::string>& added) {
  Graph result = graph;
  for (ValueId id = 0; id < graph.values.size(); ++id)
    if (std::ranges::find(added, graph.values[id].name) != added.end()) result.outputs.push_back(id);
  return std::make_shared<const Graph>(std::move(result));
}

using OutputTypes = std::map<std::string, OutputType>;

OutputTypes types_of(const PeerInfo& peer, const Graph& graph) {
  OutputTypes types;
  if (!peer.wants_types) return types;
  for (const Value& value : graph.values)
    if (const auto shape = value.static_shape(); shape && value.dtype != DType::undefined)
      types[value.name] = {value.dtype, *shape};
  return types;
}

// Outputs of the graph that the file has only as values: what a ZipMap reads (graph/presented_outputs.hpp).
// The model is then in `bytes`.
Status add_presented(const PeerInfo& peer, const Graph& graph, CreateRequest& request,
                     std::vector<std::byte>& bytes) {
  if (request.graph) return {};
  DRIFTSCOPE_TRY(const ModelOutline outline, outline_model(request.model));
  std::vector<std::string> names;
  for (const ValueId id : graph.outputs) {
    const std::string& name = graph.values[id].name;
    if (std::ranges::find(outline.outputs, name) == outline.outputs.end()) names.push_back(name);
  }
  if (names.empty()) return {};
  DRIFTSCOPE_TRY(bytes, with_graph_outputs(request.model, names, types_of(peer, graph)));
  request.model = bytes;
  return {};
}

Result<ModelForm> untouched(const PeerInfo& peer, const Graph& graph, CreateRequest request) {
  if (peer.takes == Takes::converted) return converted(peer, request, {});
  std::vector<std::byte> bytes;
  DRIFTSCOPE_CHECK(add_presented(peer, graph, request, bytes));
  DRIFTSCOPE_TRY(auto model, runtime_of(peer).create(request));
  return ModelForm{std::move(model), {}, {}, {}};
}

Result<ModelForm> with_outputs(const Runtime& runtime, CreateRequest request, CapturePlan plan,
                               const OutputTypes& types, std::string_view how,
                               std::vector<InsideOutputs> inside = {}) {
  std::vector<std::byte> bytes;
  std::vector<std::byte> with_inside;
  std::vector<std::string> outputs = plan.added;
  if (!inside.empty()) {
    DRIFTSCOPE_TRY(with_inside, with_inside_outputs(request.model, inside));
    request.model = with_inside;
    for (std::string& name : names_of(inside)) outputs.push_back(std::move(name));
  }
  if (request.graph) {
    request.graph = with_outputs_added(*request.graph, plan.added);
  } else {
    DRIFTSCOPE_TRY(bytes, with_graph_outputs(request.model, outputs, types));
    with_inside = {};
    request.model = bytes;
  }
  DRIFTSCOPE_TRY(auto model, runtime.create(request));
  ModelForm form{std::move(model), std::move(plan.added), {}, std::move(inside)};
  form.facts["captured"] = fmt::format("{} values: {}", form.captured.size(), how);
  if (const std::size_t count = names_of(form.inside).size(); count > 0)
    form.facts["captured_inside"] = fmt::format("{} values of subgraphs", count);
  if (plan.hidden > 0)
    form.facts["not_captured"] = fmt::format("{} values, the first: {}", plan.hidden, plan.hidden_why);
  return form;
}

/// Every value is made an output before the runtime sees the model.
Result<ModelForm> with_every_value(const PeerInfo& peer, const Graph& graph, const CreateRequest& request) {
  const Runtime& runtime = runtime_of(peer);
  if (peer.takes == Takes::converted) return converted(peer, request, plan_capture(graph, runtime));
  if (request.graph) return with_outputs(runtime, request, plan_capture(graph, runtime), {}, all_captured);
  DRIFTSCOPE_TRY(const ModelOutline outline, outline_model(request.model));
  CapturePlan plan = plan_capture(graph, outline, runtime);
  // The shape of a value of a branch is another one where the branch does not run.
  std::vector<InsideOutputs> inside;
  if (!peer.wants_types) inside = plan_inside(graph, runtime, plan);
  return with_outputs(runtime, request, std::move(plan), types_of(peer, graph), all_captured,
                      std::move(inside));
}

/// The model as rewritten by the runtime, with its remaining values as outputs: so the kernels are those
/// of an untraced run.
Result<ModelForm> as_rewritten(const PeerInfo& peer, const Graph& graph, CreateRequest request) {
  const Runtime& runtime = runtime_of(peer);
  request.keep_rewritten = true;
  std::vector<std::byte> with_presented;
  DRIFTSCOPE_CHECK(add_presented(peer, graph, request, with_presented));
  DRIFTSCOPE_TRY(const auto rewritten, runtime.create(request));
  DRIFTSCOPE_TRY(const auto bytes, rewritten->rewritten());
  DRIFTSCOPE_TRY(const ModelOutline outline, outline_model(bytes));
  request.model = bytes;
  for (const auto& [name, value] : peer.without_rewriting) request.options[name] = value;
  request.keep_rewritten = false;
  return with_outputs(runtime, request, plan_fused_capture(graph, outline, runtime, peer.in_onnx_layout), {},
                      "left in the optimised model, made its outputs");
}

// The given options, and the defaults of the others.
std::map<std::string, std::string> options_of(const EngineInfo& engine, const EngineOptions& given) {
  std::map<std::string, std::string> options = given.values;
  for (const EngineOption& option : engine.options)
    if (!option.values.empty()) options.emplace(option.name, option.default_text);
  return options;
}

Result<SessionLimits> limits_of(const PeerInfo& peer, const EngineOptions& given) {
  SessionLimits limits;
  const std::string release = release_to_fetch(peer, given.values);
  limits.title = fmt::format("{} {}", peer.title, release.empty() ? peer.version : release);
  limits.capture_bytes = peer.capture_bytes;
  const auto timeout = given.values.find(timeout_option().name);
  const std::string text = timeout == given.values.end() ? timeout_option().default_text : timeout->second;
  std::int64_t seconds = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), seconds).ec != std::errc())
    return bad_input(fmt::format("option timeout={}: expected seconds", text));
  limits.timeout_ns = seconds * 1'000'000'000;
  return limits;
}

}  // namespace

PeerEngine::PeerEngine(const PeerInfo& peer) : peer_(peer), info_(peer.engine) {
  if (!peer.releases.in_browsers.empty()) info_.options.push_back(release_option());
  info_.options.push_back(timeout_option());
}

Result<std::unique_ptr<Session>> PeerEngine::make_session(std::shared_ptr<const Graph> graph,
                                                          const EngineOptions& given) const {
  const Runtime& runtime = runtime_of(peer_);
  CreateRequest request;
  request.threads = given.threads > 0 ? given.threads : usable_processors();
  request.options = options_of(peer_.engine, given);
  if (peer_.takes != Takes::source) {
    DRIFTSCOPE_TRY(Graph whole, with_declared_shapes(*graph));
    graph = std::make_shared<const Graph>(std::move(whole));
    request.graph = peer_.takes == Takes::graph ? with_known_values(graph) : graph;
  } else {
    if (!given.source)
      return internal_error(
          fmt::format("engine {} was prepared without the model's bytes", peer_.engine.name));
    request.model = given.source->model.bytes();
    request.source = given.source;
  }
  RanWith ran;
  ran.engine = peer_.engine.name;
  ran.device = peer_.engine.device == DeviceKind::cpu ? "CPU" : "GPU";
  ran.threads_asked = request.threads;
  ran.options = request.options;
  request.options.erase(timeout_option().name);  // the session's, not the runtime's
  const std::string release = release_to_fetch(peer_, request.options);
  request.options.erase(std::string(release_name));
  if (!release.empty()) request.options.emplace(release_name, release);
  ran.options["version"] = release.empty() ? peer_.version : release;
  ran.options["node_times"] = "whole run, on the last node";
  std::string why = runtime.hides_rewritten();
  if (request.graph) why = fmt::format("{} is given our graph", peer_.title);
  std::function<Result<ModelForm>()> make_traced;
  if (given.fuse && !why.empty())
    ran.options["fused_values"] = "none: " + why;
  else if (given.fuse)
    make_traced = [&peer = peer_, graph, request] { return as_rewritten(peer, *graph, request); };
  else if (peer_.fixed_outputs)
    make_traced = [&peer = peer_, graph, request] { return with_every_value(peer, *graph, request); };
  const bool plain = given.fuse || peer_.fixed_outputs || !given.inner_values;
  DRIFTSCOPE_TRY(ModelForm form,
                 plain ? untouched(peer_, *graph, request) : with_every_value(peer_, *graph, request));
  DRIFTSCOPE_TRY(const SessionLimits limits, limits_of(peer_, given));
  return std::unique_ptr<Session>(std::make_unique<PeerSession>(
      std::move(graph), std::move(form), std::move(ran), limits, std::move(make_traced)));
}

}  // namespace driftscope::peer
