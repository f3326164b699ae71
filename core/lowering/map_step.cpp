#include "core/lowering/map_step.hpp"

namespace driftscope::lowering {
namespace {

class MapStep final : public Step {
 public:
  MapStep(BufferId from, BufferId to, HostMap map) : from_(from), to_(to), map_(std::move(map)) {}

  Status bind(const Memory& /*memory*/) override { return {}; }

  Status run(Memory& memory) override {
    DRIFTSCOPE_TRY(const Tensor source, memory.tensor(from_));
    DRIFTSCOPE_TRY(Tensor made, map_(source));
    memory.put(to_, std::move(made));
    return {};
  }

 private:
  BufferId from_;
  BufferId to_;
  HostMap map_;
};

}  // namespace

std::unique_ptr<Step> make_map_step(BufferId from, BufferId to, HostMap map) {
  return std::make_unique<MapStep>(from, to, std::move(map));
}

}  // namespace driftscope::lowering
