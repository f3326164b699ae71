// Any bytes as an .onnx file: read at once and from a source, build, print, infer shapes. What libFuzzer
// looks for are crashes, sanitizer reports, hangs and allocations beyond its limit.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "core/base/byte_source.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/graph/print.hpp"
#include "core/model/model_outline.hpp"
#include "core/model/onnx_reader.hpp"
#include "fuzz/support/model_mutator.hpp"

namespace {

bool names_its_own_bytes(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.find(driftscope::own_bytes_location) != std::string_view::npos;
}

}  // namespace

DRIFTSCOPE_FUZZ_MODELS

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace driftscope;
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)read_tensor_proto(bytes);
  const auto model = read_onnx(bytes);
  const auto outlined = read_onnx(source_of(bytes));
  // Only with a source may a model refer to its own bytes as external data.
  if (model.ok() ? !outlined.ok() || outlined->sha256 != model->sha256
                 : outlined.ok() && !names_its_own_bytes(bytes))
    std::abort();
  if (!model.ok()) return 0;
  auto graph = build_graph(*model);
  if (!graph.ok()) return 0;
  if (print_graph(*graph).empty()) std::abort();
  (void)infer_shapes(*std::move(graph));
  return 0;
}
