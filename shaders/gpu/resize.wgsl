// Each element of a resized image (channels last) from at most two rows and two columns. The tables have for each row
// or column of the result: its two sources, and their weights.
fn value_at(e: i32) -> f32 {
  let c: i32 = e % ${CHANNELS};
  let column: vec4f = in2_texel(e / ${CHANNELS} % ${OUT_W});
  let row: vec4f = in1_texel(e / ${CHANNELS * OUT_W} % ${OUT_H});
  let image: i32 = e / ${CHANNELS * OUT_W * OUT_H} * ${IN_H};
  let y: vec2i = (image + vec2i(row.xy)) * ${IN_W};
  let x: vec2i = vec2i(column.xy);
  var above: f32 = in0_value((y.x + x.x) * ${CHANNELS} + c) * column.z;
#if LINEAR
  above += in0_value((y.x + x.y) * ${CHANNELS} + c) * column.w;
  var below: f32 = in0_value((y.y + x.x) * ${CHANNELS} + c) * column.z;
  below += in0_value((y.y + x.y) * ${CHANNELS} + c) * column.w;
  above = above * row.z + below * row.w;
#endif
  return above;
}
