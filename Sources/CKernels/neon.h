#pragma once
#include <arm_neon.h>
#define LANES 4
#define LABEL "neon"
// Of 32 registers: eight sums, eight totals, the weights and what a product needs.
#define MANY_ROWS 8
#define PAIR_ROWS 12
#define ROWS_AT_ONCE 2
#define DOT_TAKES_ANY_BYTE 0
#include "tile/vector.h"

/// 16 bytes of each of the tile's rows: vector k gets row k's. Loads go through bytes: a weight may be unaligned.
INLINE void load_pieces(const uint8_t *at, size_t stride, vu v[4]) {
    UNROLL for (size_t k = 0; k < 4; k++) v[k] = (vu)vld1q_u8(at + k * stride);
}
/// Numbers of a table, by indices up to 15.
INLINE vf look_up(const float table[16], vu index) {
    // The bytes of number i are 4i to 4i + 3.
    return (vf)vqtbl4q_u8(vld1q_u8_x4((const uint8_t *)table), (uint8x16_t)(index * 0x04040404u + 0x03020100u));
}
/// Points of a grid, by indices of 64 bits, or of 32.
INLINE vu look_up_eight(const uint64_t *grid, vu index) {
    const uint64x2_t at = vreinterpretq_u64_u32((uint32x4_t)index);
    const uint64x1_t low = vld1_u64(grid + vgetq_lane_u64(at, 0)), high = vld1_u64(grid + vgetq_lane_u64(at, 1));
    return (vu)vcombine_u64(low, high);
}
INLINE vu look_up_four(const uint32_t *grid, vu index) { return (vu){grid[index[0]], grid[index[1]], grid[index[2]], grid[index[3]]}; }
/// From four rows of bytes to words of four: vector c gets those of each 16 bytes' word c.
INLINE void mix(vu v[4]) {
    uint8x16_t low01 = vzip1q_u8((uint8x16_t)v[0], (uint8x16_t)v[1]), high01 = vzip2q_u8((uint8x16_t)v[0], (uint8x16_t)v[1]);
    uint8x16_t low23 = vzip1q_u8((uint8x16_t)v[2], (uint8x16_t)v[3]), high23 = vzip2q_u8((uint8x16_t)v[2], (uint8x16_t)v[3]);
    v[0] = (vu)vzip1q_u16(vreinterpretq_u16_u8(low01), vreinterpretq_u16_u8(low23));
    v[1] = (vu)vzip2q_u16(vreinterpretq_u16_u8(low01), vreinterpretq_u16_u8(low23));
    v[2] = (vu)vzip1q_u16(vreinterpretq_u16_u8(high01), vreinterpretq_u16_u8(high23));
    v[3] = (vu)vzip2q_u16(vreinterpretq_u16_u8(high01), vreinterpretq_u16_u8(high23));
}
/// From pieces to words: vector c gets the rows' word c.
INLINE void turn(vu v[4]) {
    uint32x4_t a = vtrn1q_u32((uint32x4_t)v[0], (uint32x4_t)v[1]), b = vtrn2q_u32((uint32x4_t)v[0], (uint32x4_t)v[1]);
    uint32x4_t c = vtrn1q_u32((uint32x4_t)v[2], (uint32x4_t)v[3]), d = vtrn2q_u32((uint32x4_t)v[2], (uint32x4_t)v[3]);
    v[0] = (vu)vtrn1q_u64(vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(c));
    v[1] = (vu)vtrn1q_u64(vreinterpretq_u64_u32(b), vreinterpretq_u64_u32(d));
    v[2] = (vu)vtrn2q_u64(vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(c));
    v[3] = (vu)vtrn2q_u64(vreinterpretq_u64_u32(b), vreinterpretq_u64_u32(d));
}
/// The sum of each row's words, from pieces.
INLINE vi sum_pieces(const vi v[4]) {
    return (vi)vpaddq_s32(
        vpaddq_s32((int32x4_t)v[0], (int32x4_t)v[1]), vpaddq_s32((int32x4_t)v[2], (int32x4_t)v[3]));
}
/// The same 16 bytes for every row.
INLINE vu spread(const void *at) { return (vu)vld1q_u8(at); }
/// In each 16 bytes, those that the index names.
INLINE vu shuffle(vu bytes, vu index) { return (vu)vqtbl1q_u8((uint8x16_t)bytes, (uint8x16_t)index); }

/// For signed bytes; unsigned ones up to 127 are the same.
INLINE vi dot_signed(vi sum, vu w, vu x) {
#ifdef WITH_DOT_PRODUCT
    return (vi)vdotq_s32((int32x4_t)sum, (int8x16_t)w, (int8x16_t)x);
#else
    int16x8_t low = vmull_s8(vget_low_s8((int8x16_t)w), vget_low_s8((int8x16_t)x));
    int16x8_t high = vmull_high_s8((int8x16_t)w, (int8x16_t)x);
    return sum + (vi)vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high));
#endif
}
INLINE vi dot(vi sum, vu w, vu x) { return dot_signed(sum, w, x); }

INLINE vf load_bytes(const int8_t *at) {
    int32_t four;
    memcpy(&four, at, sizeof four);
    return FLOATS((vi)vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four))))));
}

#include "tile/tile.h"
#include "tile/between.h"
#include "tile/attention.h"
#include "tile/recurrence.h"
#include "tile/planes.h"
#include "tile/table.h"
