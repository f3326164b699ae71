// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/webgpu/tile_probe.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include "core/platform/platform.hpp"

namespace driftscope::webgpu {
namespace {

constexpr std::int64_t size = 1024;      // of the square matrices: at least 64 tiles of each kind
constexpr std::int64_t slow_size = 256;  // on a device that computes on the CPU
constexpr std::int64_t trial_ns = 4'000'000;
constexpr std::int64_t max_repeats = 16;
constexpr int rounds = 4;  // of all tiles, one after the other; the first says how long they take
constexpr double clearly_faster = 0.97;

struct Known {
  std::mutex mutex;
  std::map<std::string, const Tile*, std::less<>> by_adapter;
};
Known& known_tiles() {
  static Known known;
  return known;
}
std::string adapter(const gpu::DeviceFacts& facts) { return facts.name + "\n" + facts.driver; }

class TileProbe final : public gpu::Probe {
 public:
  explicit TileProbe(gpu::Device& device) : device_(device) {}
  TileProbe(const TileProbe&) = delete;
  TileProbe& operator=(const TileProbe&) = delete;
  ~TileProbe() override {
    if (recording_ != gpu::no_id) device_.release_recording(recording_);
    for (const gpu::ObjectId object : objects_) device_.release_object(object);
  }

  Result<bool> known() override {
    if (trials_.empty()) DRIFTSCOPE_CHECK(begin());
    DRIFTSCOPE_TRY(const bool compiled, device_.ready());
    if (!compiled) return false;
    for (; round_ < rounds; ++round_, next_ = 0)
      for (; next_ < trials_.size(); ++next_) {
        DRIFTSCOPE_TRY(const bool measured, measure(trials_[next_]));
        if (!measured) return false;
      }
    keep();
    return true;
  }

 private:
  struct Trial {
    const Tile* tile = nullptr;
    gpu::ProgramId program = gpu::no_id;
    std::array<std::uint32_t, 3> groups = {};
    std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
  };

  Status begin() {
    const gpu::DeviceFacts& facts = device_.facts();
    const std::int64_t n = facts.software ? slow_size : size;
    const std::vector<float> ones(static_cast<std::size_t>(n * n), 1.0f);
    for (int i = 0; i < 3; ++i) {
      DRIFTSCOPE_TRY(const gpu::ObjectId object,
                     device_.make_object({n * n * std::int64_t{sizeof(float)}, 1}, "a trial of tiles"));
      objects_.push_back(object);
      DRIFTSCOPE_CHECK(device_.write(object, std::as_bytes(std::span(ones)), std::ssize(ones) * 4));
    }
    const ProductShape shape{.m = n, .n = n, .k = n, .a_vectors = true, .b_packed = true};
    for (const Tile& tile : large_tiles) {
      if (tile.threads() > facts.max_workgroup_threads || tile.bytes() > facts.max_workgroup_bytes) continue;
      const ProductKernel kernel = tiled_kernel(shape, tile);
      gpu::ShaderValues values = product_values({}, shape, kernel);
      values["BIAS"] = values["ADDS"] = values["CLAMPED"] = 0;
      DRIFTSCOPE_TRY(const std::string code, gpu::shader_source(product_file(kernel.kind), values));
      std::array<std::uint32_t, 3> groups = {};
      std::ranges::transform(kernel.groups, groups.begin(),
                             [](std::int64_t count) { return static_cast<std::uint32_t>(count); });
      trials_.push_back({&tile, device_.make_program("a trial of tiles", code), groups});
    }
    return trials_.empty() ? limit_error("the GPU runs no kernel for products") : Status();
  }

  // Of the first round only an impression, which includes what happens once.
  Result<bool> measure(Trial& trial) {
    if (recording_ == gpu::no_id) {
      const std::int64_t fastest = std::ranges::min(trials_, {}, &Trial::best_ns).best_ns;
      repeats_ = round_ == 0 ? 1
                             : std::clamp<std::int64_t>(trial_ns / std::max<std::int64_t>(fastest, 1), 1,
                                                        max_repeats);
      std::vector<gpu::Command> commands(static_cast<std::size_t>(repeats_) + 1);
      for (gpu::Command& command : commands)
        command.dispatch = gpu::Dispatch{
            trial.program, {{objects_[0], false}, {objects_[1], false}, {objects_[2], true}}, trial.groups};
      commands.back() = {};
      commands.back().copy = {objects_[2], 16, 16, 0};
      commands.back().timed_as = 1;
      DRIFTSCOPE_TRY(recording_, device_.record(std::move(commands), true));
      begin_ns_ = monotonic_ns();
      DRIFTSCOPE_CHECK(device_.submit(recording_));
    }
    DRIFTSCOPE_TRY(const auto finished, device_.finished(recording_));
    if (!finished) return false;
    const std::int64_t took = finished->times_ns.empty() || finished->times_ns[0] <= 0
                                  ? monotonic_ns() - begin_ns_
                                  : finished->times_ns[0];
    if (round_ == 1) trial.best_ns = std::numeric_limits<std::int64_t>::max();
    trial.best_ns = std::min(trial.best_ns, took / repeats_);
    device_.release_recording(recording_);
    recording_ = gpu::no_id;
    return true;
  }

  void keep() {
    const Trial* best = &trials_.front();
    for (const Trial& trial : trials_)
      if (static_cast<double>(trial.best_ns) < clearly_faster * static_cast<double>(best->best_ns))
        best = &trial;
    const std::lock_guard lock(known_tiles().mutex);
    known_tiles().by_adapter[adapter(device_.facts())] = best->tile;
  }

  gpu::Device& device_;
  std::vector<gpu::ObjectId> objects_;  // A, B, Y
  std::vector<Trial> trials_;
  int round_ = 0;
  std::size_t next_ = 0;
  std::int64_t repeats_ = 1;
  std::int64_t begin_ns_ = 0;
  gpu::RecordingId recording_ = gpu::no_id;
};

}  // namespace

const Tile* measured_tile(const gpu::DeviceFacts& facts) {
  const std::lock_guard lock(known_tiles().mutex);
  const auto found = known_tiles().by_adapter.find(adapter(facts));
  return found == known_tiles().by_adapter.end() ? nullptr : found->second;
}

std::unique_ptr<gpu::Probe> make_tile_probe(gpu::Device& device) {
  return std::make_unique<TileProbe>(device);
}

}  // namespace driftscope::webgpu
