// Whether a normalization divided by the right deviation. All elements of a lane share it, so that an error
// of some units in the last place shows in the regression of the recorded lane on the correct one long before
// it shows in any element: a variance divided by n − 1, an epsilon outside the root. LayerNormalization,
// InstanceNormalization, GroupNormalization. docs/numerics.md has the theory. A layer becomes a fault if no
// float32 variance of its lanes explains their slopes; a fault gets the known mistake with such slopes. Needs
// everything that the node reads to be recorded, and an engine that rounds to nearest.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <vector>

#include "core/graph/attributes.hpp"
#include "core/numerics/variance_witness.hpp"
#include "core/ops/shared/reduction.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/judge.hpp"

namespace driftscope::judges::lane_scale {
namespace {

constexpr std::int64_t max_lanes = 64;  // at most this many are examined
constexpr std::int64_t min_lane = 8;
constexpr double rms_rounding = 0.4247;  // of one rounding to nearest, in units of u
// An implementation's error may be this many times that of the variants tried here, and this many standard
// deviations from the theory of its sums.
constexpr double spread_of_ways = 4.0;
constexpr double deviations = 6.0;
constexpr double deviations_of_mean = 8.0;
// √, ÷, + ε, · scale and the approximation of 1/√x, the same for the whole lane; in units of u.
constexpr double shared_roundings = 8.0;
// E[x²], mean² and the operations before them, as in variance_witness.
constexpr double last_roundings = 8.0;
// Fewer different values than this do not show their scatter.
constexpr double enough_to_scatter = 64.0;
// − mean, · 1/√…, · scale, + shift, in units of u.
constexpr double roundings_of_element = 4.0;
// Tolerance for matching a slope to a known mistake.
constexpr double near_a_mistake = 0.15;

/// Which elements share a deviation, and the parameters that scale and shift them afterwards.
struct NormalizedLanes {
  std::int64_t count = 0;
  std::int64_t size = 0;
  std::int64_t run = 0;         ///< this many adjacent elements share a parameter
  std::int64_t parameters = 0;  ///< then they repeat
  double epsilon = 0.0;

