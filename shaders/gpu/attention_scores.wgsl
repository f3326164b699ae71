// Scores of four keys: products of a query's row (in0) and the keys' (in1), times SCALE, SOFTCAP, what is added to them
// (BIAS), what a mask of keys adds (MASK).
#include "functions.wgsl"
#include "attention_keys.wgsl"

fn score_of(product: f32, b: i32, h: i32, s: i32, key: i32) -> f32 {
  if (key < first_key(b, s) || key >= end_key(b, s)) {
    return -3.4028234663852886e38;
  }
  var score: f32 = product;
#if BIAS
#if BIAS_KEYS
  if (key >= ${BIAS_KEYS}) {
    return -3.4028234663852886e38;
  }
#endif
  let added: f32 = in${BIAS}_element(${BIAS_PLACE});
#if BIAS_CHOOSES
  if (added == 0.0) {
    return -3.4028234663852886e38;
  }
#else
#if BIAS_LEAVES_OUT
  if (added < -3.4028234663852886e38) {
    return -3.4028234663852886e38;
  }
#endif
  score += added;
#endif
#endif
#if MASK
  if (${MASKED}) {
    score += ${FILTER};
  }
#endif
  if (score < -3.0e38) {
    return -3.0e38;
  }
  return score;
}

fn value_at(i: i32) -> T {
  let row: i32 = i / ${KEY_TEXELS};
  let key: i32 = 4 * (i % ${KEY_TEXELS});
  let s: i32 = row % ${QUERIES};
  let h: i32 = row / ${QUERIES} % ${HEADS};
  let b: i32 = row / ${QUERIES * HEADS};
  let q: i32 = ${Q_PLACE};
  let k: i32 = ${K_PLACE};
#for J in 0..4
  let k${J}: i32 = k + min(key + ${J}, ${KEYS - 1}) * ${K_ROW};
#end
  var score: T = T(0.0);
  for (var d: i32 = 0; d < ${DEPTH}; d++) {
#if Q_TEXELS
    let part: vec4f = in0_texel(q + d);
    score += T(dot(part, in1_texel(k0 + d)), dot(part, in1_texel(k1 + d)), dot(part, in1_texel(k2 + d)), dot(part, in1_texel(k3 + d)));
#else
    score += in0_element(q + d) * T(in1_element(k0 + d), in1_element(k1 + d), in1_element(k2 + d), in1_element(k3 + d));
#endif
  }
  score = score * ${SCALE};
#if CAPPED
  score = ${SOFTCAP} * tanh_bounded(score / ${SOFTCAP});
#endif
#if RAW
  return score;
#else
  return T(score_of(score[0], b, h, s, key), score_of(score[1], b, h, s, key + 1), score_of(score[2], b, h, s, key + 2), score_of(score[3], b, h, s, key + 3));
#endif
}
