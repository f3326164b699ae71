#include "native/host/generation_file.hpp"

#include <fstream>

#include "native/os/files.hpp"

namespace driftscope {
namespace {

constexpr std::size_t generation_start = 256;  // the format is the first member

std::filesystem::path generation_json(const std::filesystem::path& path) {
  std::error_code no_matter;
  return std::filesystem::is_directory(path, no_matter) ? path / generation_file : path;
}

}  // namespace

bool is_generation(const std::filesystem::path& path) {
  std::ifstream file(generation_json(path), std::ios::binary);
  std::string start(generation_start, ' ');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start.find("driftscope-generate-") != std::string::npos;
}

Result<documents::Generate> load_generation(const std::filesystem::path& path) {
  const std::filesystem::path file = generation_json(path);
  DRIFTSCOPE_TRY(const auto json, read_file(file));
  auto results = read_generation({reinterpret_cast<const char*>(json.data()), json.size()});
  if (!results.ok()) return in_context(std::move(results).error(), file.string());
  return results;
}

}  // namespace driftscope
