#include "native/host/beside_model.hpp"

#include <system_error>

namespace driftscope {

std::filesystem::path beside_model(const std::filesystem::path& model, const std::filesystem::path& name) {
  auto beside = model.parent_path() / name;
  std::error_code error;
  if (std::filesystem::is_regular_file(beside, error)) return beside;
  const auto folder = std::filesystem::absolute(model, error).parent_path();
  const auto above = folder.parent_path() / name;
  return folder.filename() == "onnx" && std::filesystem::is_regular_file(above, error) ? above : beside;
}

}  // namespace driftscope
