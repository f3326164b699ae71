// To be included before any Highway header: which instruction sets are compiled. On x86 SSE4, AVX2
// and AVX-512 (128, 256 and 512 bits) and plain C++ for older processors; one static target in
// wasm.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
