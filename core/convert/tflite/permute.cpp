#include "core/convert/tflite/permute.hpp"

#include <cstring>

namespace driftscope::tflite {

Result<Tensor> permuted(const Tensor& tensor, std::span<const std::size_t> order) {
  const std::size_t rank = tensor.shape().size();
  if (order.size() != rank) return internal_error("an order of axes has another rank than its tensor");
  std::vector<std::int64_t> source_strides(rank, 1);
  for (std::size_t i = rank; i-- > 1;) source_strides[i - 1] = source_strides[i] * tensor.shape()[i];
  Shape shape;
  std::vector<std::int64_t> strides;
  for (const std::size_t axis : order) {
    shape.push_back(tensor.shape()[axis]);
    strides.push_back(source_strides[axis]);
  }
  DRIFTSCOPE_TRY(Tensor result, Tensor::unwritten(tensor.dtype(), shape));
  if (result.elements() == 0) return result;
  const std::size_t width = tensor.byte_size() / static_cast<std::size_t>(tensor.elements());
  const std::byte* const from = tensor.bytes().data();
  std::byte* to = result.mutable_bytes().data();
  std::vector<std::int64_t> index(rank, 0);
  std::int64_t offset = 0;
  for (std::int64_t done = 0; done < result.elements(); ++done, to += width) {
    std::memcpy(to, from + static_cast<std::size_t>(offset) * width, width);
    for (std::size_t i = rank; i-- > 0;) {
      offset += strides[i];
      if (++index[i] < shape[i]) break;
      offset -= strides[i] * shape[i];
      index[i] = 0;
    }
  }
  return result;
}

}  // namespace driftscope::tflite
