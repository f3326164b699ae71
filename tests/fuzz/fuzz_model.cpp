// Any bytes as an .onnx file: read, build, print, infer shapes. What libFuzzer looks for are crashes,
// sanitizer reports, hangs and allocations beyond its limit; see CMakeLists.txt here.
#include <cstdint>
#include <cstdlib>

#include "core/graph/build.hpp"
#include "core/graph/print.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/ops/infer_shapes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace driftscope;
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)read_tensor_proto(bytes);
  const auto model = read_onnx(bytes);
  if (!model.ok()) return 0;
  auto graph = build_graph(*model);
  if (!graph.ok()) return 0;
  if (print_graph(*graph).empty()) std::abort();
  (void)infer_shapes(*std::move(graph));
  return 0;
}
