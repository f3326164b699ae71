// Small runs for the tests of the GUI.
#pragma once

#include <doctest/doctest.h>

#include "core/gui/snapshot.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test {

struct LayerSpec {
  std::string node;
  std::string op;
  std::string output;
  std::vector<float> values;
  std::int64_t ns = 1000;
};

inline Trace trace_of(const std::string& target, const std::vector<LayerSpec>& layers) {
  Trace trace;
  trace.target = target;
  for (const LayerSpec& layer : layers) {
    trace.nodes.push_back({layer.node, layer.op, {layer.output}, {2 * layer.ns, layer.ns, layer.ns}});
    trace.tensors.push_back(
        {layer.output, tensor<float>({1, static_cast<std::int64_t>(layer.values.size())}, layer.values)});
  }
  return trace;
}

inline gui::TargetParts run_of(const std::string& target, const std::vector<LayerSpec>& layers) {
  gui::TargetParts parts;
  parts.target = target;
  parts.tensors = gui::RecordedTensors::of(trace_of(target, layers));
  return parts;
}

inline gui::Snapshot snapshot_of(std::vector<gui::TargetParts> targets) {
  gui::SnapshotParts parts;
  parts.title = "test.onnx";
  parts.targets = std::move(targets);
  return gui::make_snapshot(std::move(parts));
}

}  // namespace driftscope::test
