// Runs one node with the strict engine in every width and with several thread counts, and compares
// each result with the scalar kernel's, bit by bit. Clients: the tests of the strict kernels.
#pragma once

#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "core/base/float_bits.hpp"
#include "core/base/rng.hpp"
#include "core/engines/strict/session.hpp"
#include "core/eval/evaluate.hpp"
#include "core/eval/infer_shapes.hpp"

namespace driftscope::test {

/// One node and its inputs. The first `variable` inputs are inputs of the graph, the others
/// constants.
struct NodeCase {
  std::string op_type;
  std::vector<Attribute> attributes = {};
  std::vector<std::optional<Tensor>> inputs = {};  ///< nothing: omitted
  std::size_t variable = 1;
  std::int64_t opset = 21;
  std::size_t outputs = 1;
  std::string domain = "";
  std::vector<std::size_t> omitted = {};  ///< of the outputs
};

/// The text of a case, for messages: "Conv(1x3x8x8, 4x3x3x3) pads=[1,1,1,1]".
[[nodiscard]] std::string describe(const NodeCase& node_case);

/// Nothing if the node is invalid (by its shape rule).
[[nodiscard]] std::optional<Graph> single_node_graph(const NodeCase& node_case);

struct SameBits {
  bool valid = false;  ///< the node is valid and was run
  bool fast = false;   ///< a fast kernel took it
};

/// Checks every width of this machine with 1, 2 and 4 threads, each twice with one session; of
/// half of all cases also the same with float16 or bfloat16 in place of float32.
SameBits check_same_bits(const NodeCase& node_case);

/// The values in a random tensor.
enum class Values {
  normal,   ///< about standard normal
  special,  ///< one in eight is 0, −0, infinite, NaN, subnormal, huge or tiny
  finite,   ///< as special, without infinity and NaN
};
[[nodiscard]] Tensor random_tensor(Rng& rng, Shape shape, Values values);

}  // namespace driftscope::test
