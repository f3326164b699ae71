#include "core/protocol/verify_trace.hpp"

#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/platform/platform.hpp"
#include "core/protocol/fields.hpp"
#include "core/results/compare_json.hpp"
#include "core/trace/trace_file.hpp"

namespace driftscope {

Result<nlohmann::json> judge_trace(const nlohmann::json& request, std::span<const std::byte> payload,
                                   const LoadedModel& model) {
  DRIFTSCOPE_TRY(const auto asked, read_int(request, "left_bytes", 0, std::int64_t{1} << 40));
  const std::int64_t left_bytes = asked.value_or(0);
  if (left_bytes > static_cast<std::int64_t>(payload.size()))
    return bad_input(
        fmt::format("request: \"left_bytes\" is {}, the payload has {}", left_bytes, payload.size()));
  const auto first = static_cast<std::size_t>(left_bytes);
  auto judged = read_trace(payload.subspan(first));
  if (!judged.ok()) return in_context(std::move(judged).error(), "the trace");
  DRIFTSCOPE_TRY(const auto wanted, read_int(request, "threads", 1, 1024));
  ThreadPool threads(static_cast<int>(wanted.value_or(1)));
  ComparedTarget target;
  target.target = judged->target;
  const auto verification = verify(*model.graph, model.sha256, *judged, threads);
  if (verification.ok())
    target.verification = &*verification;
  else
    target.error = verification.error().message;
  if (left_bytes == 0) return parse_json(comparison_json(target, {}));
  auto left = read_trace(payload.first(first));
  if (!left.ok()) return in_context(std::move(left).error(), "the trace to compare with");
  const auto comparison = compare(*model.graph, *left, *judged);
  if (comparison.ok())
    target.comparison = &*comparison;
  else if (target.error.empty())
    target.error = comparison.error().message;
  ComparedTarget with;
  with.target = left->target;
  return parse_json(comparison_json(with, {&target, 1}));
}

}  // namespace driftscope
