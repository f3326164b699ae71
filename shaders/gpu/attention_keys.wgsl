// What the shaders of attention have in common. A query s of sequence b looks at the keys [first_key, end_key). Scores
// lie in rows of KEY_TEXELS, one for each query of each head; that of a key which is left out is the lowest number, and
// all others are above -3.2e38.
#if HAS_LENGTHS
fn length_of(b: i32) -> i32 {
  return i32(in${LENGTHS}_element(b));
}
#endif

fn end_key(b: i32, s: i32) -> i32 {
  return ${END};
}
fn first_key(b: i32, s: i32) -> i32 {
  return ${FIRST};
}

fn weight_of(score: f32, largest: f32) -> f32 {
  if (score < -3.2e38) {
    return 0.0;
  }
  return exp(score - largest);
}
