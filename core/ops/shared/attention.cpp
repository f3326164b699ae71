#include "core/ops/shared/attention.hpp"

#include <algorithm>

#include "core/eval/float_kernels.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t max_scores = std::int64_t{1} << 23;  // at once

// Some queries of the heads that share keys and values.
struct RowsOfQueries {
  std::int64_t batch = 0, first_head = 0;
  std::int64_t begin = 0, end = 0;           // row = head · queries + query
  std::int64_t first_key = 0, last_key = 0;  // that any of them looks at

  [[nodiscard]] std::int64_t count() const { return end - begin; }
  [[nodiscard]] std::int64_t keys() const { return last_key - first_key; }
};

class FastAttention {
 public:
  FastAttention(const KernelThreads& threads, const FloatKernels& kernels, const AttentionSizes& sizes,
                const AttentionRules<float>& rules, float scale)
      : threads_(threads), kernels_(kernels), sizes_(sizes), rules_(rules), scale_(scale) {}

  void run(std::span<const float> q, std::span<const float> k, std::span<const float> v,
           std::span<float> out) {
    const std::int64_t shared = sizes_.heads / sizes_.kv_heads;
    const std::int64_t rows = shared * sizes_.queries;
    const std::int64_t at_once =
        std::max<std::int64_t>(1, max_scores / std::max<std::int64_t>(1, sizes_.keys));
    for (std::int64_t pair = 0; pair < sizes_.batch * sizes_.kv_heads; ++pair)
      for (std::int64_t row = 0; row < rows; row += at_once) {
        RowsOfQueries it{.batch = pair / sizes_.kv_heads,
                         .first_head = pair % sizes_.kv_heads * shared,
                         .begin = row,
                         .end = std::min(rows, row + at_once)};
        find_keys(it);
        const float* const keys = k.data() + (pair * sizes_.keys + it.first_key) * sizes_.head_size;
        const float* const values = v.data() + (pair * sizes_.keys + it.first_key) * sizes_.value_size;
        attend(it, q.data() + (pair * rows + row) * sizes_.head_size, keys, values, out.data());
      }
  }

 private:
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range(const RowsOfQueries& it, std::int64_t row) const {
    const auto [first, last] =
        rules_.range ? rules_.range(it.batch, row % sizes_.queries) : std::pair(std::int64_t{0}, sizes_.keys);
    return {std::min(first, last), last};
  }

  void find_keys(RowsOfQueries& it) const {
    it.first_key = sizes_.keys;
    for (std::int64_t row = it.begin; row < it.end; ++row) {
      const auto [first, last] = range(it, row);
      if (first == last) continue;
      it.first_key = std::min(it.first_key, first);
      it.last_key = std::max(it.last_key, last);
    }
    it.first_key = std::min(it.first_key, it.last_key);
  }

  void attend(const RowsOfQueries& it, const float* q, const float* keys, const float* values, float* out) {
    const std::int64_t count = it.keys();
    scores_.resize(static_cast<std::size_t>(it.count() * count));
    sums_.resize(static_cast<std::size_t>(it.count() * sizes_.value_size));
    kernels_.multiply({q, it.count(), sizes_.head_size, sizes_.head_size},
                      {keys, sizes_.head_size, count, 1, sizes_.head_size}, scores_.data());
    constexpr std::int64_t scores_per_task = 4096;
    threads_.parallel_for(it.count(),
                          std::max<std::int64_t>(1, scores_per_task / std::max<std::int64_t>(1, count)),
                          [&](std::int64_t begin, std::int64_t end) {
                            std::vector<float> lane;
                            for (std::int64_t row = begin; row < end; ++row)
                              weigh(it, it.begin + row, scores_.data() + row * count, lane);
                          });
    kernels_.multiply({scores_.data(), it.count(), count, count},
                      {values, count, sizes_.value_size, sizes_.value_size}, sums_.data());
    for (std::int64_t row = it.begin; row < it.end; ++row) {
      const std::int64_t head = it.first_head + row / sizes_.queries;
      const std::int64_t place = (it.batch * sizes_.queries + row % sizes_.queries) * sizes_.heads + head;
      std::copy_n(sums_.data() + (row - it.begin) * sizes_.value_size, sizes_.value_size,
                  out + place * sizes_.value_size);
    }
  }

  // The products of a row become weights; 0 for keys that are left out.
  void weigh(const RowsOfQueries& it, std::int64_t row, float* scores, std::vector<float>& lane) const {
    const auto [first, last] = range(it, row);
    if (first == last) {
      std::fill_n(scores, it.keys(), 0.0f);
      return;
    }
    const std::int64_t head = it.first_head + row / sizes_.queries;
    const auto place = [&](std::int64_t key) {
      return ScorePlace{it.batch, head, row % sizes_.queries, key};
    };
    float* const own = scores + (first - it.first_key);
    const auto size = static_cast<std::size_t>(last - first);
    kernels_.mul(own, scale_, own, size);
    if (rules_.softcap != 0.0f) kernels_.softcap(own, rules_.softcap, own, size);
    if (!rules_.left_out) {
      if (rules_.bias)
        for (std::int64_t t = first; t < last; ++t) own[t - first] = own[t - first] + rules_.bias(place(t));
      softmax(own, size, head);
    } else {
      lane.clear();
      for (std::int64_t t = first; t < last; ++t)
        if (!rules_.left_out(place(t)))
          lane.push_back(rules_.bias ? own[t - first] + rules_.bias(place(t)) : own[t - first]);
      if (!lane.empty()) softmax(lane.data(), lane.size(), head);
      auto next = lane.begin();
      for (std::int64_t t = first; t < last; ++t) own[t - first] = rules_.left_out(place(t)) ? 0.0f : *next++;
    }
    std::fill(scores, own, 0.0f);
    std::fill(own + size, scores + it.keys(), 0.0f);
  }

  void softmax(float* lane, std::size_t size, std::int64_t head) const {
    float largest = kernels_.largest(lane, size);
    const float sink = rules_.sink ? rules_.sink(head) : 0.0f;
    if (rules_.sink) largest = math::max(largest, sink);
    kernels_.exp(lane, largest, lane, size);
    float sum = kernels_.sum(lane, size);
    if (rules_.sink) sum = sum + math::exp(sink - largest);
    kernels_.div(lane, sum, lane, size);
  }

  const KernelThreads& threads_;
  const FloatKernels& kernels_;
  const AttentionSizes& sizes_;
  const AttentionRules<float>& rules_;
  float scale_;
  std::vector<float> scores_;
  std::vector<float> sums_;
};

}  // namespace

bool attend_with_float_kernels(const KernelThreads& context, const AttentionSizes& sizes,
                               const AttentionRules<float>& rules, float scale, std::span<const float> q,
                               std::span<const float> k, std::span<const float> v, std::span<float> out) {
  // The weight 0 of a key that is left out times an infinite value would be NaN.
  const auto is_finite = [](float x) { return std::isfinite(x); };
  const FloatKernels* const kernels = current_float_kernels();
  if (kernels == nullptr || !rules.kept.empty() || sizes.head_size == 0 || !std::ranges::all_of(v, is_finite))
    return false;
  FastAttention(context, *kernels, sizes, rules, scale).run(q, k, v, out);
  return true;
}

}  // namespace driftscope
