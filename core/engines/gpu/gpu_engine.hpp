// What engines on a GPU have in common: they open the device, plan the whole graph for it, and let strict run
// what they have no shaders for. Clients: the engine.cpp of each GPU engine.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/engines/gpu/lowering.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope::gpu {

/// Something that is measured on a device before a graph is planned for it.
class Probe {
 public:
  virtual ~Probe() = default;
  /// Whether it is known now; it does not block.
  [[nodiscard]] virtual Result<bool> known() = 0;
};

class GpuEngine : public Engine {
 public:
  [[nodiscard]] Availability available() const final { return device_available(api_); }
  [[nodiscard]] Availability supports(const Graph& graph, const Node& node) const final;

 protected:
  /// `language`: of its shaders, for the trace.
  GpuEngine(Api api, const char* language) : api_(api), language_(language) {}

  /// `producers`: of each value of the graph that was given.
  [[nodiscard]] virtual Result<lowering::Plan> plan(Graph& graph, const std::vector<NodeId>& producers,
                                                    const EngineOptions& options,
                                                    lowering::Fallback& fallback, Device& device) const = 0;

  /// Null where nothing has to be measured.
  [[nodiscard]] virtual std::unique_ptr<Probe> probe(const EngineOptions& /*options*/,
                                                     Device& /*device*/) const {
    return nullptr;
  }
  /// How kernels were chosen for the device, for the trace.
  [[nodiscard]] virtual std::map<std::string, std::string> choices(const EngineOptions& /*options*/,
                                                                   const Device& /*device*/) const {
    return {};
  }

  [[nodiscard]] Result<std::unique_ptr<Session>> make_session(std::shared_ptr<const Graph> graph,
                                                              const EngineOptions& options) const final;

  /// The value of an option, or its default.
  [[nodiscard]] static std::string option(const EngineOptions& options, const char* name,
                                          const char* by_default);
  /// Options that every engine on a GPU has.
  [[nodiscard]] static EngineOption times_option();
  [[nodiscard]] static EngineOption timeout_option();
  [[nodiscard]] static EngineOption calls_option();

 private:
  Api api_;
  const char* language_;
};

}  // namespace driftscope::gpu
