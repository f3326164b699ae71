// Slices of a value along one axis, of SIZE, INNER elements each; CHOSEN of them.
fn value_at(e: i32) -> f32 {
  let place: i32 = i32(in1_value(e / ${INNER} % ${CHOSEN}));
  return in0_value((e / ${INNER * CHOSEN} * ${SIZE} + place) * ${INNER} + e % ${INNER});
}
