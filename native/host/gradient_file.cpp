#include "native/host/gradient_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/onnx_writer.hpp"

namespace driftscope {

Result<ModelFile> gradient_file(const ModelFile& model, const GradientRequest& request) {
  const auto external = [&](const std::string& location, std::int64_t offset,
                            std::int64_t length) -> Result<ByteSource> {
    const auto found = std::ranges::find(model.attachments, location, &JobAttachment::location);
    if (found == model.attachments.end()) return bad_input(fmt::format("external data file {}", location));
    const auto begin = static_cast<std::uint64_t>(offset);
    return found->bytes.source().part(
        begin, length < 0 ? found->bytes.size() - begin : static_cast<std::uint64_t>(length));
  };
  DRIFTSCOPE_TRY(const Model read, read_onnx(model.bytes.bytes(), external));
  DRIFTSCOPE_TRY(const GradientModel gradient, make_gradient(read, request));
  DRIFTSCOPE_TRY(auto bytes, write_onnx(gradient.model));
  return load_model_bytes(model.path, "gradient of " + model.name, SharedBytes(std::move(bytes)), {});
}

}  // namespace driftscope
