#pragma once
#include <arm_neon.h>
#define LANES 4
#define LABEL "neon"
// Of 32 registers: eight sums, eight totals, the weights and what a product needs.
#define MANY_ROWS 8
#define DOT_TAKES_ANY_BYTE 0
#include "tile/vector.h"

/// 16 bytes of each of the tile's rows; vector c gets the rows' word c. Loads go through bytes: a weight may be unaligned.
INLINE void load_rows(const uint8_t *at, size_t stride, vu v[4]) {
    uint32x4_t r0 = vreinterpretq_u32_u8(vld1q_u8(at)), r1 = vreinterpretq_u32_u8(vld1q_u8(at + stride));
    uint32x4_t r2 = vreinterpretq_u32_u8(vld1q_u8(at + 2 * stride)), r3 = vreinterpretq_u32_u8(vld1q_u8(at + 3 * stride));
    uint32x4_t a = vtrn1q_u32(r0, r1), b = vtrn2q_u32(r0, r1), c = vtrn1q_u32(r2, r3), d = vtrn2q_u32(r2, r3);
    v[0] = (vu)vtrn1q_u64(vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(c));
    v[1] = (vu)vtrn1q_u64(vreinterpretq_u64_u32(b), vreinterpretq_u64_u32(d));
    v[2] = (vu)vtrn2q_u64(vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(c));
    v[3] = (vu)vtrn2q_u64(vreinterpretq_u64_u32(b), vreinterpretq_u64_u32(d));
}

/// For signed bytes; unsigned ones up to 127 are the same.
INLINE vi dot_signed(vi sum, vu w, int32_t four) {
    int8x16_t weights = (int8x16_t)w, x = vreinterpretq_s8_s32(vdupq_n_s32(four));
#ifdef WITH_DOT_PRODUCT
    return (vi)vdotq_s32((int32x4_t)sum, weights, x);
#else
    int16x8_t low = vmull_s8(vget_low_s8(weights), vget_low_s8(x)), high = vmull_high_s8(weights, x);
    return sum + (vi)vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high));
#endif
}
INLINE vi dot(vi sum, vu w, int32_t four) { return dot_signed(sum, w, four); }

INLINE vf from_halves(vu v) {
    return (vf)vcvt_f32_f16(vreinterpret_f16_u16(vmovn_u32((uint32x4_t)v)));
}
INLINE vf load_halves(const uint16_t *at) { return (vf)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(at))); }
INLINE vf load_bytes(const int8_t *at) {
    int32_t four;
    memcpy(&four, at, sizeof four);
    return FLOATS((vi)vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four))))));
}
INLINE vu iq4_lookup(vu w) {
    static const uint8_t values[16] = {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};
    return (vu)vqtbl1q_u8(vld1q_u8(values), (uint8x16_t)w);
}

#include "tile/tile.h"
#include "tile/between.h"
#include "tile/attention.h"
#include "tile/table.h"
