#include "core/verify/element_judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "core/base/float_bits.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/tensor_values.hpp"

namespace driftscope {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t grain = 1 << 14;

constexpr BudgetUse wrong_special{infinity, infinity, true};

double share(double error, double budget) {
  if (error == 0.0) return 0.0;
  return budget > 0.0 ? error / budget : infinity;
}

// From here on the result is infinite: rounded to nearest, half a step beyond the largest number.
double overflow_threshold(const ErrorModel& model) {
  const double half_step = model.rounds_to_nearest
                               ? power_of_two_below(model.largest) * model.ulp / 2
                               : 0.0;
  return model.largest + half_step;
}

BudgetUse judge_infinite(const Bounded& reference, double got, const ErrorModel& model) {
  const double threshold = overflow_threshold(model);
  const double towards = got > 0.0 ? reference.value : -reference.value;
  if (!(towards + reference.worst >= threshold)) return wrong_special;
  const double missing = std::fmax(0.0, threshold - towards);
  return {share(missing, reference.worst), share(missing, reference.likely), false};
}

// Which of two elements is to be shown: the larger use, the earlier on a tie.
void keep_larger(TensorUse& kept, const TensorUse& other) {
  const bool first = kept.worst_element < 0 ||
                     (other.worst_element >= 0 && other.use.worst == kept.use.worst &&
                      other.worst_element < kept.worst_element);
  if (other.worst_element >= 0 && (first || other.use.worst > kept.use.worst))
    kept.worst_element = other.worst_element;
  kept.use.worst = std::fmax(kept.use.worst, other.use.worst);
  kept.use.likely = std::fmax(kept.use.likely, other.use.likely);
  kept.use.special = kept.use.special || other.use.special;
  kept.specials += other.specials;
}

}  // namespace

BudgetUse judge_element(const Bounded& reference, double got, double want_rounded,
                        const ErrorModel& model) {
  if (!(reference.worst < infinity)) return {};
  if (!model.keeps_specials && !std::isfinite(reference.value)) return {};
  if (std::isnan(reference.value) || std::isnan(got))
    return std::isnan(reference.value) && std::isnan(got) ? BudgetUse{} : wrong_special;
  if (std::isinf(reference.value)) return got == reference.value ? BudgetUse{} : wrong_special;
  if (std::isinf(got)) return judge_infinite(reference, got, model);
  const double error = std::fabs(got - reference.value);
  BudgetUse use{share(error, reference.worst), share(error, reference.likely), false};
  // The correctly rounded result is right by definition.
  if (got == want_rounded) use = {std::fmin(use.worst, 1.0), std::fmin(use.likely, 1.0), false};
  if (reference.worst == 0.0 && got == want_rounded) use = {};
  return use;
}

TensorUse judge_tensor(std::span<const Bounded> reference, const Tensor& got, const Tensor& want,
                       const ErrorModel& model, ThreadPool& threads) {
  TensorUse all;
  std::mutex mutex;
  with_float_values(got, want, [&](const auto& got_at, const auto& want_at) {
    threads.parallel_for(
        static_cast<std::int64_t>(reference.size()), grain,
        [&](std::int64_t begin, std::int64_t end) {
          TensorUse part;
          for (std::int64_t i = begin; i < end; ++i) {
            const auto at = static_cast<std::size_t>(i);
            TensorUse one{judge_element(reference[at], got_at(at), want_at(at), model), i, 0};
            one.specials = one.use.special ? 1 : 0;
            keep_larger(part, one);
          }
          const std::lock_guard lock(mutex);
          keep_larger(all, part);
        });
  });
  return all;
}

}  // namespace driftscope
