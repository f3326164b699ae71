// Inputs for a model with which engines may differ, guided by what they make it do: an input that brings some
// layer to magnitudes, zeros or values without a number that none before did is a parent of later ones. After
// Odena et al. 2019, "TensorFuzz", with numerical states in place of activations. A state machine: the client
// runs the model. Clients: native/host/hunt_cases, tests.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rng.hpp"
#include "core/model/model.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/trace/trace.hpp"

namespace driftscope::hunt {

struct SearchedInput {
  NamedInputs tensors;
  std::string text;  ///< "block of beyond_float16 in x"
};

/// What values were: by value and state, in a stable order.
using NumericStates = std::set<std::pair<std::string, int>>;

/// Of every floating value: binary orders of its largest and smallest magnitude, in steps of four; whether
/// it has zeros, subnormals, infinities, NaN; which place is the largest of a row of scores.
[[nodiscard]] NumericStates states_of(const Trace& trace);

class InputSearch {
 public:
  /// `first` suits the model; floating inputs are changed, whole numbers change places within a tensor.
  InputSearch(NamedInputs first, std::uint64_t seed);

  /// The next one. The first is `first` itself.
  [[nodiscard]] SearchedInput next();
  /// What the model did with it.
  void take(const SearchedInput& input, const NumericStates& states);

  [[nodiscard]] std::size_t parents() const { return parents_.size(); }
  [[nodiscard]] std::size_t covered() const { return covered_.size(); }

 private:
  [[nodiscard]] std::string change(NamedInputs& tensors);

  Rng rng_;
  std::vector<NamedInputs> parents_;
  NumericStates covered_;
  std::int64_t made_ = 0;
};

}  // namespace driftscope::hunt
