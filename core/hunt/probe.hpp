// One case of the hunt: a small model and its inputs, drawn from a seed. Clients: the hunt, tests. The same
// seed and number give the same bytes on every host.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/hunt/operator.hpp"

namespace driftscope::hunt {

struct Probe {
  Model model;
  std::vector<NamedTensor> inputs;
  std::string text;  ///< "Conv → Relu, of offset"
};

/// One to six nodes, mostly one; every value is an output, or, once in three times, only those that no node
/// reads, so that runtimes may fuse.
[[nodiscard]] Probe draw_probe(std::uint64_t seed, std::int64_t number);

/// Only of these operators' families, by name; empty: of all.
[[nodiscard]] Probe draw_probe(std::uint64_t seed, std::int64_t number,
                               std::span<const std::string> families);

}  // namespace driftscope::hunt
