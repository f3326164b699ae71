#include "core/gui/layer_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "core/base/text.hpp"
#include "core/gui/recorded_tensors.hpp"

namespace driftscope::gui {
namespace {

using Rows = std::vector<MatchedLayer>;

Rows rows_of_model(const Topology& topology, std::span<const std::vector<RunLayer>> runs) {
  std::unordered_set<std::string_view> mentioned;
  for (const auto& run : runs)
    for (const RunLayer& layer : run) mentioned.insert(layer.output);
  Rows rows;
  for (const TopologyNode& node : topology.nodes)
    for (const std::string& output : node.outputs)
      if (mentioned.contains(output)) rows.push_back({output, node.name, node.op, node.constant, {}, {}});
  return rows;
}

Rows rows_of_run(const std::vector<RunLayer>& run) {
  Rows rows;
  for (const RunLayer& layer : run)
    rows.push_back({layer.output, layer.node, layer.op, layer.constant, {}, {}});
  return rows;
}

/// Shape and dtype of a row, from the first run that recorded it.
const RunLayer* recorded_in(const MatchedLayer& row, std::span<const std::vector<RunLayer>> runs,
                            std::size_t before) {
  for (std::size_t run = 0; run < before; ++run)
    if (row.places[run] != no_place && runs[run][row.places[run]].tensor_place != no_place)
      return &runs[run][row.places[run]];
  return nullptr;
}

/// Rows in [row_begin, row_end) and layers in [layer_begin, layer_end) have no partner by name: those with
/// the same shape and dtype are paired, in order.
void match_gap(Rows& rows, std::span<const std::vector<RunLayer>> runs, std::size_t run,
               std::size_t row_begin, std::size_t row_end, std::size_t layer_begin, std::size_t layer_end) {
  const auto& layers = runs[run];
  std::size_t next = layer_begin;
  for (std::size_t row = row_begin; row < row_end && next < layer_end; ++row) {
    const RunLayer* known = recorded_in(rows[row], runs, run);
    if (known == nullptr) continue;
    for (std::size_t i = next; i < layer_end; ++i) {
      if (layers[i].tensor_place == no_place || layers[i].dtype != known->dtype ||
          layers[i].shape != known->shape)
        continue;
      rows[row].places[run] = i;
      rows[row].notes[run] =
          "matched by position and shape: called " + in_quotes(layers[i].output) + " there";
      next = i + 1;
      break;
    }
  }
}

/// Pairs by name first; layers between two pairs are matched by position.
void match_run(Rows& rows, std::span<const std::vector<RunLayer>> runs, std::size_t run) {
  std::unordered_map<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < runs[run].size(); ++i) by_name.emplace(runs[run][i].output, i);
  for (MatchedLayer& row : rows) {
    const auto found = by_name.find(row.output);
    row.places.push_back(found == by_name.end() ? no_place : found->second);
    row.notes.emplace_back();
  }
  std::size_t row_begin = 0;
  std::size_t layer_begin = 0;
  for (std::size_t row = 0; row <= rows.size(); ++row) {
    const bool end = row == rows.size();
    const std::size_t place = end ? runs[run].size() : rows[row].places[run];
    // A run may have another order than the model: such a pair does not bound a gap.
    if (place == no_place || place < layer_begin) continue;
    match_gap(rows, runs, run, row_begin, row, layer_begin, place);
    row_begin = row + 1;
    layer_begin = place + 1;
  }
}

/// Adds layers of a run that have no row, each after the row of the layer before it. `inside_alone`: only
/// those inside other layers, such as the iterations of a loop.
Rows with_extras(Rows rows, const std::vector<RunLayer>& layers, std::size_t run, bool inside_alone) {
  std::vector<std::size_t> row_of(layers.size(), no_place);
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (rows[row].places[run] != no_place) row_of[rows[row].places[run]] = row;
  if (std::find(row_of.begin(), row_of.end(), no_place) == row_of.end()) return rows;
  std::vector<std::vector<std::size_t>> behind(rows.size() + 1);  // [0]: before the first row
  std::size_t last = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (row_of[i] != no_place) {
      last = row_of[i] + 1;
    } else if (layers[i].inside || !inside_alone) {
      behind[last].push_back(i);
    }
  }
  Rows all;
  const auto add = [&](std::size_t position) {
    for (const std::size_t i : behind[position]) {
      MatchedLayer row{layers[i].output, layers[i].node, layers[i].op, layers[i].constant, {}, {}};
      row.places.assign(run + 1, no_place);
      row.notes.resize(run + 1);
      row.places[run] = i;
      all.push_back(std::move(row));
    }
  };
  add(0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    all.push_back(std::move(rows[row]));
    add(row + 1);
  }
  return all;
}

std::vector<RunLayer> layers_from(const Trace& about, const RecordedTensors* tensors) {
  std::vector<RunLayer> layers;
  const auto add_tensor = [&](RunLayer& layer, std::size_t place) {
    layer.tensor_place = place;
    layer.dtype = (*tensors)[place].dtype;
    layer.shape = (*tensors)[place].shape;
  };
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < about.nodes.size(); ++i)
    for (const std::string& output : about.nodes[i].outputs) {
      if (output.empty() || !seen.insert(output).second) continue;
      RunLayer layer;
      layer.output = output;
      layer.node = about.nodes[i].name;
      layer.op = about.nodes[i].op;
      layer.constant = about.nodes[i].constant;
      layer.inside = !about.nodes[i].inside.empty();
      layer.node_place = i;
      if (tensors != nullptr)
        if (const auto place = tensors->find(output)) add_tensor(layer, *place);
      layers.push_back(std::move(layer));
    }
  if (about.nodes.empty() && tensors != nullptr)
    for (std::size_t i = 0; i < tensors->size(); ++i) {
      RunLayer layer;
      layer.output = (*tensors)[i].name;
      add_tensor(layer, i);
      layers.push_back(std::move(layer));
    }
  return layers;
}

}  // namespace

std::vector<RunLayer> layers_of(const RecordedTensors& run) { return layers_from(run.about(), &run); }
std::vector<RunLayer> layers_of(const Trace& about) { return layers_from(about, nullptr); }

std::vector<MatchedLayer> match_layers(std::span<const std::vector<RunLayer>> runs,
                                       const Topology* topology) {
  Rows rows;
  if (topology != nullptr) {
    rows = rows_of_model(*topology, runs);
  } else if (!runs.empty()) {
    rows = rows_of_run(runs.front());
  }
  for (std::size_t run = 0; run < runs.size(); ++run) {
    match_run(rows, runs, run);
    // If the model is available, names that it lacks are inputs or constants, unless no name fits.
    const bool foreign = std::none_of(rows.begin(), rows.end(),
                                      [&](const MatchedLayer& row) { return row.places[run] != no_place; });
    const bool inside_alone = topology != nullptr && !foreign;
    rows = with_extras(std::move(rows), runs[run], run, inside_alone);
  }
  return rows;
}

}  // namespace driftscope::gui
