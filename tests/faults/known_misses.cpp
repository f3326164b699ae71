#include "tests/faults/known_misses.hpp"

#include <map>

namespace driftscope::faults {

const std::string* known_miss(const std::string& kind) {
  const std::string half = "sums in the tensors' own type are allowed, and lose as much";
  static const std::map<std::string, std::string> known = {
      {"Conv, float16: inputs rounded to bfloat16", half},
      {"InstanceNormalization, float16: epsilon 100 times larger", half},
      {"GlobalAveragePool, float16: divided by n − 1", half},
      {"Gemm, bfloat16: beta ignored", half},
      {"BatchNormalization, float16: epsilon left out",
       "within what Newton's square root is allowed in float16"},
      {"InstanceNormalization 128×128, mean 4: divided by n − 1",
       "1 in 16,384 of the variance, where one pass loses as much"},
  };
  const auto found = known.find(kind);
  return found == known.end() ? nullptr : &found->second;
}

}  // namespace driftscope::faults
