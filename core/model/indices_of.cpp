#include "core/model/indices_of.hpp"

namespace driftscope {

std::vector<std::int64_t> indices_of(const Tensor& tensor) {
  std::vector<std::int64_t> result;
  if (tensor.dtype() == DType::int64) {
    const auto values = tensor.values<std::int64_t>();
    result.assign(values.begin(), values.end());
  } else if (tensor.dtype() == DType::int32) {
    const auto values = tensor.values<std::int32_t>();
    result.assign(values.begin(), values.end());
  }
  return result;
}

}  // namespace driftscope
