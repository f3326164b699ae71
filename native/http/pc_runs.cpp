#include "native/http/pc_runs.hpp"

#include "core/base/json.hpp"
#include "core/protocol/error_json.hpp"

namespace driftscope {
namespace {

std::vector<std::byte> error_response(const std::string& message) {
  return pack_message(json_text(nlohmann::json{{"error", error_to_json(bad_input(message))}}), {});
}

bool is_elsewhere(std::string_view target) { return target.starts_with("remote:"); }

}  // namespace

// A run stays where it was loaded.
std::string PcRuns::refused_target(const std::string& verb, const std::string& target) const {
  const bool remote = is_elsewhere(target);
  if (!target.empty() && !target.starts_with("pc/") && !(remote && begin_elsewhere_))
    return begin_elsewhere_ ? "this PC runs targets of the host pc and of the devices of its hub only"
                            : "this PC runs targets of the host pc only";
  if (verb == "start" && remote != (elsewhere_ != nullptr))
    return "the model was loaded for another host: load it for this target";
  return {};
}

std::string PcRuns::refusal(const std::string& run, std::span<const std::byte> message) const {
  const nlohmann::json head = parse_json(unpack_message(message).json);
  if (!head.is_object()) return "expected a message of the service";
  const std::string verb = text_at(head, "do");
  if (verb != "load" && verb != "start" && verb != "poll" && verb != "finish" && verb != "cancel")
    return "a page may load, start, poll, finish and cancel a run on this PC, nothing else";
  const bool silent = std::chrono::steady_clock::now() - heard_ > longest_silence;
  if (under_way() && run != run_ && !silent)
    return "another page's run is under way on this PC: wait until it has ended";
  if (verb != "load" && (!under_way() || run != run_))
    return "this run is not under way on this PC: it begins with load";
  return refused_target(verb, text_at(head, "target"));
}

void PcRuns::end() {
  service_.reset();
  elsewhere_.reset();
}

std::vector<std::byte> PcRuns::exchange(const std::string& run, std::span<const std::byte> message) {
  const std::lock_guard lock(mutex_);
  if (const std::string reason = refusal(run, message); !reason.empty()) return error_response(reason);
  const nlohmann::json head = parse_json(unpack_message(message).json);
  const std::string verb = text_at(head, "do");
  if (verb == "cancel") {
    end();
    return pack_message("{}", {});
  }
  if (verb == "load") {
    end();
    if (is_elsewhere(text_at(head, "target")))
      elsewhere_ = begin_elsewhere_();
    else
      service_ = std::make_unique<Service>();
    run_ = run;
  }
  std::vector<std::byte> response = elsewhere_ ? elsewhere_->request(message) : service_->request(message);
  heard_ = std::chrono::steady_clock::now();
  const bool failed = parse_json(unpack_message(response).json).contains("error");
  if (verb == "finish" || failed) end();
  return response;
}

}  // namespace driftscope
