#include "core/gui/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "core/base/text.hpp"
#include "core/graph/control_flow.hpp"
#include "core/results/answer_move_text.hpp"
#include "core/results/headline.hpp"
#include "core/results/layer_names.hpp"
#include "core/verify/metrics.hpp"
#include "core/verify/nonfinite.hpp"
#include "core/verify/overflow.hpp"

namespace driftscope::gui {
namespace {

/// Results of verify and compare for a target's layers, by value name.
struct Findings {
  std::unordered_map<std::string_view, const LayerVerdict*> verdicts;
  std::unordered_map<std::string_view, const LayerDifference*> differences;

  explicit Findings(const TargetParts& parts) {
    if (parts.verification)
      for (const LayerVerdict& layer : parts.verification->layers) verdicts.emplace(layer.output, &layer);
    if (parts.comparison)
      for (const LayerDifference& layer : parts.comparison->layers) differences.emplace(layer.output, &layer);
  }
  template <class Layer>
  static const Layer* find(const std::unordered_map<std::string_view, const Layer*>& map,
                           const std::string& output) {
    const auto found = map.find(output);
    return found == map.end() ? nullptr : found->second;
  }
};

/// Layers of a target without tensors, from its results: a stored comparison.
std::vector<RunLayer> layers_of_findings(const TargetParts& parts) {
  std::vector<RunLayer> layers;
  const auto add = [&](const auto& said) {
    for (const auto& layer : said) {
      RunLayer& made = layers.emplace_back();
      made.output = layer.output;
      made.node = layer.node;
      made.op = layer.op;
      made.shape = layer.shape;
      made.constant = layer.constant;
    }
  };
  if (parts.verification) {
    add(parts.verification->layers);
  } else if (parts.comparison) {
    add(parts.comparison->layers);
  }
  return layers;
}

std::vector<RunLayer> layers_of_parts(const TargetParts& parts) {
  if (parts.tensors) return layers_of(*parts.tensors);
  auto layers = layers_of(parts.about);
  return layers.empty() ? layers_of_findings(parts) : layers;
}

/// Compares a layer's tensors; if that is impossible, notes the reason.
LayerDifference difference_of(const TargetColumn& left, std::size_t left_tensor, const TargetColumn& right,
                              std::size_t right_tensor) {
  LayerDifference difference;
  const auto a = left.tensors->load(left_tensor);
  const auto b = right.tensors->load(right_tensor);
  if (!a.ok() || !b.ok()) {
    difference.reason = (a.ok() ? b : a).error().message;
    return difference;
  }
  const auto metrics = measure(*b, *a);
  if (!metrics.ok()) {
    difference.reason = metrics.error().message;
    return difference;
  }
  difference.metrics = *metrics;
  difference.kl = kl_divergence(*a, *b);
  return difference;
}

TargetColumn column_of(const TargetParts& parts) {
  TargetColumn column;
  column.target = parts.target;
  column.error = parts.error;
  column.notes = parts.notes;
  column.about = parts.tensors ? parts.tensors->about() : parts.about;
  column.tensors = parts.tensors;
  if (column.notes.empty() && parts.tensors) {
    TargetResult recorded;
    recorded.trace = column.about;
    column.notes = target_notes(recorded);
  }
  column.dataset = parts.dataset;
  column.ran = column.about.run == "{}" ? "" : run_text(column.about);
  column.time = parts.stored_time ? *parts.stored_time : run_time(column.about);
  column.peak = peak_memory(column.about);
  if (column.peak.bytes == 0 && parts.comparison)
    column.peak = {0.0, parts.comparison->peak_bytes, parts.comparison->peak_kind};
  if (parts.verification) {
    column.verdict = parts.verification->verdict;
    column.nonfinite = nonfinite_text(*parts.verification);
    column.hidden_overflow = hidden_overflow(*parts.verification);
    if (parts.verification->matters) column.matters = causal_headline(*parts.verification->matters);
  }
  if (parts.comparison) column.same_answer = same_answer(parts.comparison->output);
  return column;
}

/// "chrome" if it is the only target there; otherwise the whole target.
void name_columns(std::vector<TargetColumn>& columns) {
  const auto host = [](const TargetColumn& column) {
    return column.target.substr(0, column.target.find('/'));
  };
  std::map<std::string, int> hosts;
  for (const TargetColumn& column : columns) ++hosts[host(column)];
  for (TargetColumn& column : columns)
    column.name = hosts[host(column)] > 1 || host(column) == "file" ? column.target : host(column);
}

void link_layers(Snapshot& snapshot, const Topology& topology) {
  std::unordered_map<std::string_view, std::uint32_t> layer_of;
  for (std::size_t i = 0; i < snapshot.layers.size(); ++i)
    layer_of.emplace(snapshot.layers[i].output, static_cast<std::uint32_t>(i));
  // A value that was not recorded is replaced by those that its node reads.
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> sources;
  constexpr std::size_t max_sources = 16;
  for (const TopologyNode& node : topology.nodes) {
    std::vector<std::uint32_t> reads;
    for (const std::string& input : node.inputs) {
      if (const auto found = layer_of.find(input); found != layer_of.end()) {
        reads.push_back(found->second);
      } else if (const auto behind = sources.find(input); behind != sources.end()) {
        reads.insert(reads.end(), behind->second.begin(), behind->second.end());
      }
    }
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    for (const std::string& output : node.outputs) {
      if (const auto found = layer_of.find(output); found != layer_of.end()) {
        snapshot.layers[found->second].inputs = reads;
      } else {
        auto& kept = sources[output] = reads;
        if (kept.size() > max_sources) kept.resize(max_sources);
      }
    }
  }
  snapshot.has_structure = true;
}

void label_layers(Snapshot& snapshot) {
  constexpr std::size_t readable = 18;
  std::vector<std::string> names;
  for (const Layer& layer : snapshot.layers) names.push_back(layer.node);
  std::vector<std::string> labels = fitting_names(names, readable);
  for (std::size_t i = 0; i < labels.size(); ++i) snapshot.layers[i].label = std::move(labels[i]);
}

void find_firsts(Snapshot& snapshot, std::size_t target) {
  TargetColumn& column = snapshot.targets[target];
  for (std::size_t i = 0; i < snapshot.layers.size(); ++i) {
    const Cell cell = snapshot.cell(i, target);
    if (column.first_fault == no_place && cell.verdict == Verdict::fault) column.first_fault = i;
    if (target > 0 && column.first_divergence == no_place && cell.differs()) column.first_divergence = i;
    column.verdict = worse_of(column.verdict, cell.verdict);
  }
}

/// Where nothing else is known, the time of a target is that of its layers.
void add_layer_times(Snapshot& snapshot, std::size_t target) {
  RunTime& time = snapshot.targets[target].time;
  if (time.kind != TimeKind::unknown) return;
  std::unordered_set<std::string_view> nodes;
  for (const Layer& layer : snapshot.layers) nodes.insert(layer.node);
  const auto is_node = [&](std::string_view name) { return nodes.contains(name); };
  for (std::size_t i = 0; i < snapshot.layers.size(); ++i)
    if (outermost_owner(snapshot.layers[i].node, is_node).empty())
      time.ns += static_cast<double>(snapshot.cell(i, target).time_ns());
  if (time.ns <= 0.0) return;
  time.kind = TimeKind::layers;
  if (time.layers == "unknown") time.layers = "watched";
}

TargetOutcome outcome_of(const Snapshot& snapshot, std::size_t t) {
  const TargetColumn& column = snapshot.targets[t];
  TargetOutcome outcome;
  outcome.target = column.target;
  outcome.failed = !column.error.empty();
  outcome.verdict = column.verdict;
  outcome.differs = column.first_divergence != no_place;
  outcome.nonfinite = column.nonfinite;
  outcome.hidden_overflow = column.hidden_overflow;
  outcome.matters = column.matters;
  outcome.same_answer = column.same_answer;
  outcome.time = column.time;
  if (column.first_fault != no_place) outcome.first_fault = snapshot.layers[column.first_fault].node;
  for (std::size_t i = 0; i < snapshot.layers.size(); ++i) {
    const LayerState& state = snapshot.results.state(i, t);
    outcome.compared = outcome.compared || state.compared || state.mismatch;
    outcome.unverified =
        outcome.unverified || (state.verdict == Verdict::missing && snapshot.cell(i, t).differs());
    outcome.unjudged += state.verdict == Verdict::unjudged ? 1 : 0;
    if (outcome.first_suspect.empty() && state.verdict == Verdict::suspect)
      outcome.first_suspect = snapshot.layers[i].node;
  }
  const auto& left = snapshot.targets.front().dataset;
  if (column.dataset && left) {
    outcome.samples = column.dataset->samples;
    outcome.same_samples = agreement(*left, *column.dataset);
  }
  return outcome;
}

std::string snapshot_headline(const Snapshot& snapshot) {
  if (snapshot.targets.empty()) return "nothing is open";
  if (snapshot.targets.size() == 1 && snapshot.targets.front().error.empty() &&
      snapshot.targets.front().first_fault == no_place)
    return snapshot.targets.front().verdict == Verdict::missing
               ? "one run, not judged: open its model as well"
               : "one run: " + verdict_text(snapshot.targets.front().verdict) +
                     (snapshot.targets.front().nonfinite.empty() ? ""
                                                                 : "; " + snapshot.targets.front().nonfinite);
  std::vector<TargetOutcome> outcomes;
  for (std::size_t t = 0; t < snapshot.targets.size(); ++t) outcomes.push_back(outcome_of(snapshot, t));
  return comparison_headline(outcomes);
}

}  // namespace

Snapshot make_snapshot(SnapshotParts parts, const SnapshotProgress& progress) {
  Snapshot snapshot;
  snapshot.title = std::move(parts.title);
  snapshot.model_sha256 = std::move(parts.model_sha256);
  snapshot.input_text = std::move(parts.input_text);
  snapshot.input_label = std::move(parts.input_label);
  snapshot.dataset_text = std::move(parts.dataset_text);
  snapshot.class_names = std::move(parts.class_names);
  snapshot.notes = std::move(parts.notes);
  std::vector<std::vector<RunLayer>> runs;
  for (const TargetParts& target : parts.targets) {
    snapshot.targets.push_back(column_of(target));
    runs.push_back(layers_of_parts(target));
  }
  name_columns(snapshot.targets);
  if (parts.topology) {
    std::vector<std::string_view> values;
    for (const auto& run : runs)
      for (const RunLayer& layer : run) values.push_back(layer.output);
    parts.topology = with_iterations(*parts.topology, values);
  }
  const auto rows = match_layers(runs, parts.topology ? &*parts.topology : nullptr);
  const std::size_t targets = snapshot.targets.size();
  snapshot.results = LayerResults(rows.size(), targets);
  snapshot.tensor_places.assign(rows.size() * targets, Snapshot::unknown_place);
  std::vector<std::size_t> renamed(targets, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Layer layer;
    layer.node = rows[i].node;
    layer.op = rows[i].op;
    layer.output = rows[i].output;
    layer.constant = rows[i].constant;
    for (std::size_t t = 0; t < targets; ++t) {
      snapshot.results.add_note(i, t, rows[i].notes[t]);
      renamed[t] += rows[i].notes[t].empty() ? 0 : 1;
      if (rows[i].places[t] == no_place) continue;
      const RunLayer& known = runs[t][rows[i].places[t]];
      layer.constant = layer.constant || known.constant;
      snapshot.tensor_places[t * rows.size() + i] = static_cast<std::uint32_t>(known.tensor_place);
      if (layer.op.empty()) layer.op = known.op;
      if (!layer.shape_known && (known.tensor_place != no_place || !known.shape.empty())) {
        layer.shape_known = true;
        layer.shape = known.shape;
        layer.dtype = known.dtype;
        const auto bytes = known.tensor_place == no_place ? Result<std::int64_t>(std::int64_t{0})
                                                          : tensor_byte_size(known.dtype, known.shape);
        layer.bytes = bytes.ok() ? *bytes : 0;
      }
      if (known.node_place == no_place) continue;
      const NodeRecord& node = snapshot.targets[t].about.nodes[known.node_place];
      snapshot.results.set_times(i, t,
                                 {steady_time_ns(node), node.time_ns.empty() ? 0 : node.time_ns.front()});
    }
    if (layer.node.empty()) layer.node = layer.output;
    snapshot.layers.push_back(std::move(layer));
  }
  label_layers(snapshot);
  if (parts.topology) link_layers(snapshot, *parts.topology);

  std::vector<Findings> said;
  for (const TargetParts& target : parts.targets) said.emplace_back(target);
  const auto total = static_cast<std::int64_t>(rows.size() * targets);
  bool go_on = true;
  for (std::size_t t = 0; t < targets; ++t) {
    const bool measured = t > 0 && !parts.targets[t].comparison && snapshot.targets[t].tensors &&
                          snapshot.targets.front().tensors;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t tensor = snapshot.tensor_place(i, t);
      const std::size_t left = snapshot.tensor_place(i, 0);
      const LayerDifference* difference = Findings::find(said[t].differences, rows[i].output);
      LayerDifference own;
      if (measured && go_on && tensor != no_place && left != no_place) {
        own = difference_of(snapshot.targets.front(), left, snapshot.targets[t], tensor);
        difference = &own;
        if (progress && i % 8 == 0) go_on = progress(static_cast<std::int64_t>(t * rows.size() + i), total);
      }
      const LayerVerdict* const verdict = Findings::find(said[t].verdicts, rows[i].output);
      snapshot.results.set_findings(i, t, difference, verdict);
      if (verdict != nullptr && verdict->explanation)
        snapshot.explanations.emplace(t * rows.size() + i, *verdict->explanation);
      // In a stored comparison the left target's times are kept with each right target's.
      if (difference != nullptr && difference->left_ns > 0 && snapshot.cell(i, 0).time_ns() == 0)
        snapshot.results.set_times(i, 0, {difference->left_ns, 0});
    }
    snapshot.results.compact(t);
    find_firsts(snapshot, t);
    if (renamed[t] > 0)
      snapshot.notes.push_back(fmt::format("{}: {} layer{} with other names, matched by position and shape",
                                           snapshot.targets[t].target, renamed[t],
                                           renamed[t] == 1 ? "" : "s"));
  }
  // The left target's layers have their times from the others.
  for (std::size_t t = 0; t < targets; ++t) add_layer_times(snapshot, t);
  snapshot.headline = snapshot_headline(snapshot);
  return snapshot;
}

