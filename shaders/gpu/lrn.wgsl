// y = x / (BIAS + WEIGHT * sum of x^2 over BEFORE + 1 + AFTER channels)^BETA. Channels lie INNER elements apart.
fn value_at(e: i32) -> f32 {
  let c: i32 = e / ${INNER} % ${CHANNELS};
  let channel_0: i32 = e - c * ${INNER};
  var squares: f32 = 0.0;
  for (var k: i32 = max(c - ${BEFORE}, 0); k <= min(c + ${AFTER}, ${CHANNELS - 1}); k++) {
    let v: f32 = in0_value(channel_0 + k * ${INNER});
    squares += v * v;
  }
  return in0_value(e) / pow(${BIAS} + ${WEIGHT} * squares, ${BETA});
}
