// Where the window of output pixel r begins, in an image whose channels lie last: x, y, and the first row of its
// image among all rows.
fn window_of(r: i32) -> vec3i {
  return vec3i(r % ${OUT_W} * ${STRIDE_X} - ${PAD_X}, r / ${OUT_W} % ${OUT_H} * ${STRIDE_Y} - ${PAD_Y},
               r / ${OUT_W * OUT_H} * ${IN_H});
}

// The pixel under tap (ky, kx), or -1 in the padding.
fn tap_of(window: vec3i, ky: i32, kx: i32) -> i32 {
  let x: i32 = window.x + kx * ${DILATION_X};
  let y: i32 = window.y + ky * ${DILATION_Y};
  let inside: bool = x >= 0 && x < ${IN_W} && y >= 0 && y < ${IN_H};
  return select(-1, (window.z + y) * ${IN_W} + x, inside);
}