TargetParts parts_of(TargetResult result) {
  TargetParts target;
  target.target = result.target;
  target.notes = target_notes(result);
  if (result.verification && result.verification->answer)
    target.notes.push_back(answer_move_text(*result.verification->answer));
  if (result.trace && !result.trace->tensors.empty())
    target.tensors = RecordedTensors::of(*std::move(result.trace));
  else if (result.trace)
    target.about = *std::move(result.trace);
  target.about.target = std::move(result.target);
  if (result.verification) target.about.model_sha256 = result.verification->model_sha256;
  target.verification = std::move(result.verification);
  target.comparison = std::move(result.comparison);
  target.dataset = std::move(result.dataset);
  target.stored_time = std::move(result.stored_time);
  if (result.error) target.error = result.error->message;
  return target;
}

SnapshotParts description_of(const ComparisonView& view) {
  SnapshotParts parts;
  parts.title = view.model_name;
  parts.model_sha256 = view.model_sha256;
  parts.input_text = view.input_text;
  parts.input_label = view.input_label;
  parts.dataset_text = view.dataset_text;
  parts.class_names = view.class_names;
  parts.notes = view.notes;
  return parts;
}

SnapshotParts parts_of(ComparisonView view, const Graph& graph) {
  SnapshotParts parts = description_of(view);
  parts.topology = topology_of(graph);
  parts.targets.push_back(parts_of(std::move(view.left)));
  for (TargetResult& right : view.right) parts.targets.push_back(parts_of(std::move(right)));
  return parts;
}

bool is_folded(const Snapshot& snapshot, std::size_t layer) {
  if (!snapshot.layers[layer].constant) return false;
  return !is_bad(worst_verdict(snapshot, layer));
}

Verdict worst_verdict(const Snapshot& snapshot, std::size_t layer) {
  Verdict worst = Verdict::missing;
  for (std::size_t t = 0; t < snapshot.targets.size(); ++t)
    worst = worse_of(worst, snapshot.cell(layer, t).verdict);
  return worst;
}

}  // namespace driftscope::gui
