// Functions that WGSL and GLSL lack, or have with results that are not defined for large arguments.

// tanh(10) is 1 in float32; built-ins that divide exp by exp give NaN far beyond it.
fn tanh_bounded(x: T) -> T {
  return tanh(clamp(x, T(-10.0), T(10.0)));
}

// exp(88) is finite, and 1 / exp(88) below the smallest normal number.
fn sigmoid(x: T) -> T {
  return T(1.0) / (T(1.0) + exp(-max(x, T(-88.0))));
}

// Abramowitz and Stegun 7.1.26: 1.5e-7 from erf.
fn erf(x: T) -> T {
  let a: T = abs(x);
  let t: T = T(1.0) / (T(1.0) + 0.3275911 * a);
  let p: T = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  let e: T = T(1.0) - p * exp(-min(a * a, T(88.0)));
  return select(e, -e, is_less(x, T(0.0)));
}

// log(1 + exp(x)) without overflow.
fn softplus(x: T) -> T {
  return max(x, T(0.0)) + log(T(1.0) + exp(-abs(x)));
}

fn power(x: T, e: T) -> T {
  let size: T = pow(abs(x), e);
  let odd: T = abs(e - T(2.0) * floor(e * T(0.5)));
  let signed: T = select(size, -size, is_equal(odd, T(1.0)));
  // The root of a negative number is NaN wherever there is one.
  let of_negative: T = select(sqrt(x), signed, is_equal(floor(e), e));
  return select(select(size, of_negative, is_less(x, T(0.0))), T(1.0), is_equal(e, T(0.0)));
}
