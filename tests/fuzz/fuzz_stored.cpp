// Any bytes as the JSON of `compare` and `verify`, shown, or as a baseline, written again; the first byte
// says which.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/checks/baseline.hpp"
#include "core/gui/snapshot.hpp"
#include "core/gui/stored_targets.hpp"

namespace {

using namespace driftscope;

void comparison(std::string_view json) {
  auto targets = gui::read_stored_targets(json);
  if (!targets.ok()) return;
  for (const gui::TargetParts& target : *targets)
    if (target.dataset && target.dataset->correct > target.dataset->samples) std::abort();
  gui::SnapshotParts parts;
  parts.targets = *std::move(targets);
  const gui::Snapshot snapshot = gui::make_snapshot(std::move(parts));
  if (snapshot.results.layers() != snapshot.layers.size() ||
      snapshot.results.targets() != snapshot.targets.size())
    std::abort();
  (void)snapshot.headline;
}

/// What was read is what is written.
void baseline(std::span<const std::byte> bytes) {
  const auto read = read_baseline(bytes);
  if (!read.ok()) return;
  const std::string text = baseline_json(*read);
  const auto again = read_baseline(std::as_bytes(std::span(text)));
  if (!again.ok() || baseline_json(*again) != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  if (data[0] % 2 == 0)
    comparison({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  else
    baseline(bytes);
  return 0;
}
