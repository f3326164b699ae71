// Initialises XNNPACK on the PC. With AVX-512 its float32 matrix kernels compute 32 columns at a time, of
// which a convolution with 16 channels wastes half. For fewer columns than a tile XNNPACK uses a
// second configuration, which on x86 contains an SSE tile that it then does not use; here it gets
// tiles of 16 columns. The largest tiles are our own. All sum the products of an element in the same
// order.
//
// core/engines/fast/xnnpack.cmake compiles this with XNNPACK's headers, and renames XNNPACK's own
// xnn_initialize.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/engines/fast/tuning/native/f32_max_pool.h"
#include "core/engines/fast/tuning/native/f32_tiles_avx512.h"
#include "xnnpack.h"
#include "xnnpack/config.h"
#include "xnnpack/gemm.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/igemm.h"
#include "xnnpack/init-once.h"
#include "xnnpack/microfnptr.h"
#include "xnnpack/pack.h"
#include "xnnpack/packw.h"
#include "xnnpack/vunary.h"

enum xnn_status xnn_initialize_untuned(const struct xnn_allocator* allocator);

#if XNN_ARCH_X86_64
#define SET_KERNELS(config, rows, gemm_kernel, igemm_kernel)                                             \
  do {                                                                                                   \
    (config)->minmax.gemm[rows - 1] = xnn_init_hmp_gemm_ukernel((xnn_gemm_ukernel_fn)(gemm_kernel));     \
    (config)->minmax.igemm[rows - 1] = xnn_init_hmp_igemm_ukernel((xnn_igemm_ukernel_fn)(igemm_kernel)); \
  } while (0)
#define SET_WIDE(rows, columns) SET_TILE(wide, rows, columns)
#define SET_NARROW(rows, columns) SET_TILE(narrow, rows, columns)
#define SET_TILE(config, rows, columns)                                      \
  SET_KERNELS(config, rows, ds_f32_gemm_minmax_##rows##x##columns##_avx512f, \
              ds_f32_igemm_minmax_##rows##x##columns##_avx512f);

// XNNPACK's sigmoid for AVX-512 returns NaN for numbers beyond about 1e19, where the result has long been
// 0 or 1: its input is clamped.
static void sigmoid_avx512(size_t batch, const float* x, float* y,
                           const struct xnn_f32_default_params* params) {
  enum { chunk = 1024 };
  float near[chunk];
  for (size_t rest = batch / sizeof(float); rest > 0;) {
    const size_t count = rest < chunk ? rest : chunk;
    for (size_t i = 0; i < count; ++i) {
      const float raised = x[i] < -128.0f ? -128.0f : x[i];
      near[i] = raised > 128.0f ? 128.0f : raised;
    }
    xnn_f32_vsigmoid_ukernel__avx512f_rr2_lut32_p2_perm2_scalef_div_u64(count * sizeof(float), near, y,
                                                                        params);
    x += count, y += count, rest -= count;
  }
}

static void init_tuned_functions(void) {
  struct xnn_unary_elementwise_config* config =
      (struct xnn_unary_elementwise_config*)xnn_init_f32_sigmoid_config();
  const xnn_vunary_ukernel_fn for_avx512 =
      (xnn_vunary_ukernel_fn)xnn_f32_vsigmoid_ukernel__avx512f_rr2_lut32_p2_perm2_scalef_div_u64;
  if (config != NULL && config->ukernel == for_avx512)
    config->ukernel = (xnn_vunary_ukernel_fn)sigmoid_avx512;
  // By the processor's own instruction: the square root by estimates returns NaN for infinity.
  config = (struct xnn_unary_elementwise_config*)xnn_init_f32_sqrt_config();
  if (config == NULL) return;
  config->ukernel =
      (xnn_vunary_ukernel_fn)(xnn_init_hardware_config()->use_x86_avx ? xnn_f32_vsqrt_ukernel__avx_sqrt_u16
                                                                      : xnn_f32_vsqrt_ukernel__sse_sqrt_u8);
}

static void init_max_pool(void) {
  struct xnn_maxpool_config* config = (struct xnn_maxpool_config*)xnn_init_f32_maxpool_config();
  const struct xnn_hardware_config* hardware = xnn_init_hardware_config();
  if (config == NULL || !hardware->use_x86_avx) return;
  config->ukernel =
      (xnn_maxpool_ukernel_fn)(hardware->use_x86_avx512f ? ds_f32_max_pool_avx512f : ds_f32_max_pool_avx);
  // All taps of a window at once, for any number of them.
  config->first_pass_tile_size = 1;
  config->remainder_pass_tile_size = 1;
}

static void init_tuned_config(void) {
  init_tuned_functions();
  init_max_pool();
  // XNNPACK returns its static, writable configurations as const.
  struct xnn_gemm_config* wide = (struct xnn_gemm_config*)xnn_init_f32_gemm_config();
  struct xnn_gemm_config* narrow = (struct xnn_gemm_config*)xnn_init_f32_gemm_nr2_config();
  if (wide == NULL || narrow == NULL || wide->nr != 32 || wide->mr != 7) return;
  // Among these tiles XNNPACK chooses the one with the least waste.
  DS_EACH_WIDE_TILE(SET_WIDE)
  wide->mr = 12;
  // It uses the second configuration if that has a kernel with one row more than the first one's tile.
  memset(&narrow->minmax, 0, sizeof narrow->minmax);
  DS_EACH_NARROW_TILE(SET_NARROW)
  narrow->mr = 13;
  narrow->nr = 16;
  narrow->log2_kr = 0;
  narrow->log2_sr = 0;
  narrow->init.f32 = wide->init.f32;
  narrow->pack_gemm_gio = wide->pack_gemm_gio;
  narrow->pack_gemm_goi = (xnn_packw_gemm_goi_ukernel_fn)xnn_x32_packw_gemm_goi_ukernel_x16__avx512f_u4_prfm;
}
#else
static void init_tuned_config(void) {}
#endif

XNN_INIT_ONCE_GUARD(tuned);

// Packed weights of megabytes in large pages: a matrix of fully connected weights is read once per run,
// and address translation was a part of that time.
static void* allocate_aligned(void* context, size_t alignment, size_t size) {
  (void)context;
  const size_t large_page = (size_t)2 << 20;
  const size_t large = size / large_page * large_page;
  void* memory = NULL;
  if (posix_memalign(&memory, large > 0 ? large_page : alignment, size) != 0) return NULL;
  if (large > 0) madvise(memory, large, MADV_HUGEPAGE);  // a hint; without it the memory has small pages
  return memory;
}
static void free_aligned(void* context, void* memory) {
  (void)context;
  free(memory);
}
static void* allocate(void* context, size_t size) {
  (void)context;
  return malloc(size);
}
static void* reallocate(void* context, void* memory, size_t size) {
  (void)context;
  return realloc(memory, size);
}
static const struct xnn_allocator large_page_allocator = {.allocate = allocate,
                                                          .reallocate = reallocate,
                                                          .deallocate = free_aligned,
                                                          .aligned_allocate = allocate_aligned,
                                                          .aligned_deallocate = free_aligned};

enum xnn_status xnn_initialize(const struct xnn_allocator* allocator) {
  const enum xnn_status status =
      xnn_initialize_untuned(allocator != NULL ? allocator : &large_page_allocator);
  if (status == xnn_status_success) XNN_INIT_ONCE(tuned);
  return status;
}
