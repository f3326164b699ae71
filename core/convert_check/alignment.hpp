// Which value of an original is which of a converted model: by a map that the user gives, by name, by
// structure (the same operators in the same order, with shapes that fit) and by what both computed from the
// same input. Clients: the check, the command line (writes the map). It judges nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/convert_check/layout.hpp"
#include "core/convert_check/side.hpp"

namespace driftscope::convert {

/// How a pair was found.
enum class FoundBy { given, name, structure, values };
[[nodiscard]] std::string_view found_by_name(FoundBy by);

struct ValuePair {
  std::string a;
  std::string b;
  Order order;  ///< axis i of b is axis order[i] of a
  FoundBy by = FoundBy::name;
  bool operator==(const ValuePair&) const = default;
};

/// What the user fixes: pairs, and values that have no partner (the other name is empty).
struct ValueMap {
  std::vector<ValuePair> pairs;
};

struct Alignment {
  std::vector<ValuePair> pairs;  ///< in a's order
  std::vector<std::string> only_a;
  std::vector<std::string> only_b;
};

/// Errors: the map names a value that was not recorded, or twice, or one whose shape does not fit.
[[nodiscard]] Result<Alignment> align(const Side& a, const Side& b, const ValueMap& given);

/// Without pairs that cannot be right: by name or structure, far apart, while all that `a` (or, where that is
/// a trace, `b`) computes from them next agrees with its own partner.
[[nodiscard]] Alignment without_contradictions(const Side& a, const Side& b, Alignment alignment);

/// With a BatchNormalization's value in place of that of the product before it where B has the
/// normalization in the product's weights: guessed pairs that are far apart, with other weights and no
/// normalization in B.
[[nodiscard]] Alignment with_folded_normalizations(const Side& a, const Side& b, Alignment alignment);

/// How far the sampled elements of b are from those of a: the root mean square of the differences, relative
/// to that of a; infinite for another kind of type. `order` becomes that of the orders with which they are
/// closest.
[[nodiscard]] double distance(const Tensor& a, const Tensor& b, Order& order);

/// JSON: {"format":"driftscope-map-1","values":[{"a","b","order","by"}]}; without a partner "a" or "b" is
/// null.
[[nodiscard]] Result<ValueMap> read_value_map(std::string_view json);
[[nodiscard]] std::string value_map_json(const Alignment& alignment);

}  // namespace driftscope::convert
