#include "core/verify/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/model/tensor_elements.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/metrics_parts.hpp"

namespace driftscope {

Metrics metrics_parts::metrics_of(const Part& total, std::int64_t elements) {
  Metrics metrics;
  metrics.elements = elements;
  metrics.different_elements = total.different;
  metrics.nan = total.nan;
  metrics.inf = total.inf;
  metrics.max_abs = total.max_abs;
  metrics.max_rel = total.max_rel;
  metrics.max_ulp = total.max_ulp;
  if (total.finite > 0) metrics.mean_abs = total.absolute / static_cast<double>(total.finite);
  if (total.nonzero > 0) metrics.mean_rel = total.relative / static_cast<double>(total.nonzero);
  if (total.got > 0.0 && total.want > 0.0) {
    const double cosine = total.dot / (std::sqrt(total.got) * std::sqrt(total.want));
    metrics.cosine = std::clamp(cosine, -1.0, 1.0);
  } else {
    metrics.cosine = total.got == total.want ? 1.0 : 0.0;
  }
  metrics.sqnr_db = total.noise > 0.0 ? 10.0 * std::log10(total.want / total.noise) : INFINITY;
  if (metrics.max_abs == INFINITY) metrics.sqnr_db = -INFINITY;
  return metrics;
}

namespace {

using namespace metrics_parts;

template <class Kind>
Metrics measure_as(const Tensor& got_tensor, const Tensor& want_tensor, ThreadPool* threads) {
  const auto got = got_tensor.values<typename Kind::Stored>();
  const auto want = want_tensor.values<typename Kind::Stored>();
  std::vector<Part> parts((got.size() + part_elements - 1) / part_elements);
  const auto measure_parts = [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const std::size_t first = i * part_elements;
      const std::size_t count = std::min(part_elements, got.size() - first);
      parts[i].measure<Kind>(got.subspan(first, count), want.subspan(first, count));
    }
  };
  const auto count = static_cast<std::int64_t>(parts.size());
  if (threads != nullptr)
    threads->parallel_for(count, 1, measure_parts);
  else
    measure_parts(0, count);
  Part total;
  for (const Part& part : parts) total.add(part);
  return metrics_of(total, got_tensor.elements());
}

// Types of few values, so that only how far two are apart matters; from or to NaN they are infinitely far.
template <class E>
Metrics measure_few(const Tensor& got_tensor, const Tensor& want_tensor) {
  const auto got = elements_of<E>(got_tensor);
  const auto want = elements_of<E>(want_tensor);
  Metrics metrics;
  metrics.elements = got_tensor.elements();
  metrics.sqnr_db = INFINITY;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i]) continue;
    const double x = E::to_double(got[i]);
    const double y = E::to_double(want[i]);
    if (std::isnan(x) && std::isnan(y)) continue;
    ++metrics.different_elements;
    const double apart = std::isnan(x) || std::isnan(y) ? INFINITY : std::fabs(x - y);
    metrics.max_abs = metrics.max_ulp = std::fmax(metrics.max_abs, x == y ? 0.0 : apart);
    metrics.sqnr_db = 0.0;
  }
  return metrics;
}

}  // namespace

Result<Metrics> measure(const Tensor& got, const Tensor& want, ThreadPool* threads) {
  if (got.dtype() != want.dtype())
    return bad_input(fmt::format("expected {}, got {}", dtype_name(want.dtype()), dtype_name(got.dtype())));
  if (got.shape() != want.shape())
    return bad_input(
        fmt::format("expected shape {}, got {}", shape_text(want.shape()), shape_text(got.shape())));
  Metrics metrics;
  const bool measured = visit_number(got.dtype(), [&]<class E>() {
    if constexpr (E::packed || E::kind == ElementKind::minifloat)
      metrics = measure_few<E>(got, want);
    else if constexpr (E::kind == ElementKind::floating)
      metrics = measure_as<FloatingKind<E>>(got, want, threads);
    else
      metrics = measure_as<Plain<typename E::Stored>>(got, want, threads);
  });
  if (!measured)
    return unsupported(fmt::format("tensors of type {} are not compared", dtype_name(got.dtype())));
  return metrics;
}

double kl_divergence(const Tensor& left, const Tensor& right) {
  if (left.dtype() != DType::float32 || right.dtype() != DType::float32 || left.shape() != right.shape() ||
      left.elements() == 0 || left.rank() == 0)
    return 0.0;
  constexpr double floor = 1e-12;
  constexpr double sum_tolerance = 1e-2;
  const auto size = static_cast<std::size_t>(left.shape().back());
  const auto p = left.values<float>();
  const auto q = right.values<float>();
  const auto row_sum = [&](std::span<const float> values, std::size_t first) {
    double sum = 0.0;
    for (std::size_t i = first; i < first + size; ++i) {
      if (!(values[i] >= 0.0f)) return 0.0;
      sum += std::fmax(static_cast<double>(values[i]), floor);
    }
    return sum;
  };
  double worst = 0.0;
  for (std::size_t first = 0; first < p.size(); first += size) {
    const double p_sum = row_sum(p, first);
    const double q_sum = row_sum(q, first);
    if (std::fabs(p_sum - 1.0) > sum_tolerance || std::fabs(q_sum - 1.0) > sum_tolerance) return 0.0;
    double divergence = 0.0;
    for (std::size_t i = first; i < first + size; ++i) {
      const double a = std::fmax(static_cast<double>(p[i]), floor) / p_sum;
      const double b = std::fmax(static_cast<double>(q[i]), floor) / q_sum;
      divergence += a * std::log(a / b);
    }
    worst = std::fmax(worst, divergence);
  }
  return worst;
}

}  // namespace driftscope
