#include "core/protocol/verify_trace.hpp"

#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/platform/platform.hpp"
#include "core/results/compare_json.hpp"
#include "core/trace/trace_file.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {

Result<nlohmann::json> judge_trace(const messages::Judge& request, std::span<const std::byte> payload,
                                   const LoadedModel& model) {
  const std::int64_t left_bytes = request.left_bytes;
  if (left_bytes > static_cast<std::int64_t>(payload.size()))
    return bad_input(
        fmt::format("request: \"left_bytes\" is {}, the payload has {}", left_bytes, payload.size()));
  const auto first = static_cast<std::size_t>(left_bytes);
  auto judged = read_trace(payload.subspan(first));
  if (!judged.ok()) return in_context(std::move(judged).error(), "the trace");
  ThreadPool threads(static_cast<int>(request.threads));
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
