#include "native/bench/build_id.hpp"

#include "core/base/sha256.hpp"
#include "generated/build_id.hpp"
#include "native/os/files.hpp"

namespace driftscope {

std::string build_id(const std::filesystem::path& program) {
  const auto file = MappedFile::open(program);
  if (!file.ok()) return DRIFTSCOPE_BUILD;
  return std::string(DRIFTSCOPE_BUILD) + "." + sha256_hex(file->bytes()).substr(0, 8);
}

}  // namespace driftscope
