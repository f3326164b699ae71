#include "native/http/pc_runs.hpp"

#include "core/base/json.hpp"
#include "core/protocol/error_json.hpp"

namespace driftscope {
namespace {

std::vector<std::byte> error_response(const std::string& message) {
  return pack_message(json_text(nlohmann::json{{"error", error_to_json(bad_input(message))}}), {});
}

}  // namespace

std::string PcRuns::refusal(const std::string& run, std::span<const std::byte> message) {
  const nlohmann::json head = parse_json(unpack_message(message).json);
  if (!head.is_object()) return "expected a message of the service";
  const std::string verb = text_at(head, "do");
  if (verb != "load" && verb != "start" && verb != "poll" && verb != "finish")
    return "a page may load, start, poll and finish a run on this PC, nothing else";
  if (const std::string target = text_at(head, "target"); !target.empty() && !target.starts_with("pc/"))
    return "this PC runs targets of the host pc only";
  const bool silent = std::chrono::steady_clock::now() - heard_ > longest_silence;
  if (service_ && run != run_ && !silent)
    return "another page's run is under way on this PC: wait until it has ended";
  if (verb != "load" && (!service_ || run != run_))
    return "this run is not under way on this PC: it begins with load";
  return {};
}

std::vector<std::byte> PcRuns::exchange(const std::string& run, std::span<const std::byte> message) {
  const std::lock_guard lock(mutex_);
  if (const std::string reason = refusal(run, message); !reason.empty()) return error_response(reason);
  const std::string verb = text_at(parse_json(unpack_message(message).json), "do");
  if (verb == "load") {
    service_ = std::make_unique<Service>();
    run_ = run;
  }
  std::vector<std::byte> response = service_->request(message);
  heard_ = std::chrono::steady_clock::now();
  const bool failed = parse_json(unpack_message(response).json).contains("error");
  if (verb == "finish" || failed) service_.reset();  // and with it the model's memory
  return response;
}

}  // namespace driftscope
