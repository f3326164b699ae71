#include "core/verify/verify_tensor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/platform/platform.hpp"
#include "core/verify/metrics_parts.hpp"
#include "core/verify/tensor_values.hpp"

namespace driftscope {
namespace {

using metrics_parts::part_elements;

// Which of two elements to report: the larger use, the earlier on a tie. `later` has the higher index.
void keep_larger(TensorUse& kept, const TensorUse& later) {
  if (later.worst_element >= 0 && (kept.worst_element < 0 || later.use.worst > kept.use.worst))
    kept.worst_element = later.worst_element;
  kept.use.worst = std::max(kept.use.worst, later.use.worst);
  kept.use.likely = std::max(kept.use.likely, later.use.likely);
  kept.finite_use = kept.use.worst;
}

// NaN and infinity are kept apart, so that they do not hide the use of finite elements.
struct Specials {
  std::int64_t count = 0;
  std::int64_t first = -1;

  void add(const Specials& later) {
    if (first < 0) first = later.first;
    count += later.count;
  }
};

void add_specials(TensorUse& use, const Specials& specials) {
  if (specials.count == 0) return;
  use.specials = specials.count;
  use.worst_element = specials.first;
  use.use = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), true};
}

struct VerifiedPart {
  TensorUse verified;
  Specials specials;
  metrics_parts::Part metrics;
  BiasPart samples;
};

// The first element of `reference` and `got` is number `first` of the tensor.
template <class Kind>
class PartVerifier {
 public:
  using Stored = typename Kind::Stored;

  PartVerifier(const ErrorModel& model, std::int64_t first, VerifiedPart& result)
      : model_(model), first_(first), result_(result) {}

  /// `places` are for the whole tensor, and outlive this.
  void ask(const BiasPlaces& places, std::size_t elements) {
    places_ = &places;
    next_ = places.first_from(first_);
    const auto end = places.first_from(first_ + static_cast<std::int64_t>(elements));
    const auto each = static_cast<std::size_t>(end - next_) / bias_groups;
    for (auto& group : result_.samples) group.reserve(each + each / 4 + 1);
  }

  void verify(std::span<const Bounded> reference, std::span<const Stored> got) {
    for (std::size_t i = 0; i < reference.size(); i += block) {
      const std::size_t count = std::min(block, reference.size() - i);
      const auto bounds = reference.subspan(i, count);
      for (std::size_t k = 0; k < count; ++k) want_[k] = Kind::nearest(bounds[k].value);
      result_.metrics.template measure<Kind>(got.subspan(i, count), std::span(want_).first(count));
      const std::int64_t first = first_ + static_cast<std::int64_t>(i);
      verify_block(bounds, got.subspan(i, count), first);
      if (places_ != nullptr) sample_block(bounds, got.subspan(i, count), first);
    }
  }

 private:
  static constexpr std::size_t block = 512;

  // Most elements use less of both budgets than an earlier one, which can be tested without a division. NaN
  // and infinity fail every comparison, and so are examined.
  void verify_block(std::span<const Bounded> reference, std::span<const Stored> got, std::int64_t first) {
    constexpr double below = 1.0 - 0x1p-40;  // more than the roundings of both sides
    TensorUse& kept = result_.verified;
    double worst = kept.use.worst * below;
    double likely = kept.use.likely * below;
    for (std::size_t k = 0; k < reference.size(); ++k) {
      const Bounded& want = reference[k];
      const double g = Kind::value(got[k]);
      const double error = std::fabs(g - want.value);
      const bool less = error < worst * want.worst && error < likely * want.likely;
      if (less || (error == 0.0 && kept.worst_element >= 0)) continue;
      const std::int64_t at = first + static_cast<std::int64_t>(k);
      const BudgetUse use = verify_element(want, g, Kind::value(want_[k]), model_);
      if (use.special) {
        result_.specials.add({1, at});
        continue;
      }
      keep_larger(kept, TensorUse{use, at, 0, 0.0});
      worst = kept.use.worst * below;
      likely = kept.use.likely * below;
    }
  }

  void sample_block(std::span<const Bounded> reference, std::span<const Stored> got, std::int64_t first) {
    for (; next_ < places_->count(); ++next_) {
      const std::int64_t place = (*places_)[next_];
      const auto at = static_cast<std::size_t>(place - first);
      if (at >= reference.size()) return;
      add_bias_sample(result_.samples, place, reference[at], static_cast<float>(Kind::value(got[at])));
    }
  }

  const ErrorModel& model_;
  std::int64_t first_;
  VerifiedPart& result_;
  const BiasPlaces* places_ = nullptr;
  std::int64_t next_ = 0;
  std::array<Stored, block> want_;
};

template <class Kind>
TensorVerification verify_as(std::span<const Bounded> reference, const Tensor& got, const ErrorModel& model,
                             ThreadPool& threads, bool with_samples) {
  const BiasPlaces places(got.elements());
  const auto values = got.values<typename Kind::Stored>();
  std::vector<VerifiedPart> parts((reference.size() + part_elements - 1) / part_elements);
  threads.parallel_for(static_cast<std::int64_t>(parts.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const std::size_t first = i * part_elements;
      const std::size_t count = std::min(part_elements, reference.size() - first);
      PartVerifier<Kind> verifier(model, static_cast<std::int64_t>(first), parts[i]);
      if (with_samples) verifier.ask(places, count);
      verifier.verify(reference.subspan(first, count), values.subspan(first, count));
    }
  });
  TensorVerification all;
  metrics_parts::Part metrics;
  Specials specials;
  for (VerifiedPart& part : parts) {
    keep_larger(all.verified, part.verified);
    specials.add(part.specials);
    metrics.add(part.metrics);
    if (with_samples) all.samples.push_back(std::move(part.samples));
  }
  add_specials(all.verified, specials);
  all.metrics = metrics_of(metrics, got.elements());
  return all;
}

}  // namespace

TensorVerification verify_tensor(std::span<const Bounded> reference, const Tensor& got,
                                 const ErrorModel& model, ThreadPool& threads, bool with_samples) {
  TensorVerification result;
  metrics_parts::with_floating_kind(got.dtype(), [&]<class Kind>() {
    result = verify_as<Kind>(reference, got, model, threads, with_samples);
  });
  return result;
}

std::vector<std::int64_t> coordinates_of(std::int64_t element, const Shape& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return index;
}

WorstElement worst_element(std::span<const Bounded> reference, std::int64_t element, const Tensor& got) {
  const auto at = static_cast<std::size_t>(element);
  WorstElement worst;
  worst.index = coordinates_of(element, got.shape());
  worst.want = reference[at].value;
  worst.budget = reference[at].worst;
  with_float_values(got, [&](const auto& got_at) { worst.got = got_at(at); });
  return worst;
}

}  // namespace driftscope
