#include "core/gui/graph_layout.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace driftscope::gui {
namespace {

constexpr float node_pitch = 1.25f;  // for adjacent nodes
constexpr float bend_pitch = 0.35f;  // for an edge that passes through a rank
constexpr int sweeps = 6;

/// A slot in a rank: a node, or the bend of an edge that passes through.
struct Slot {
  std::uint32_t rank = 0;
  bool bend = false;
  float x = 0.0f;
  std::vector<std::uint32_t> above;
  std::vector<std::uint32_t> below;
};

class Layouter {
 public:
  explicit Layouter(std::span<const std::vector<std::uint32_t>> inputs) : inputs_(inputs) {}

  GraphLayout run() {
    make_slots();
    order_at_first();
    for (int sweep = 0; sweep < sweeps; ++sweep) order_by_neighbours(sweep % 2 == 0);
    place_at_first();
    for (int sweep = 0; sweep < sweeps; ++sweep) place_by_neighbours(sweep % 2 == 0);
    return result();
  }

 private:
  struct Chain {
    std::uint32_t from, to, first_bend, bends;
  };

  void make_slots() {
    const auto count = static_cast<std::uint32_t>(inputs_.size());
    slots_.resize(count);
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      for (const std::uint32_t input : inputs_[i])
        if (input < i) slots_[i].rank = std::max(slots_[i].rank, slots_[input].rank + 1);
      last = std::max(last, slots_[i].rank);
    }
    // An edge that passes too many ranks to bend in each is straight: the work stays bounded.
    const std::size_t max_slots = 4 * inputs_.size() + 1000;
    for (std::uint32_t i = 0; i < count; ++i)
      for (const std::uint32_t input : inputs_[i]) {
        if (input >= i) continue;
        const std::uint32_t between = slots_[i].rank - slots_[input].rank - 1;
        Chain chain{input, i, static_cast<std::uint32_t>(slots_.size()), 0};
        if (slots_.size() + between <= max_slots) {
          chain.bends = between;
          for (std::uint32_t b = 0; b < between; ++b) {
            slots_.emplace_back();
            slots_.back().rank = slots_[input].rank + 1 + b;
            slots_.back().bend = true;
          }
        }
        link(chain);
        chains_.push_back(chain);
      }
    ranks_.resize(inputs_.empty() ? 0 : last + 1);
  }

  void link(const Chain& chain) {
    if (chain.bends == 0 && slots_[chain.to].rank != slots_[chain.from].rank + 1) return;
    std::uint32_t above = chain.from;
    for (std::uint32_t b = 0; b <= chain.bends; ++b) {
      const std::uint32_t below = b == chain.bends ? chain.to : chain.first_bend + b;
      slots_[above].below.push_back(below);
      slots_[below].above.push_back(above);
      above = below;
    }
  }

  void order_at_first() {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) ranks_[slots_[i].rank].push_back(i);
    renumber();
  }

  void renumber() {
    for (const auto& rank : ranks_)
      for (std::size_t i = 0; i < rank.size(); ++i) slots_[rank[i]].x = static_cast<float>(i);
  }

  /// Mean position of the neighbours on one side; its own without any.
  [[nodiscard]] float wanted(const Slot& slot, bool down) const {
    const auto& neighbours = down ? slot.above : slot.below;
    if (neighbours.empty()) return slot.x;
    float sum = 0.0f;
    for (const std::uint32_t i : neighbours) sum += slots_[i].x;
    return sum / static_cast<float>(neighbours.size());
  }

  void order_by_neighbours(bool down) {
    std::vector<float> keys(slots_.size());
    for (std::size_t step = 0; step < ranks_.size(); ++step) {
      auto& rank = ranks_[down ? step : ranks_.size() - 1 - step];
      for (const std::uint32_t i : rank) keys[i] = wanted(slots_[i], down);
      std::sort(rank.begin(), rank.end(), [&](std::uint32_t a, std::uint32_t b) {
        if (keys[a] != keys[b]) return keys[a] < keys[b];
        return slots_[a].x != slots_[b].x ? slots_[a].x < slots_[b].x : a < b;
      });
      for (std::size_t i = 0; i < rank.size(); ++i) slots_[rank[i]].x = static_cast<float>(i);
    }
  }

  [[nodiscard]] float gap(std::uint32_t a, std::uint32_t b) const {
    const float half_a = slots_[a].bend ? bend_pitch / 2.0f : node_pitch / 2.0f;
    const float half_b = slots_[b].bend ? bend_pitch / 2.0f : node_pitch / 2.0f;
    return half_a + half_b;
  }

  void place_at_first() {
    for (const auto& rank : ranks_) {
      float x = 0.0f;
      for (std::size_t i = 0; i < rank.size(); ++i) {
        if (i > 0) x += gap(rank[i - 1], rank[i]);
        slots_[rank[i]].x = x;
      }
      for (const std::uint32_t i : rank) slots_[i].x -= x / 2.0f;
    }
  }

  /// Moves each rank as near to its neighbours as order and gaps allow: pushes nodes apart to the right,
  /// then moves the whole rank back by the mean shift.
  void place_by_neighbours(bool down) {
    std::vector<float> want;
    for (std::size_t step = 0; step < ranks_.size(); ++step) {
      const auto& rank = ranks_[down ? step : ranks_.size() - 1 - step];
      want.clear();
      for (const std::uint32_t i : rank) want.push_back(wanted(slots_[i], down));
      double shift = 0.0;
      for (std::size_t i = 0; i < rank.size(); ++i) {
        float x = want[i];
        if (i > 0) x = std::max(x, slots_[rank[i - 1]].x + gap(rank[i - 1], rank[i]));
        shift += static_cast<double>(x - want[i]);
        slots_[rank[i]].x = x;
      }
      if (rank.empty()) continue;
      const auto back = static_cast<float>(shift / static_cast<double>(rank.size()));
      for (const std::uint32_t i : rank) slots_[i].x -= back;
    }
  }

  GraphLayout result() {
    GraphLayout layout;
    float low = 0.0f;
    float high = 0.0f;
    for (const Slot& slot : slots_) {
      low = std::min(low, slot.x);
      high = std::max(high, slot.x);
    }
    const auto point = [&](const Slot& slot) {
      return Point{slot.x - low + node_pitch / 2.0f, static_cast<float>(slot.rank) + 0.5f};
    };
    layout.width = high - low + node_pitch;
    layout.height = static_cast<float>(ranks_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) layout.nodes.push_back(point(slots_[i]));
    for (const Chain& chain : chains_) {
      GraphEdge edge{chain.from, chain.to, {}};
      for (std::uint32_t b = 0; b < chain.bends; ++b) edge.by.push_back(point(slots_[chain.first_bend + b]));
      layout.edges.push_back(std::move(edge));
    }
    layout.ranks.resize(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      for (const std::uint32_t i : ranks_[rank])
        if (!slots_[i].bend) layout.ranks[rank].push_back(i);
    return layout;
  }

  std::span<const std::vector<std::uint32_t>> inputs_;
  std::vector<Slot> slots_;  // the nodes, then the bends
  std::vector<Chain> chains_;
  std::vector<std::vector<std::uint32_t>> ranks_;
};

}  // namespace

GraphLayout layout_graph(std::span<const std::vector<std::uint32_t>> inputs) {
  return Layouter(inputs).run();
}

}  // namespace driftscope::gui
