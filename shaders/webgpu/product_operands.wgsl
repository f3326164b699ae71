// The factors of a product Y (M x N, ROWS of them) = A (M x K) times B (K x N), four numbers at once along K and N;
// zeros beyond the edges. A is a matrix, or the windows of an image whose channels lie last (N, H, W, C).
const M = ${M}u;
const N4 = ${(N + 3) / 4}u;
const K = ${K}u;
const K4 = ${(K + 3) / 4}u;

#if A_VECTORS
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
#else
@group(0) @binding(0) var<storage, read> a: array<f32>;
#endif
#if B_VECTORS
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
#else
@group(0) @binding(1) var<storage, read> b: array<f32>;
#endif

#if WINDOWS
#if A_VECTORS
const C = ${C / 4}u;
#else
const C = ${C}u;
#endif

// Where tap (ky, kx) of the window of output m begins in the image; -1: in the padding.
fn tap_at(m: u32, ky: u32, kx: u32) -> i32 {
  let ox = m % ${OUT_W}u;
  let oy = m / ${OUT_W}u % ${OUT_H}u;
  let n = m / ${OUT_W * OUT_H}u;
  let iy = i32(oy * ${STRIDE_Y}u + ky * ${DILATION_Y}u) - ${PAD_Y};
  let ix = i32(ox * ${STRIDE_X}u + kx * ${DILATION_X}u) - ${PAD_X};
  let inside = (m < M) & (iy >= 0) & (iy < ${IN_H}) & (ix >= 0) & (ix < ${IN_W});
  return select(-1, ((i32(n) * ${IN_H} + iy) * ${IN_W} + ix) * i32(C), inside);
}
#endif

// Without branches: drivers compile many of them for seconds.
#if WINDOWS && !A_VECTORS
fn window_element(m: u32, k: u32) -> f32 {
  let at = tap_at(m, k / ${C * KERNEL_W}u, k / C % ${KERNEL_W}u);
  let value = a[u32(max(at, 0)) + k % C];
  return select(0.0, value, (at >= 0) & (k < K));
}
#endif

// A[m][4*k4 .. 4*k4 + 3]
fn load_a(batch: u32, m: u32, k4: u32) -> vec4f {
#if WINDOWS && A_VECTORS
  if (k4 >= K4) {
    return vec4f();
  }
  let at = tap_at(m, k4 / (C * ${KERNEL_W}u), k4 / C % ${KERNEL_W}u);
  if (at < 0) {
    return vec4f();
  }
  return a[u32(at) + k4 % C];
#elif WINDOWS
  let k = 4u * k4;
  return vec4f(window_element(m, k), window_element(m, k + 1u), window_element(m, k + 2u), window_element(m, k + 3u));
#elif A_VECTORS
  if (m >= M || k4 >= K4) {
    return vec4f();
  }
  return a[(${A_BATCH}) * (M * K4) + m * K4 + k4];
#else
  let k = 4u * k4;
  let row = (${A_BATCH}) * (M * K) + min(m, M - 1u) * K;
  let places = min(vec4u(k, k + 1u, k + 2u, k + 3u), vec4u(K - 1u));
  let value = vec4f(a[row + places.x], a[row + places.y], a[row + places.z], a[row + places.w]);
  let inside = vec4u(k, k + 1u, k + 2u, k + 3u) < vec4u(K);
  return select(vec4f(), value, inside & vec4<bool>(m < M));
#endif
}

#if !B_VECTORS
fn element_b(batch: u32, k: u32, n: u32) -> f32 {
  let inside = (k < K) & (n < ${N}u);
#if B_TRANSPOSED
  let value = b[(${B_BATCH}) * ${K * N}u + min(n, ${N - 1}u) * K + min(k, K - 1u)];
#else
  let value = b[(${B_BATCH}) * ${K * N}u + min(k, K - 1u) * ${N}u + min(n, ${N - 1}u)];
#endif
  return select(0.0, value, inside);
}
#endif

// B[k][4*n4 .. 4*n4 + 3]
fn load_b(batch: u32, k: u32, n4: u32) -> vec4f {
#if B_VECTORS
  if (k >= ${B_ROWS}u || n4 >= N4) {
    return vec4f();
  }
  return b[(${B_BATCH}) * ${B_ROWS * ((N + 3) / 4)}u + k * N4 + n4];
#else
  let n = 4u * n4;
  return vec4f(element_b(batch, k, n), element_b(batch, k, n + 1u), element_b(batch, k, n + 2u), element_b(batch, k, n + 3u));
#endif
}

// The same where k is inside, for the nearest n4 that is.
fn load_b_inside(batch: u32, k: u32, n4: u32) -> vec4f {
#if B_VECTORS
  return b[(${B_BATCH}) * ${B_ROWS * ((N + 3) / 4)}u + k * N4 + min(n4, N4 - 1u)];
#else
  return load_b(batch, k, n4);
#endif
}
