// How rows of weights come into vectors of 16 lanes. The including file includes immintrin.h and chooses the targets.
#pragma once
#define LANES 16
#include "tile/vector.h"

/// 16 bytes of each of the tile's rows: vector k gets those of rows k, 4 + k, 8 + k and 12 + k.
INLINE void load_pieces(const uint8_t *at, size_t stride, vu v[4]) {
    UNROLL for (size_t k = 0; k < 4; k++, at += stride) {
        __m512i r = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)at));
        UNROLL for (size_t i = 1; i < 4; i++)
            r = _mm512_mask_broadcast_i32x4(
                r, (__mmask16)(15 << 4 * i), _mm_loadu_si128((const __m128i *)(const void *)(at + 4 * i * stride)));
        v[k] = (vu)r;
    }
}
/// Numbers of a table, by indices up to 15.
INLINE vf look_up(const float table[16], vu index) {
    return (vf)_mm512_permutexvar_ps((__m512i)index, _mm512_loadu_ps(table));
}
/// Points of a grid, by indices of 64 bits, or of 32.
INLINE vu look_up_eight(const uint64_t *grid, vu index) { return (vu)_mm512_i64gather_epi64((__m512i)index, grid, 8); }
INLINE vu look_up_four(const uint32_t *grid, vu index) { return (vu)_mm512_i32gather_epi32((__m512i)index, grid, 4); }
/// From four rows of bytes to words of four: vector c gets those of each 16 bytes' word c.
INLINE void mix(vu v[4]) {
    __m512i low01 = _mm512_unpacklo_epi8((__m512i)v[0], (__m512i)v[1]);
    __m512i high01 = _mm512_unpackhi_epi8((__m512i)v[0], (__m512i)v[1]);
    __m512i low23 = _mm512_unpacklo_epi8((__m512i)v[2], (__m512i)v[3]);
    __m512i high23 = _mm512_unpackhi_epi8((__m512i)v[2], (__m512i)v[3]);
    v[0] = (vu)_mm512_unpacklo_epi16(low01, low23);
    v[1] = (vu)_mm512_unpackhi_epi16(low01, low23);
    v[2] = (vu)_mm512_unpacklo_epi16(high01, high23);
    v[3] = (vu)_mm512_unpackhi_epi16(high01, high23);
}
/// From pieces to words: vector c gets the rows' word c.
INLINE void turn(vu v[4]) {
    __m512i low01 = _mm512_unpacklo_epi32((__m512i)v[0], (__m512i)v[1]);
    __m512i high01 = _mm512_unpackhi_epi32((__m512i)v[0], (__m512i)v[1]);
    __m512i low23 = _mm512_unpacklo_epi32((__m512i)v[2], (__m512i)v[3]);
    __m512i high23 = _mm512_unpackhi_epi32((__m512i)v[2], (__m512i)v[3]);
    v[0] = (vu)_mm512_unpacklo_epi64(low01, low23);
    v[1] = (vu)_mm512_unpackhi_epi64(low01, low23);
    v[2] = (vu)_mm512_unpacklo_epi64(high01, high23);
    v[3] = (vu)_mm512_unpackhi_epi64(high01, high23);
}
