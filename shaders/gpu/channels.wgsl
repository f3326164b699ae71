// sum and the products of the CG channels from element x of input 0 on with the weights from element w of input 1 on.
fn with_channels(sum: f32, x: i32, w: i32) -> f32 {
  var value: f32 = sum;
#if FOURS && CG % 4 == 0
  for (var c: i32 = 0; c < ${CG / 4}; c++) {
    value += dot(in0_texel(x / 4 + c), in1_texel(w / 4 + c));
  }
#else
  for (var c: i32 = 0; c < ${CG}; c++) {
    value += in0_value(x + c) * in1_value(w + c);
  }
#endif
  return value;
}
