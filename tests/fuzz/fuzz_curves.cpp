// Any bytes as a file of training curves, of every format; what is read can be summarised, compared, drawn
// and written as CSV, and the CSV is read again as the same curves. The first byte says whether checksums
// of records are made right, so that what is behind them is reached.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/curves/crc32c.hpp"
#include "core/curves/curve_format.hpp"
#include "core/curves/curves_page.hpp"
#include "core/curves/curves_text.hpp"

namespace {

using namespace driftscope;

/// Records with right checksums, as far as their lengths lie inside.
void mend(std::vector<std::byte>& bytes) {
  for (std::size_t at = 0; bytes.size() - at >= 16;) {
    const std::uint64_t length =
        std::min<std::uint64_t>(static_cast<std::uint8_t>(bytes[at]), bytes.size() - at - 16);
    std::uint32_t crc = 0;
    std::memcpy(bytes.data() + at, &length, sizeof length);
    crc = masked_crc32c(std::span(bytes).subspan(at, 8));
    std::memcpy(bytes.data() + at + 8, &crc, sizeof crc);
    crc = masked_crc32c(std::span(bytes).subspan(at + 12, length));
    std::memcpy(bytes.data() + at + 12 + length, &crc, sizeof crc);
    at += 16 + length;
  }
}

void check(const CurveFile& file) {
  for (const Curve& curve : file.curves) {
    if (curve.steps.empty() || curve.steps.size() != curve.values.size()) std::abort();
    if (!std::ranges::is_sorted(curve.steps) || !std::isfinite(curve.steps.front())) std::abort();
  }
  // Twice: runs that are called alike are told apart.
  const auto set = make_curve_set({{"x", file}, {"y", file}});
  if (!set.ok() || (*set)->curves.size() != 2 * file.curves.size()) std::abort();
  for (const CurveGroup& group : (*set)->groups)
    for (const Curve* const curve : group.repetitions)
      if (curve->run != group.run) std::abort();
  (void)summary_table((*set)->document.curves);
  (void)comparison_table((*set)->document.comparisons);
  (void)curves_page("x", **set);
  const std::string csv = curves_csv(file.curves);
  const auto again = read_curves({"x", "x", std::as_bytes(std::span(csv))});
  if (!again.ok() || again->curves.size() != file.curves.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::vector<std::byte> bytes(size - 1);
  if (size > 1) std::memcpy(bytes.data(), data + 1, size - 1);
  if (data[0] % 2 == 1) mend(bytes);
  const auto file = read_curves({"x", "x", bytes});
  if (file.ok()) check(*file);
  return 0;
}
