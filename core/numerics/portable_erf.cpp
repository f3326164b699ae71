// erf of portable_math.hpp: from the nearest k/4, where erf and its slope are known, by a series in
// the rest.
#include <array>

#include "core/numerics/portable_math.hpp"
#include "core/numerics/portable_parts.hpp"

namespace driftscope::portable {
namespace {

struct ErfPoint {
  Wide value;
  Wide slope;
};

// erf(k/4) and its slope there, 2/√π·e^(−k²/16); tools/math/portable_math_constants.py.
constexpr std::array<ErfPoint, 25> erf_quarters = {{
    {{0x0.0p+0, 0x0.0p+0}, {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56}},
    {{0x1.1af54e232d609p-2, -0x1.bee921fa4172bp-56}, {0x1.0f5d1602f7e41p+0, -0x1.3e41778d4b1eep-55}},
    {{0x1.0a7ef5c18edd2p-1, 0x1.5e809f1a31a28p-56}, {0x1.c1efca49a5011p-1, 0x1.4c081d7f49500p-55}},
    {{0x1.6c1c9759d0e5fp-1, 0x1.b1432f2cbc455p-55}, {0x1.492e42d78d2c5p-1, -0x1.8bd386a7ba3f6p-55}},
    {{0x1.af767a741088bp-1, -0x1.c97f778122797p-56}, {0x1.a911f096fbc26p-2, -0x1.086a09f735b33p-56}},
    {{0x1.d8865d98abe01p-1, -0x1.fcec4afb974d9p-55}, {0x1.e4652fadcb6b2p-3, -0x1.e950836901024p-61}},
    {{0x1.eea5557137ae0p-1, -0x1.385e445f2c96dp-55}, {0x1.e723726b824a9p-4, -0x1.2203197eea764p-59}},
    {{0x1.f92d077f8d56dp-1, 0x1.8b55ef493fce7p-56}, {0x1.b055303221015p-5, 0x1.cba9ea60ed019p-59}},
    {{0x1.fd9ae142795e3p-1, 0x1.972801904b9a3p-56}, {0x1.529b9e8cf9a1ep-6, 0x1.b47becf12c4e4p-61}},
    {{0x1.ff404760319b4p-1, 0x1.f142071432025p-56}, {0x1.d4143a9dfe965p-8, -0x1.6eec3c35c7ed7p-63}},
    {{0x1.ffcaa8f4c9beap-1, 0x1.b0cee160116f9p-55}, {0x1.1d83170fbf6fbp-9, 0x1.ea3671efbb74ap-63}},
    {{0x1.fff2cfb0453d9p-1, 0x1.9a913686042a3p-55}, {0x1.3360ccd23db3ap-11, 0x1.39e15444e9dddp-69}},
    {{0x1.fffd1ac4135f9p-1, 0x1.eeafa1ecd6cefp-55}, {0x1.2408e9ba3327fp-13, -0x1.7e1d81587040cp-67}},
    {{0x1.ffff6f9f67e55p-1, 0x1.e1e4483ba034bp-55}, {0x1.e9b5e8d00ce77p-16, -0x1.cbbe2ecd1cfacp-70}},
    {{0x1.ffffe710d565ep-1, 0x1.c9ea52d76dc04p-55}, {0x1.6a597219a93dap-18, -0x1.cbf8fbc2cd5cdp-72}},
    {{0x1.fffffc2f171e3p-1, 0x1.85edd0395f475p-55}, {0x1.d9371e2ff7c35p-21, 0x1.0aed0951e078dp-75}},
    {{0x1.ffffff7b91176p-1, 0x1.0b2865615db40p-56}, {0x1.10b1488aeb235p-23, -0x1.cd75b4828c0c0p-81}},
    {{0x1.fffffff01a8b6p-1, 0x1.23370eca5ca6ap-60}, {0x1.155a09065d4f7p-26, -0x1.7c5d6c7140f80p-81}},
    {{0x1.fffffffe4fa30p-1, 0x1.d166bcb681c7bp-57}, {0x1.f1e3523b41d7dp-30, -0x1.7303536c50b37p-84}},
    {{0x1.ffffffffd759dp-1, 0x1.f7bee7eb23420p-55}, {0x1.8a61745ec7d1dp-33, 0x1.9d509f787b50ep-88}},
    {{0x1.fffffffffc9e8p-1, -0x1.a759f7738935fp-56}, {0x1.13af4f04f9998p-36, -0x1.0532e647cd418p-90}},
    {{0x1.ffffffffffc05p-1, 0x1.07ba96a6b2e1ap-55}, {0x1.5422ef5d8949dp-40, 0x1.ff62258857350p-96}},
    {{0x1.fffffffffffbep-1, -0x1.182b326b228dcp-55}, {0x1.7258610b3b233p-44, -0x1.60bc7761ca394p-101}},
    {{0x1.ffffffffffffcp-1, 0x1.8115fd1b12786p-56}, {0x1.63daf8b4b1e0cp-48, 0x1.f38800a69fe98p-105}},
    {{0x1.0000000000000p+0, -0x1.8cf81557d20b6p-56}, {0x1.2dc119095729fp-52, -0x1.1566d13fe4564p-106}},
}};

// (erf(c + h) − erf(c)) / (h·slope) − 1, |h| ≤ 1/8. The slope at c + t is that at c times
// e^(−2ct − t²) = Σ bₙtⁿ, bₙ₊₁ = −2(c·bₙ + bₙ₋₁)/(n + 1), which is then integrated.
double series(double c, double h) {
  constexpr std::array<double, 16> inverse = {
      1.0,       1.0 / 2.0,  1.0 / 3.0,  1.0 / 4.0,  1.0 / 5.0,  1.0 / 6.0,  1.0 / 7.0,  1.0 / 8.0,
      1.0 / 9.0, 1.0 / 10.0, 1.0 / 11.0, 1.0 / 12.0, 1.0 / 13.0, 1.0 / 14.0, 1.0 / 15.0, 1.0 / 16.0};
  const double step = -2.0 * c * h;
  const double step2 = -2.0 * h * h;
  double before = 0.0;
  double term = 1.0;  // bₙhⁿ
  double sum = 0.0;
  for (std::size_t n = 0; n + 1 < inverse.size(); ++n) {
    const double next = (step * term + step2 * before) * inverse[n];
    before = term;
    term = next;
    sum += term * inverse[n + 1];
  }
  return sum;
}

}  // namespace

double erf(double x) {
  const double a = std::fabs(x);
  if (x != x || a == 0.0) return x;
  if (a >= 6.0) return with_sign(1.0, x);
  // Scaled, so that the parts of the product do not underflow.
  if (a < tiny) return (erf_quarters[0].slope * (x * 0x1p200)).rounded() * 0x1p-200;
  const auto k = static_cast<std::size_t>(a * 4.0 + 0.5);
  const double c = static_cast<double>(k) * 0.25;
  const double h = a - c;
  const ErfPoint& point = erf_quarters[k];
  const Wide first = point.slope * h;
  return with_sign((point.value + first + first.high * series(c, h)).rounded(), x);
}

}  // namespace driftscope::portable
