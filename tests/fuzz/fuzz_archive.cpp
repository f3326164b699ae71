// Any bytes as a zip file, and as a kept comparison: what is accepted can be read whole.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/archive/archive_reader.hpp"
#include "core/kept/kept_comparison.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace driftscope;
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto archive = ArchiveReader::open(bytes); archive.ok()) {
    for (const auto& [name, member] : archive->members()) {
      const auto read = archive->read(name, 1 << 20);
      if (read.ok() && read->size() != member.size) std::abort();
    }
  }
  if (const auto kept = KeptComparison::open(bytes); kept.ok()) (void)kept->whole_view();
  return 0;
}
