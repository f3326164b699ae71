// Gradients beside central differences, both in double. Clients: tests of the rules.
#pragma once

#include <string>
#include <vector>

#include "unit/support/model_builder.hpp"

namespace driftscope::test {

/// One node, or a few, whose output is "y". Inputs are float64 unless given otherwise.
struct DifferentiatedNode {
  std::string op;
  std::vector<Shape> inputs;  ///< differentiated, named i0, i1, …; filled with random numbers
  std::vector<Attribute> attributes = {};
  std::vector<NamedTensor> constants = {};  ///< further inputs, as initializers, after the others
  std::int64_t opset = 17;
  double low = -1.0;  ///< of the random numbers
  double high = 1.0;
  std::vector<std::vector<double>> values = {};  ///< of the inputs, in place of random ones
  std::vector<std::string> names = {};  ///< the node's inputs in order, where that is not the usual one
  std::vector<std::string> outputs = {"y"};
  bool open_batch = false;  ///< axis 0 of input i0 is "N"
};

/// Compares the gradient of Σ weights·y (of every output that is named) with central differences; fails the
/// test where they differ by more than 1e-6 of the largest.
void check_gradient(const DifferentiatedNode& node, std::uint64_t seed);

}  // namespace driftscope::test
