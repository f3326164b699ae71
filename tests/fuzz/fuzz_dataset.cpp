// Any bytes as a data set, an .npy file, a preprocessing description or a data set's name; the first
// byte says which.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/dataset/cifar10.hpp"
#include "core/dataset/dataset.hpp"
#include "core/dataset/idx.hpp"
#include "core/dataset/npy.hpp"

namespace {

using namespace driftscope;

/// What is read can be written, and is the same again.
void npy(std::span<const std::byte> bytes) {
  const auto tensor = read_npy(bytes);
  if (!tensor.ok()) return;
  const auto written = write_npy(*tensor);
  if (!written.ok()) std::abort();
  const auto again = read_npy(*written);
  if (!again.ok() || again->shape() != tensor->shape() || again->dtype() != tensor->dtype() ||
      !std::ranges::equal(again->bytes(), tensor->bytes()))
    std::abort();
}

/// The bytes as a description and as the images of the data set that it describes.
void dataset(std::span<const std::byte> bytes, std::string_view text) {
  auto how = parse_preprocess(text);
  const auto images = [&](const std::string&) -> Result<std::vector<std::byte>> {
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  Preprocess digits;
  digits.input = "x";
  digits.channels = 1;
  digits.height = digits.width = 2;
  digits.mean = {0};
  digits.std = {1};
  DatasetSpec spec;
  spec.format = "idx";
  spec.images = "x";
  const auto set = Dataset::open(spec, how.ok() ? *std::move(how) : digits, images);
  if (set.ok() && !set->sample(set->size() - 1).ok()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  switch (data[0] % 5) {
    case 0: (void)read_idx(bytes); break;
    case 1: (void)read_cifar10(bytes); break;
    case 2: npy(bytes); break;
    case 3: dataset(bytes, text); break;
    case 4: (void)parse_dataset_spec(text); break;
    default: break;
  }
  return 0;
}