  [[nodiscard]] std::size_t parameter(std::int64_t element) const {
    return static_cast<std::size_t>(element / run % parameters);
  }
};

std::optional<NormalizedLanes> lanes_of(const Node& node, const Shape& shape, const Shape& parameter) {
  const std::int64_t parameters = element_count(parameter);
  const auto epsilon = float_attribute(node, "epsilon", 1e-5f);
  if (!node.domain.empty() || !epsilon.ok() || shape.size() < 2 || element_count(shape) == 0)
    return std::nullopt;
  NormalizedLanes lanes;
  lanes.epsilon = static_cast<double>(*epsilon);
  lanes.parameters = parameters;
  if (node.op_type == "LayerNormalization") {
    const auto axis = int_attribute(node, "axis", -1);
    if (!axis.ok()) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(shape.size());
    const std::int64_t first = *axis < 0 ? *axis + rank : *axis;
    if (first < 0 || first >= rank) return std::nullopt;
    lanes.size = 1;
    for (std::int64_t i = first; i < rank; ++i) lanes.size *= shape[static_cast<std::size_t>(i)];
    lanes.run = 1;
    if (!fits_lane(parameter, shape, static_cast<std::size_t>(first))) return std::nullopt;
  } else {
    std::int64_t groups = shape[1];
    if (node.op_type == "GroupNormalization") {
      const auto given = int_attribute(node, "num_groups", 0);
      if (!given.ok()) return std::nullopt;
      groups = *given;
    } else if (node.op_type != "InstanceNormalization") {
      return std::nullopt;
    }
    const std::int64_t sample = element_count(shape) / shape[0];
    if (groups < 1 || sample % groups != 0 || parameters < 1 || sample % parameters != 0) return std::nullopt;
    lanes.size = sample / groups;
    lanes.run = sample / parameters;
  }
  lanes.count = element_count(shape) / lanes.size;
  return lanes;
}

struct Tensors {
  std::span<const float> x, scale, shift, got;
  std::span<const Bounded> reference;
};

/// The estimated deviation of a lane; not usable if `weight` is 0.
struct LaneScale {
  double slope = 0.0;        ///< regression of the recorded values on the correct ones, less 1
  double slope_error = 0.0;  ///< standard error, from the scatter of its elements
  double weight = 0.0;       ///< variance / (variance + ε): how much of the variance's error shows (twice)
  double theory = 0.0;       ///< standard deviation of the sum of squares, as a share
  double last = 0.0;         ///< the last roundings of E[x²] and mean², as a share of their difference
  std::vector<double> ways;  ///< errors of float32 variances, as shares
  std::array<double, 3> mistakes{};
  [[nodiscard]] bool usable() const { return weight > 0.0; }
};

struct Mistake {
  const char* text;
  double (*deviation)(double variance, double epsilon, double n);
};
constexpr std::array<Mistake, 3> known_mistakes = {{
    {"a variance divided by n − 1",
     [](double variance, double epsilon, double n) { return std::sqrt(variance * n / (n - 1.0) + epsilon); }},
    {"epsilon outside of the root",
     [](double variance, double epsilon, double /*n*/) { return std::sqrt(variance) + epsilon; }},
    {"no epsilon", [](double variance, double /*epsilon*/, double /*n*/) { return std::sqrt(variance); }},
}};

/// An element of a lane for the regression: got − reference = slope·p + offset·q.
struct Equation {
  double p = 0.0;  ///< normalized·scale
  double q = 0.0;  ///< scale
  double e = 0.0;
  double noise = 0.0;  ///< of e: each is divided by it
  auto operator<=>(const Equation&) const = default;
};

/// `distinct`: equal elements, whose roundings are equal, count once.
std::vector<Equation> equations_of(const NormalizedLanes& lanes, const Tensors& tensors, std::int64_t first,
                                   double mean, double inverse, bool distinct) {
  std::vector<Equation> equations;
  equations.reserve(static_cast<std::size_t>(lanes.size));
  for (std::int64_t i = first; i < first + lanes.size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::size_t parameter = lanes.parameter(i);
    const auto scale = static_cast<double>(tensors.scale[parameter]);
    const double shift = tensors.shift.empty() ? 0.0 : static_cast<double>(tensors.shift[parameter]);
    const double p = (static_cast<double>(tensors.x[at]) - mean) * inverse * scale;
    const double noise = std::fabs(p) + std::fabs(shift) + std::fabs(mean * inverse * scale);
    if (noise > 0.0)
      equations.push_back(
          {p, scale, static_cast<double>(tensors.got[at]) - tensors.reference[at].value, noise});
  }
  if (distinct) {
    std::ranges::sort(equations);
    const auto rest = std::ranges::unique(equations);
    equations.erase(rest.begin(), rest.end());
  }
  return equations;
}

// By weighted least squares: the offset is the error of the mean.
void fit_slope(LaneScale& lane, const std::vector<Equation>& equations, double u) {
  const auto count = static_cast<double>(equations.size());
  if (equations.size() < 2) return;
  double pp = 0.0, pq = 0.0, qq = 0.0, pe = 0.0, qe = 0.0;
  for (const Equation& one : equations) {
    const double p = one.p / one.noise, q = one.q / one.noise, e = one.e / one.noise;
    pp += p * p, pq += p * q, qq += q * q, pe += p * e, qe += q * e;
  }
  const double determinant = pp * qq - pq * pq;
  if (!(determinant > 1e-9 * pp * qq)) return;
  const double slope = (pe * qq - qe * pq) / determinant;
  const double offset = (qe * pp - pe * pq) / determinant;
  double rest = 0.0, reach = 0.0;
  for (const Equation& one : equations) {
    const double r = (one.e - slope * one.p - offset * one.q) / one.noise;
    rest += r * r;
    reach += std::fabs(one.p * qq - one.q * pq) / one.noise;
  }
  // Few roundings tell nothing of their scatter: then the worst that they can do.
  const double error = count < enough_to_scatter ? roundings_of_element * u * reach / determinant / deviations
                                                 : std::sqrt(rest / (count - 2.0) * qq / determinant);
  if (!std::isfinite(slope) || !std::isfinite(error)) return;
  lane.slope = slope;
  lane.slope_error = error;
  lane.weight = 1.0;
}

// `u`: the unit roundoff; other threads do not know the scope's model.
LaneScale look_at_lane(const NormalizedLanes& lanes, const Tensors& tensors, std::int64_t number, double u,
                       bool distinct) {
  const std::int64_t first = number * lanes.size;
  const auto values =
      tensors.x.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(lanes.size));
  const double n = static_cast<double>(lanes.size);
  double mean = 0.0;
  for (const float x : values) mean += static_cast<double>(x);
  mean /= n;
  double squares = 0.0, walk = 0.0, fourth = 0.0;
  for (const float x : values) {
    const double deviation = static_cast<double>(x) - mean;
    const double term = deviation * deviation;
    squares += term;
    walk += squares * squares;
    fourth += term * term;
  }
  const double variance = squares / n;
  LaneScale lane;
  if (!(variance > 0x1p-100) || !std::isfinite(walk) || !std::isfinite(fourth)) return lane;
  const double right = std::sqrt(variance + lanes.epsilon);
  fit_slope(lane, equations_of(lanes, tensors, first, mean, 1.0 / right, distinct), u);
  if (!lane.usable()) return lane;
  lane.weight = variance / (variance + lanes.epsilon);
  lane.theory = rms_rounding * u * std::sqrt(walk + 4.0 * fourth) / squares;
  lane.last = last_roundings * u * (mean * mean + variance) / variance;
  lane.ways = variance_errors(values, variance);
  for (double& error : lane.ways)
    if (!std::isfinite(error)) error = 0.0;  // x² overflows: this variant is not usable here
  for (std::size_t i = 0; i < known_mistakes.size(); ++i)
    lane.mistakes[i] = right / known_mistakes[i].deviation(variance, lanes.epsilon, n) - 1.0;
  return lane;
}

double largest_of(std::span<const double> values) {
  double largest = 0.0;
  for (const double x : values) largest = std::fmax(largest, std::fabs(x));
  return largest;
}

double shared_share(const ErrorModel& model) {
  return (shared_roundings + 2.0 * (model.sqrt_ulp + model.division_ulp)) * model.unit_roundoff;
}

// Whether the slope of one lane exceeds all effects of its own roundings.
bool stands_out(const LaneScale& lane, double shared) {
  const double variance = spread_of_ways * largest_of(lane.ways) + deviations * lane.theory + lane.last;
  return std::fabs(lane.slope) > variance * lane.weight / 2.0 + shared + deviations * lane.slope_error;
}

struct Together {
  double slope = 0.0;
  double allowed = 0.0;
  std::array<double, known_mistakes.size()> mistakes{};
};

// The mean over all lanes, whose roundings are independent of each other.
Together together(std::span<const LaneScale> lanes, double shared) {
  const double count = static_cast<double>(lanes.size());
  Together all;
  double spread = 0.0;
  double last = 0.0;
  std::vector<double> ways(lanes.front().ways.size(), 0.0);
  for (const LaneScale& lane : lanes) {
    all.slope += lane.slope / count;
    last += lane.last * lane.weight / 2.0 / count;
    for (std::size_t i = 0; i < ways.size(); ++i) ways[i] += lane.ways[i] * lane.weight / 2.0 / count;
    for (std::size_t i = 0; i < all.mistakes.size(); ++i) all.mistakes[i] += lane.mistakes[i] / count;
    const double random = std::hypot(largest_of(lane.ways), lane.theory) * lane.weight / 2.0;
    spread += random * random + lane.slope_error * lane.slope_error;
  }
  all.allowed =
      spread_of_ways * largest_of(ways) + deviations_of_mean * std::sqrt(spread) / count + last + shared;
  return all;
}

// The mistake that would give this slope.
const char* mistake_of(const Together& all, double shared) {
  for (std::size_t i = 0; i < known_mistakes.size(); ++i) {
    const double expected = all.mistakes[i];
    const double apart = std::fabs(all.slope - expected);
    if (std::fabs(expected) > 3.0 * shared && apart <= near_a_mistake * std::fabs(expected))
      return known_mistakes[i].text;
  }
  return nullptr;
}

std::vector<LaneScale> look_at_lanes(const NormalizedLanes& lanes, const Tensors& tensors, double u,
                                     bool distinct, ThreadPool& threads) {
  const std::int64_t count = std::min(lanes.count, max_lanes);
  std::vector<LaneScale> scales(static_cast<std::size_t>(count));
  threads.parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      scales[static_cast<std::size_t>(i)] =
          look_at_lane(lanes, tensors, i * lanes.count / count, u, distinct);
  });
  std::erase_if(scales, [](const LaneScale& lane) { return !lane.usable(); });
  return scales;
}

