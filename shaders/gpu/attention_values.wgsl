// The sum of the values' rows (in1), each times the weight of its score (in0), with what attention_lanes.wgsl found of
// the scores (in2). A row of UNITS: elements, or texels.
#include "attention_keys.wgsl"

fn value_at(i: i32) -> T {
  let d: i32 = i % ${UNITS};
  let head: i32 = i / ${UNITS};
#if BY_HEAD
  let s: i32 = head % ${QUERIES};
  let h: i32 = head / ${QUERIES} % ${HEADS};
#else
  let h: i32 = head % ${HEADS};
  let s: i32 = head / ${HEADS} % ${QUERIES};
#endif
  let b: i32 = head / ${QUERIES * HEADS};
  let row: i32 = (b * ${HEADS} + h) * ${QUERIES} + s;
  let lane: vec4f = in2_texel(row);
  let first: i32 = first_key(b, s);
  let end: i32 = end_key(b, s);
  let v: i32 = ${V_PLACE} + d;
  var sum: T = T(0.0);
  for (var t: i32 = first / 4; 4 * t < end; t++) {
    let score: vec4f = in0_texel(row * ${KEY_TEXELS} + t);
#for J in 0..4
    sum += weight_of(score[${J}], lane[0]) * in1_value(v + clamp(4 * t + ${J}, first, end - 1) * ${V_ROW});
#end
  }
  if (lane[1] == 0.0) {
    return T(0.0);
  }
  return sum / lane[1];
}
