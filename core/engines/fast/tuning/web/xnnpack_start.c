// Initialises XNNPACK in a browser on x86. Some of its choices of float32 matrix kernels are replaced by
// ones that ran faster: in SIMD128 XNNPACK goes by the number of processors, while the browsers' compilers
// make the difference. All candidates sum the products of an element in the same order, so the choice
// changes no bit of a result.
//
// GFLOP/s on one thread of a Xeon with AVX-512, 780x576 by 576x128, the microkernels called one by one:
//                                    Chromium 156   Firefox 153   WebKitGTK 2.50
//   SIMD128   4x8 splat (XNNPACK's)          29.5          25.2             26.0
//             4x8 loadsplat                  35.1          31.4             28.8
//             6x8 loadsplat                  33.9          26.8             29.7
//   relaxed   4x8 loadsplat (XNNPACK's)      43.5          40.8
//             6x8 loadsplat                  55.3          35.9
//
// core/engines/fast/xnnpack.cmake compiles this once for each kind of SIMD, with XNNPACK's headers, and
// renames XNNPACK's own xnn_initialize.
#include <emscripten.h>

#include "core/engines/fast/tuning/web/f32_row_wasm.h"
#include "xnnpack.h"
#include "xnnpack/config.h"
#include "xnnpack/gemm.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/igemm.h"
#include "xnnpack/init-once.h"
#include "xnnpack/microfnptr.h"

enum xnn_status xnn_initialize_untuned(const struct xnn_allocator* allocator);

// 'c' Chromium, 'f' Firefox, 's' Safari and WebKitGTK; 0 anything else.
EM_JS(int, ds_browser, (void), {
  const agent = typeof navigator === "object" ? navigator.userAgent : "";
  const letters = [["Chrom", "c"], ["Firefox", "f"], ["AppleWebKit", "s"]];
  const found = letters.find(([name]) => agent.includes(name));
  return found ? found[1].charCodeAt(0) : 0;
});

#if XNN_ARCH_WASMRELAXEDSIMD
#define PLAIN wasmrelaxedsimd_fma_loadsplat
#define MINMAX wasmrelaxedsimd_fma_loadsplat
#else
#define PLAIN wasmsimd_loadsplat
#define MINMAX wasmsimd_x86_loadsplat
#endif

#define JOINED(kernel, rows, name) kernel##ukernel_##rows##x8__##name
#define JOIN(kernel, rows, name) JOINED(kernel, rows, name)
#define GEMM(kind, rows, name) \
  xnn_init_hmp_gemm_ukernel((xnn_gemm_ukernel_fn)JOIN(xnn_f32_gemm_##kind, rows, name))
#define IGEMM(kind, rows, name) \
  xnn_init_hmp_igemm_ukernel((xnn_igemm_ukernel_fn)JOIN(xnn_f32_igemm_##kind, rows, name))

// The kernels for tiles of `rows` rows and 8 columns.
#define SET_TILE(config, rows)                                       \
  do {                                                               \
    (config)->linear.gemm[rows - 1] = GEMM(, rows, PLAIN);           \
    (config)->linear.igemm[rows - 1] = IGEMM(, rows, PLAIN);         \
    (config)->relu.gemm[rows - 1] = GEMM(relu_, rows, PLAIN);        \
    (config)->relu.igemm[rows - 1] = IGEMM(relu_, rows, PLAIN);      \
    (config)->minmax.gemm[rows - 1] = GEMM(minmax_, rows, MINMAX);   \
    (config)->minmax.igemm[rows - 1] = IGEMM(minmax_, rows, MINMAX); \
  } while (0)

static void init_tuned_config(void) {
  // XNNPACK returns its static, writable configuration as const.
  struct xnn_gemm_config* config = (struct xnn_gemm_config*)xnn_init_f32_gemm_config();
  if (config == NULL || config->nr != 8 || !xnn_init_hardware_config()->is_x86) return;
  SET_TILE(config, 1);
  SET_TILE(config, 4);
  config->linear.gemm[0] = xnn_init_hmp_gemm_ukernel((xnn_gemm_ukernel_fn)ds_f32_gemm_1x8);
  config->relu.gemm[0] = xnn_init_hmp_gemm_ukernel((xnn_gemm_ukernel_fn)ds_f32_gemm_relu_1x8);
  config->minmax.gemm[0] = xnn_init_hmp_gemm_ukernel((xnn_gemm_ukernel_fn)ds_f32_gemm_minmax_1x8);
  config->mr = 4;
#if XNN_ARCH_WASMRELAXEDSIMD
  const int six_rows = ds_browser() == 'c';
#else
  const int six_rows = ds_browser() == 's';
#endif
  if (six_rows) {
    SET_TILE(config, 6);
    config->mr = 6;
  }
}

XNN_INIT_ONCE_GUARD(tuned);

enum xnn_status xnn_initialize(const struct xnn_allocator* allocator) {
  const enum xnn_status status = xnn_initialize_untuned(allocator);
  if (status == xnn_status_success) XNN_INIT_ONCE(tuned);
  return status;
}
