// Of each row of scores (in0) the largest and the sum of exp(score - largest), as a texel. SINK: one more score.
#include "attention_keys.wgsl"

fn value_at(i: i32) -> T {
  let s: i32 = i % ${QUERIES};
  let b: i32 = i / ${QUERIES * HEADS};
  let row: i32 = i * ${KEY_TEXELS};
  let begin: i32 = row + first_key(b, s) / 4;
  let end: i32 = row + (end_key(b, s) + 3) / 4;
  var tops: T = T(-3.4028234663852886e38);
  for (var t: i32 = begin; t < end; t++) {
    tops = max(tops, in0_texel(t));
  }
  var largest: f32 = max(max(tops[0], tops[1]), max(tops[2], tops[3]));
#if SINK
  let sink: f32 = ${SINK_VALUE};
  largest = max(largest, sink);
#endif
  var sum: T = T(0.0);
  for (var t: i32 = begin; t < end; t++) {
    let score: T = in0_texel(t);
    sum += T(weight_of(score[0], largest), weight_of(score[1], largest), weight_of(score[2], largest), weight_of(score[3], largest));
  }
  var all: f32 = sum[0] + sum[1] + (sum[2] + sum[3]);
#if SINK
  all += exp(sink - largest);
#endif
  return T(largest, all, 0.0, 0.0);
}
