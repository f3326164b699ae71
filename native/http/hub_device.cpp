#include "native/http/hub_device.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/base/format.hpp"
#include "core/base/text.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t here_ms = 5000;  // its page says so every second

std::string_view phase_text(messages::Phase phase) {
  switch (phase) {
    case messages::Phase::open: return "when the page had opened";
    case messages::Phase::load: return "while the model was loaded";
    case messages::Phase::compile: return "while the engine prepared";
    case messages::Phase::run: return "in the run";
    case messages::Phase::time: return "while times or memory were measured";
    case messages::Phase::send: break;
  }
  return "while the trace was sent";
}

std::string ago(std::int64_t milliseconds) {
  const std::int64_t seconds = milliseconds / 1000;
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h", seconds / 3600);
}

}  // namespace

std::string fact_of(const messages::HubDevice& device, const char* key) {
  const auto& about = device.about;
  if (!about.is_object()) return {};
  const auto found = about.find(key);
  if (found == about.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string browser_of(const messages::HubDevice& device) {
  const std::string browser = fact_of(device, "browser");
  return browser.empty() ? "unknown browser" : browser;
}

std::string hardware_of(const messages::HubDevice& device) {
  std::vector<std::string> parts;
  for (const char* key : {"model", "platform"})
    if (std::string text = fact_of(device, key); !text.empty()) parts.push_back(std::move(text));
  if (const std::string cores = fact_of(device, "cores"); !cores.empty())
    parts.push_back(cores + " processors");
  if (const std::string memory = fact_of(device, "device_memory_gb"); !memory.empty())
    parts.push_back(memory + " GB");
  return parts.empty() ? "unknown" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string adapter_of(const messages::HubDevice& device) {
  constexpr std::size_t width = 60;
  if (const std::string adapter = fact_of(device, "adapter"); !adapter.empty())
    return elide(adapter, width) + " (WebGPU)";
  const std::string renderer = fact_of(device, "renderer");
  return renderer.empty() ? "none" : elide(renderer, width) + " (WebGL2)";
}

bool is_here(const messages::HubDevice& device) { return device.silent_ms < here_ms; }

std::string state_of(const messages::HubDevice& device) {
  constexpr std::int64_t day_ms = 24LL * 3600 * 1000;
  if (device.silent_ms > 30 * day_ms) return "not seen since the hub started";
  if (!is_here(device)) return "silent for " + ago(device.silent_ms);
  if (device.job) return "running";
  return device.visible ? "ready" : "ready, page hidden";
}

std::string lost_text(const messages::LostJob& lost) {
  std::string text(phase_text(lost.phase));
  if (lost.samples > 1) text += fmt::format(", in run {} of {}", lost.sample + 1, lost.samples);
  if (lost.total > 0) text += fmt::format(", after {} of {} layers", lost.done, lost.total);
  if (lost.memory_bytes) text += fmt::format("; its page had taken {} MiB", *lost.memory_bytes >> 20);
  if (lost.hidden) text += "; its page was hidden";
  return text;
}

}  // namespace driftscope
