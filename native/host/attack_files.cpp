#include "native/host/attack_files.hpp"

#include <fstream>

#include "core/dataset/npy.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

constexpr std::size_t looked_at = 256;  // the format is the first member

std::filesystem::path json_of(const std::filesystem::path& path) {
  std::error_code no_matter;
  return std::filesystem::is_directory(path, no_matter) ? path / attack_file : path;
}

}  // namespace

bool is_attack(const std::filesystem::path& path) {
  std::ifstream file(json_of(path), std::ios::binary);
  std::string start(looked_at, ' ');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start.find("driftscope-attack-1") != std::string::npos;
}

Result<AttackResults> read_attack(const std::filesystem::path& path) {
  const std::filesystem::path file = json_of(path);
  DRIFTSCOPE_TRY(const auto json, read_file(file));
  const auto array = [&](const std::string& name) -> Result<std::optional<Tensor>> {
    const std::filesystem::path beside = file.parent_path() / name;
    std::error_code no_matter;
    if (!std::filesystem::is_regular_file(beside, no_matter)) return std::optional<Tensor>();
    DRIFTSCOPE_TRY(const auto bytes, read_file(beside));
    auto tensor = read_npy(bytes);
    if (!tensor.ok()) return in_context(std::move(tensor).error(), beside.string());
    return std::optional(*std::move(tensor));
  };
  auto results = read_attack_results({reinterpret_cast<const char*>(json.data()), json.size()}, array);
  if (!results.ok()) return in_context(std::move(results).error(), file.string());
  return results;
}

}  // namespace driftscope
