// What the hunt's graphs are made of. A family of operators is a file in operators/: each FOO.cpp defines
// `void driftscope::hunt_operators::foo::add_to(OperatorTable&)`; the table is generated from the folder at
// configure time, never edited. Client: probe.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/hunt/draft.hpp"

namespace driftscope::hunt {

struct HuntOperator {
  int order = 50;
  std::string_view name;  ///< of the family
  int weight = 1;         ///< how often it is drawn, beside the others'
  /// Appends one or a few nodes with drawn sizes and attributes, rare ones as often as usual ones. False:
  /// what it drew is not valid; the caller drops the draft.
  bool (*append)(Draft& draft) = nullptr;
};

class OperatorTable {
 public:
  void add(const HuntOperator& one);
  /// In their order.
  [[nodiscard]] std::span<const HuntOperator> all() const { return operators_; }

 private:
  std::vector<HuntOperator> operators_;
};

/// All of this build (generated: build/generated/hunt_operator_registry.cpp).
[[nodiscard]] const OperatorTable& operator_table();

}  // namespace driftscope::hunt
