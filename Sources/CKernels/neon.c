#if defined(__aarch64__)
#include "variants.h"
#include <arm_neon.h>

// Every AArch64 CPU has these instructions, so no target attribute is needed. Loads go through bytes: a weight may be
// unaligned.
#define TARGET
#define VEC float32x4_t
#define WIDTH 4
#define TILE_ROWS 4
#define TILE_BATCH 6
#define ZERO vdupq_n_f32(0)
#define SPLAT(value) vdupq_n_f32(value)
#define LOADX(at) vld1q_f32(at)
#define STOREX(at, value) vst1q_f32(at, value)
#define FMA(a, b, sum) vfmaq_f32(sum, a, b)
#define REDUCE(value) vaddvq_f32(value)
#define LOAD_F32(at) vreinterpretq_f32_u8(vld1q_u8(at))
#define LOAD_F16(at) vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(at)))
#define LOAD_BF16(at) vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(at)), 16))
#define KERNELS hub_kernels_neon
#define LABEL "neon"
#include "vector_template.h"
#endif
