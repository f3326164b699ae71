// What was chosen for inputs that nobody gave: sizes, values, the seed. Kept in the trace of a run.
// Clients: found inputs, the commands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace driftscope {

/// A size that the model leaves open.
struct ChosenSize {
  std::string symbol;  ///< its name in the model; empty: it has none
  std::string input;   ///< the first input that has it
  std::int64_t size = 0;
};

/// An input that is not simply random.
struct ChosenValues {
  std::string input;
  std::string are;  ///< "ones", "zeros", "ascending", "16000", "0 to 30521"
};

struct ChosenInputs {
  std::string text;  ///< as it is printed: "seed:42 (random), time=16000 (found)"
  std::string seed;  ///< in decimal
  std::vector<ChosenSize> sizes;
  std::vector<ChosenValues> values;
};

}  // namespace driftscope
