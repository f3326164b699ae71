// Heads of SIZE elements, whose first 2 * HALF are pairs, STEP apart: (a, b) becomes (a cos - b sin, b cos + a sin)
// of CACHE_ROW of the caches. PLACE: where element e comes from.
fn value_at(e: i32) -> f32 {
  let head: i32 = e / ${SIZE};
  let i: i32 = e % ${SIZE};
  let place: i32 = ${PLACE};
  let x: f32 = in0_value(place);
  if (i >= ${2 * HALF}) {
    return x;
  }
  let at: i32 = (${CACHE_ROW}) * ${HALF} + ${PAIR};
  let second: i32 = i / ${STEP} % 2;
  let partner: f32 = in0_value(place + ${STEP} - second * ${2 * STEP}) * in2_value(at);
  if (second == 0) {
    return x * in1_value(at) - partner;
  }
  return x * in1_value(at) + partner;
}
