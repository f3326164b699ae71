// Two traces of one model, layer beside layer. Clients: the command line, report, later the GUI.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/verify/answer.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

struct LayerDifference {
  std::size_t place = 0;  ///< among all outputs of the graph's nodes, in their order
  std::string node;
  std::string op;
  std::string output;
  Shape shape;
  bool constant = false;  ///< of constant_nodes: the same in every run
  Metrics metrics;        ///< right against left
  double kl = 0.0;
  std::int64_t left_ns = 0;  ///< median over repetitions without the first; 0 when unknown
  std::int64_t right_ns = 0;
  bool recorded = true;  ///< on both sides; fused execution lacks some values
  std::string reason;    ///< why it could not be compared; empty when it was
};

struct Comparison {
  std::string target;                           ///< of the right trace
  std::optional<std::string> first_divergence;  ///< first node with a differing bit; recorded on both sides
  std::vector<LayerDifference> layers;          ///< recorded on at least one side, in topological order
  OutputAgreement output;
  std::int64_t peak_bytes = 0;  ///< of the right trace
  std::string peak_kind;
};

/// `after_layer` is called when the values of a layer have been read: whoever keeps them in a file may give
/// their memory back. Errors: nothing in common to compare; different models.
[[nodiscard]] Result<Comparison> compare(const Graph& graph, const Trace& left, const Trace& right,
                                         const std::function<void()>& after_layer = {});

/// Median of a node's times in the later half of the runs, never in the first when there are more; 0 when
/// there are none.
[[nodiscard]] std::int64_t steady_time_ns(const NodeRecord& node);
[[nodiscard]] std::int64_t steady_time_ns(std::span<const std::int64_t> runs);

}  // namespace driftscope
