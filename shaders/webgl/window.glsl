// Where the window of output pixel r begins, in an image whose channels lie last: x, y, and the first row of its
// image among all rows.
ivec3 window_of(int r) {
  return ivec3(r % ${OUT_W} * ${STRIDE_X} - ${PAD_X}, r / ${OUT_W} % ${OUT_H} * ${STRIDE_Y} - ${PAD_Y},
               r / ${OUT_W * OUT_H} * ${IN_H});
}

// The pixel under tap (ky, kx), or -1 in the padding.
int tap_of(ivec3 window, int ky, int kx) {
  int x = window.x + kx * ${DILATION_X};
  int y = window.y + ky * ${DILATION_Y};
  bool inside = x >= 0 && x < ${IN_W} && y >= 0 && y < ${IN_H};
  return inside ? (window.z + y) * ${IN_W} + x : -1;
}
