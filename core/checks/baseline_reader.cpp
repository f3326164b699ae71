// read_baseline: the file comes from a repository, so it may have been edited by hand.
#include <fmt/format.h>

#include <cmath>

#include "core/base/json_lists.hpp"
#include "core/base/text.hpp"
#include "core/checks/baseline.hpp"
#include "generated/documents/baseline.hpp"

namespace driftscope {
namespace {

constexpr std::size_t largest_file = std::size_t{16} << 20;
constexpr std::string_view family = "driftscope-baseline-";
constexpr std::string_view current = "driftscope-baseline-1";

Status check_format(const nlohmann::ordered_json& object) {
  std::string format;
  JsonFields fields(object, JsonPath());
  fields.required("format", format);
  DRIFTSCOPE_CHECK(std::move(fields).status());
  if (format != current && format.starts_with(family))
    return unsupported(
        fmt::format("format is {}; this build reads {}: use a newer Driftscope, or save "
                    "the baseline again",
                    in_quotes(format), current));
  if (format != current)
    return bad_input(fmt::format("format: expected {}, got {}", current, in_quotes(format)));
  return {};
}

/// What the types of the fields do not say.
Status check_target(const JsonPath& path, const BaselineTarget& target) {
  for (const KnownLayer& layer : target.known)
    if (concern_of(layer.verdict) == Concern::none)
      return JsonPath(path, "known")
          .error(fmt::format("expected layers whose verdict is unjudged, suspect or fault, got {}",
                             verdict_name(layer.verdict)));
  for (const double median : target.medians_ns)
    if (!std::isfinite(median) || !(median > 0.0))
      return JsonPath(path, "medians_ns").error(fmt::format("expected positive numbers, got {}", median));
  return {};
}

Result<Baseline> baseline_from(std::span<const std::byte> bytes) {
  if (bytes.size() > largest_file)
    return limit_error(fmt::format("{} bytes, the limit is {}", bytes.size(), largest_file));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto document = parse_document(text);
  if (!document.ok()) return bad_input(document.error().message + "; truncated, or edited by hand?");
  DRIFTSCOPE_CHECK(check_format(*document));
  const JsonPath root;
  Baseline baseline;
  DRIFTSCOPE_CHECK(read_json(*document, root, baseline));
  const JsonPath targets(root, "targets");
  for (std::size_t i = 0; i < baseline.targets.size(); ++i) {
    const BaselineTarget& target = baseline.targets[i];
    DRIFTSCOPE_CHECK(check_target(JsonPath(targets, i), target));
    if (baseline.find(target.target) != &target)
      return targets.error(in_quotes(target.target) + " occurs twice");
  }
  if (baseline.targets.empty()) return targets.error("the list is empty, there is nothing to check against");
  return baseline;
}

}  // namespace

Result<Baseline> read_baseline(std::span<const std::byte> bytes) {
  auto baseline = baseline_from(bytes);
  if (!baseline.ok()) return in_context(std::move(baseline).error(), "baseline");
  return baseline;
}

}  // namespace driftscope
