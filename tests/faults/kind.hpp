// Planted faults: mistakes of a runtime in one layer of a small network, one line each.
// families/FOO.cpp defines faults::foo::add_to(FaultTable&); the table is generated from the folder
// (cmake/registry.cmake). Clients: families, judge, main.
//
// A kind makes a network from a seed and says how its target node goes wrong. Everything before it is right;
// later nodes are computed from the faulty value, as a runtime would record them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/rng.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::faults {

using Tensors = std::vector<Tensor>;

/// The target node with its inputs.
struct NodeRun {
  Node node;
  Tensors inputs;  ///< in the order of node.reads()
};

/// A wrong implementation's results for the node's outputs.
using Fault = std::function<Result<Tensors>(const NodeRun& run)>;

struct Network {
  Graph graph;
  std::vector<NamedTensor> inputs;
  NodeId target = no_node;
};

using MakeNetwork = std::function<Network(Rng& rng)>;

struct FaultKind {
  std::string family;
  std::string name;  ///< "Conv: last channel not added"
  MakeNetwork network;
  Fault fault;
  std::vector<Fault>
      alternatives;  ///< further correct variants in addition to strict and double, which add to the spread
};

class FaultTable {
 public:
  void add(std::string family, std::string name, MakeNetwork network, Fault fault,
           std::vector<Fault> alternatives = {}) {
    kinds_.push_back(
        {std::move(family), std::move(name), std::move(network), std::move(fault), std::move(alternatives)});
  }
  [[nodiscard]] const std::vector<FaultKind>& kinds() const { return kinds_; }

 private:
  std::vector<FaultKind> kinds_;
};

/// The correct result, by the strict kernels.
[[nodiscard]] Result<Tensors> run_strict(const NodeRun& run);
/// Also correct, in another way: in double, rounded at the end.
[[nodiscard]] Result<Tensors> run_in_double(const NodeRun& run);

}  // namespace driftscope::faults

namespace driftscope {
[[nodiscard]] const faults::FaultTable& fault_table();
/// Correct implementations of other kinds than strict: here a "fault" is a correct variant.
[[nodiscard]] const faults::FaultTable& alibi_table();
}  // namespace driftscope
