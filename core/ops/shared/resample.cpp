#include "core/ops/shared/resample.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/float_bits.hpp"

namespace driftscope {
namespace {

using Mode = Resampling::Mode;
using Coordinate = Resampling::Coordinate;
constexpr double u = unit_roundoff_f32;

bool fits_float(double x) { return static_cast<double>(static_cast<float>(x)) == x; }

bool is_power_of_two(double x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == 0.5;
}

class Axis {
 public:
  Axis(const Resampling& how, const ResampledAxis& axis)
      : how_(how),
        axis_(axis),
        input_(static_cast<double>(axis.input)),
        output_(static_cast<double>(axis.output)),
        length_(axis.from_size ? output_ : axis.scale * input_) {}

  // The coordinate in the input of output coordinate x (specification: x_original).
  [[nodiscard]] double source(double x) const {
    switch (how_.coordinate) {
      case Coordinate::half_pixel: return divided(x + 0.5) - 0.5;
      case Coordinate::half_pixel_symmetric: return symmetric_offset() + (divided(x + 0.5) - 0.5);
      case Coordinate::pytorch_half_pixel: return length_ > 1.0 ? divided(x + 0.5) - 0.5 : 0.0;
      case Coordinate::align_corners: return length_ == 1.0 ? 0.0 : x * (input_ - 1.0) / (length_ - 1.0);
      case Coordinate::asymmetric: return divided(x);
      case Coordinate::tf_half_pixel_for_nn: return divided(x + 0.5);
      case Coordinate::tf_crop_and_resize: break;
    }
    if (length_ == 1.0) return 0.5 * (axis_.roi_begin + axis_.roi_end) * (input_ - 1.0);
    return axis_.roi_begin * (input_ - 1.0) +
           x * (axis_.roi_end - axis_.roi_begin) * (input_ - 1.0) / (length_ - 1.0);
  }

  // The possible error of a float32 evaluation of the formula. For a nearest neighbour the formula
  // is evaluated as written: if its steps are exact in float32, the choice is certain. Where
  // neighbours are weighted, runtimes also multiply by a rounded reciprocal of the scale.
  [[nodiscard]] double source_error(double x) const {
    const double at = source(x);
    const double loose = 4.0 * u * (std::fabs(at) + 1.0);
    const bool pixels =
        how_.coordinate == Coordinate::half_pixel || how_.coordinate == Coordinate::pytorch_half_pixel ||
        how_.coordinate == Coordinate::asymmetric || how_.coordinate == Coordinate::tf_half_pixel_for_nn;
    if (pixels && is_power_of_two(axis_.scale)) return 0.0;
    if (how_.mode != Mode::nearest) return loose;
    double quotient = 0.0;
    bool exact = true;
    if (pixels) {
      quotient = divided(how_.coordinate == Coordinate::asymmetric ? x : x + 0.5);
      exact = fits_float(axis_.scale);
    } else if (how_.coordinate == Coordinate::align_corners) {
      quotient = at;
    } else {
      return loose;
    }
    const double rounding = std::fabs(quotient) * u;
    double error = exact ? 0.0 : 2.0 * rounding;
    if (!fits_float(quotient)) error += rounding;
    if (error > 0.0 || !fits_float(at)) error += std::fabs(at) * u;
    return error;
  }

  [[nodiscard]] bool outside(double at) const {
    return how_.coordinate == Coordinate::tf_crop_and_resize && !(at >= 0.0 && at <= input_ - 1.0);
  }

  [[nodiscard]] Taps taps(double at) const {
    Taps result;
    // Limited so that element indices fit in a 64-bit integer for any region of interest.
    at = std::fmin(std::fmax(at, -input_ - 4.0), 2.0 * input_ + 4.0);
    if (how_.mode == Mode::nearest) {
      add(result, nearest(at), 1.0);
      return result;
    }
    const double shrink = how_.antialias ? std::fmin(axis_.scale, 1.0) : 1.0;
    const double reach = how_.mode == Mode::linear ? 1.0 : 2.0;
    const auto floor = static_cast<std::int64_t>(std::floor(at));
    const double ratio = at - std::floor(at);
    const auto start = static_cast<std::int64_t>(std::floor(-reach / shrink)) + 1;
    for (std::int64_t i = start; i <= 1 - start; ++i) {
      const double distance = std::fabs(static_cast<double>(i) - ratio) * shrink;
      const double weight = how_.mode == Mode::linear ? std::fmax(0.0, 1.0 - distance) : cubic(distance);
      const bool beyond = floor + i < 0 || floor + i >= axis_.input;
      if (weight != 0.0 && !(how_.exclude_outside && beyond)) add(result, floor + i, weight);
    }
    double sum = 0.0;
    for (const double weight : result.weight) sum += weight;
    if (sum != 1.0)
      for (double& weight : result.weight) weight /= sum;
    return result;
  }

  [[nodiscard]] double weight_error(const Taps& taps) const {
    double largest = 0.0;
    for (const double weight : taps.weight) largest = std::fmax(largest, std::fabs(weight));
    // Keys' polynomials in Horner's form cancel from terms of up to 8·|a|.
    return how_.mode == Mode::cubic ? 64.0 * u * std::fmax(1.0, std::fabs(how_.cubic_a)) * largest : 0.0;
  }

 private:
  [[nodiscard]] double divided(double x) const {
    return axis_.from_size ? x * input_ / output_ : x / axis_.scale;
  }
  [[nodiscard]] double symmetric_offset() const { return input_ / 2.0 * (1.0 - output_ / length_); }

  [[nodiscard]] std::int64_t nearest(double at) const {
    switch (how_.nearest) {
      case Resampling::Nearest::round_prefer_floor: at = std::ceil(at - 0.5); break;
      case Resampling::Nearest::round_prefer_ceil: at = std::floor(at + 0.5); break;
      case Resampling::Nearest::floor: at = std::floor(at); break;
      case Resampling::Nearest::ceil: at = std::ceil(at); break;
      case Resampling::Nearest::simple: at = axis_.scale < 1.0 ? std::ceil(at) : std::floor(at); break;
    }
    return static_cast<std::int64_t>(at);
  }

  // Keys 1981, "Cubic convolution interpolation for digital image processing".
  [[nodiscard]] double cubic(double x) const {
    const double a = how_.cubic_a;
    if (x <= 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    if (x < 2.0) return ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
    return 0.0;
  }

  // Beyond the ends the last element is repeated.
  void add(Taps& taps, std::int64_t at, double weight) const {
    taps.at.push_back(std::clamp<std::int64_t>(at, 0, axis_.input - 1));
    taps.weight.push_back(weight);
  }

  const Resampling& how_;
  const ResampledAxis& axis_;
  double input_;
  double output_;
  double length_;  // of the resized axis, as the formulas have it: not rounded to an integer
};

}  // namespace

std::vector<ResampledPoint> resample_axis(const Resampling& how, const ResampledAxis& axis) {
  const Axis formulas(how, axis);
  std::vector<ResampledPoint> points(static_cast<std::size_t>(axis.output));
  for (std::size_t i = 0; i < points.size(); ++i) {
    ResampledPoint& point = points[i];
    const auto x = static_cast<double>(i);
    const double at = formulas.source(x);
    const double error = formulas.source_error(x);
    point.taps = formulas.taps(at);
    point.outside = formulas.outside(at);
    point.weight_error = formulas.weight_error(point.taps);
    if (error == 0.0) continue;
    for (const double end : {at - error, at + error})
      if (Taps taps = formulas.taps(end); taps != point.taps) point.alternatives.push_back(std::move(taps));
  }
  return points;
}

}  // namespace driftscope
