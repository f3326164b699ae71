#include "core/dataset/cifar10.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope {

Result<Cifar10> read_cifar10(std::span<const std::byte> bytes) {
  constexpr std::size_t pixels = 3 * 32 * 32;
  constexpr std::size_t record = 1 + pixels;
  constexpr int classes = 10;
  if (bytes.empty() || bytes.size() % record != 0)
    return bad_input(
        fmt::format("CIFAR-10 file: {} bytes are not a whole number of records of {} "
                    "bytes; it may be truncated, or not the binary version",
                    bytes.size(), record));
  const std::size_t count = bytes.size() / record;
  Cifar10 set;
  DRIFTSCOPE_TRY(set.images,
                 Tensor::make(DType::uint8, {static_cast<std::int64_t>(count), 3, 32, 32}, "CIFAR-10 file"));
  auto out = set.images.mutable_bytes();
  for (std::size_t i = 0; i < count; ++i) {
    const auto sample = bytes.subspan(i * record, record);
    const int label = std::to_integer<int>(sample[0]);
    if (label >= classes)
      return bad_input(fmt::format("CIFAR-10 file: sample {} has label {}, expected 0 to 9", i, label));
    set.labels.push_back(label);
    std::ranges::copy(sample.subspan(1), out.subspan(i * pixels).begin());
  }
  return set;
}

}  // namespace driftscope
