// Functions that GLSL lacks, or has with results that are not defined for large arguments.
const vec4 zero = vec4(0.0);
const vec4 one = vec4(1.0);

// tanh(10) is 1 in float32; built-ins that divide exp by exp give NaN far beyond it.
vec4 tanh_bounded(vec4 x) { return tanh(clamp(x, -10.0, 10.0)); }

// exp(88) is finite, and 1 / exp(88) below the smallest normal number.
vec4 sigmoid(vec4 x) { return one / (one + exp(-max(x, -88.0))); }

// Abramowitz and Stegun 7.1.26: 1.5e-7 from erf.
vec4 erf(vec4 x) {
  vec4 a = abs(x);
  vec4 t = one / (one + 0.3275911 * a);
  vec4 p = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  vec4 e = one - p * exp(-min(a * a, 88.0));
  return mix(e, -e, lessThan(x, zero));
}

// log(1 + exp(x)) without overflow.
vec4 softplus(vec4 x) { return max(x, zero) + log(one + exp(-abs(x))); }

vec4 power(vec4 x, vec4 e) {
  bvec4 negative = lessThan(x, zero);
  vec4 size = pow(abs(x), e);
  vec4 odd = abs(e - 2.0 * floor(e * 0.5));
  vec4 of_negative = mix(size, -size, equal(odd, one));
  // The root of a negative number is NaN wherever there is one.
  of_negative = mix(of_negative, sqrt(x), notEqual(floor(e), e));
  return mix(mix(size, of_negative, negative), one, equal(e, zero));
}
