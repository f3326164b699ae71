// Keys or values of all positions: a sequence's KEPT rows of the past (in1), then its ADDED new ones (in0), then zeros.
#if HAS_LENGTHS
fn length_of(b: i32) -> i32 {
  return i32(in${LENGTHS}_element(b));
}
#endif

fn value_at(e: i32) -> f32 {
  let d: i32 = e % ${SIZE};
  let row: i32 = e / ${SIZE} % ${ROWS};
  let head: i32 = e / ${SIZE * ROWS};
  let h: i32 = head % ${HEADS};
  let b: i32 = head / ${HEADS};
  let kept: i32 = ${KEPT};
#if BEFORE
  if (row < kept) {
    return in1_value(${PAST} + (head * ${BEFORE} + row) * ${SIZE} + d);
  }
#endif
  if (row - kept >= ${ADDED}) {
    return 0.0;
  }
  return in0_value(${PLACE} + (row - kept) * ${ADDED_ROW} + d);
}