void judge(const LayerCase& layer, LayerVerdict& verdict) {
  const Node& node = layer.node();
  const ErrorModel& model = layer.run.model;
  const Tensor& got = layer.got;
  const bool judged = verdict.verdict != Verdict::missing && verdict.verdict != Verdict::identical;
  if (!judged || layer.output != 0 || layer.in_group() || got.dtype() != DType::float32 ||
      layer.derived.overflow != Overflow::none || !std::isfinite(verdict.budget_used) ||
      !model.rounds_to_nearest || model.unit_roundoff > 0x1p-23 ||
      node.op_type.find("Normalization") == std::string::npos)
    return;
  const auto tensors = layer.derivation.known_tensors(layer.id);
  if (!tensors || tensors->size() < 2 || !(*tensors)[0] || !(*tensors)[1]) return;
  for (const auto& tensor : *tensors)
    if (tensor && tensor->dtype() != DType::float32) return;
  const auto lanes = lanes_of(node, got.shape(), (*tensors)[1]->shape());
  const bool shifted = tensors->size() > 2 && (*tensors)[2];
  const bool fits = lanes && lanes->size >= min_lane && (*tensors)[0]->shape() == got.shape() &&
                    layer.reference().size() == static_cast<std::size_t>(got.elements()) &&
                    (!shifted || ((*tensors)[2]->elements() == lanes->parameters &&
                                  lanes_of(node, got.shape(), (*tensors)[2]->shape()).has_value()));
  if (!fits) return;
  const Tensors values{(*tensors)[0]->values<float>(), (*tensors)[1]->values<float>(),
                       shifted ? (*tensors)[2]->values<float>() : std::span<const float>(),
                       got.values<float>(), layer.reference()};
  const double shared = shared_share(model);
  Together all;
  const auto is_wrong = [&](bool distinct) {
    const std::vector<LaneScale> scales =
        look_at_lanes(*lanes, values, model.unit_roundoff, distinct, layer.threads);
    if (scales.empty()) return false;
    all = together(scales, shared);
    return std::fabs(all.slope) > all.allowed ||
           std::ranges::any_of(scales, [&](const LaneScale& lane) { return stands_out(lane, shared); });
  };
  // Sorting the elements takes longer, and rarely changes anything.
  const bool wrong = is_wrong(false) && is_wrong(true);
  const char* mistake = mistake_of(all, shared);
  // A fault only gets an explanation.
  if (!wrong || (verdict.verdict == Verdict::fault && mistake == nullptr)) return;
  verdict.verdict = Verdict::fault;
  Finding finding{.id = "parameter.lane_scale", .numbers = {{"slope", all.slope}}};
  if (mistake != nullptr) finding.words = {{"mistake", mistake}};
  verdict.findings = {std::move(finding)};
}

}  // namespace

void add_to(JudgeTable& table) { table.add({"lane_scale", 40, judge}); }

}  // namespace driftscope::judges::lane_scale
