// Any bytes as a .tflite file or a TensorFlow.js model.json (its weights are the bytes behind the first 0):
// read, made ONNX, written, read again, shapes inferred.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/convert/read_model.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/model/onnx_writer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace driftscope;
  const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data),
                                     reinterpret_cast<const std::byte*>(data) + size);
  const auto is_text = !bytes.empty() && bytes[0] == std::byte{'{'};
  const auto end = is_text ? std::ranges::find(bytes, std::byte{0}) : bytes.end();
  const auto files = [&](const std::string&) -> Result<std::vector<std::byte>> {
    return std::vector<std::byte>(end == bytes.end() ? end : end + 1, bytes.end());
  };
  const auto model = convert::read_foreign_model(
      std::span(bytes.data(), static_cast<std::size_t>(end - bytes.begin())), files);
  if (!model.ok() || !*model) return 0;
  const auto written = write_onnx((*model)->model);
  if (!written.ok()) return 0;
  // What the writer writes the reader reads.
  const auto again = read_onnx(*written);
  if (!again.ok()) std::abort();
  auto graph = build_graph(*again);
  if (graph.ok()) (void)infer_shapes(*std::move(graph));
  return 0;
}
