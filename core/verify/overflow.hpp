// Layers that make NaN or infinity of finite numbers, also where a later layer hides it (a softmax, a
// division, a Clip), and layers of float16 that come near its limit. Every layer may be right for its inputs:
// no verdict says it. Clients: verify, which finds them; headline, tables, report and checks, which say them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/verify/layer_verdict.hpp"

namespace driftscope {

class RecordedValues;

/// In the graph's order: layers whose outputs hold some while nothing that they read does, and those of
/// float16 of which an element is beyond a quarter of its largest number: another input may well be so much
/// larger.
[[nodiscard]] std::vector<LayerOverflow> layer_overflows(const Graph& graph, const RecordedValues& recorded,
                                                         std::span<const LayerVerdict> layers);

/// Whether the layer makes NaN or infinity, not only large numbers.
[[nodiscard]] inline bool overflows(const LayerOverflow& layer) { return layer.nan + layer.inf > 0; }

/// "2 of 8 elements of h are infinite, made of finite numbers at pow (Pow, float16), and later layers hide
/// it; 3 more layers do so" and "x comes to 60000 of 65504 at mul (float16)", with "; " between. Empty:
/// none.
[[nodiscard]] std::string overflow_text(const Verification& verification);

/// "overflow of float16 at pow is hidden" for the headline; empty: there is none. A Cast that overflows makes
/// a mask, as exporters write it, and does not count.
[[nodiscard]] std::string hidden_overflow(const Verification& verification);

}  // namespace driftscope
