#include "native/host/tokenizer_file.hpp"

#include <string_view>

#include "native/host/beside_model.hpp"
#include "native/os/files.hpp"

namespace driftscope {

std::filesystem::path tokenizer_of(const std::filesystem::path& model) {
  const auto path = beside_model(model, "tokenizer.json");
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? path : std::filesystem::path();
}

Result<Tokenizer> load_tokenizer(const std::filesystem::path& path) {
  DRIFTSCOPE_TRY(const auto bytes, read_file(path));
  auto tokenizer = Tokenizer::read({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!tokenizer.ok()) return in_context(std::move(tokenizer).error(), path.string());
  return tokenizer;
}

}  // namespace driftscope
