// AVX-512 with VNNI; the products of bf16 numbers are in avx512_bf16.c, for not all such processors have them.
#if defined(__x86_64__)
#include <immintrin.h>
#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c"))), apply_to = function)
#define LANES 16
#define LABEL "avx512"
// Sums of twelve rows of activations, their totals and the weights fit the registers.
#define MANY_ROWS 12
#define DOT_TAKES_ANY_BYTE 1
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
/// The sum of each row's words, from pieces.
INLINE vi sum_pieces(const vi v[4]) {
    __m512i a = _mm512_add_epi32(
        _mm512_unpacklo_epi32((__m512i)v[0], (__m512i)v[1]), _mm512_unpackhi_epi32((__m512i)v[0], (__m512i)v[1]));
    __m512i b = _mm512_add_epi32(
        _mm512_unpacklo_epi32((__m512i)v[2], (__m512i)v[3]), _mm512_unpackhi_epi32((__m512i)v[2], (__m512i)v[3]));
    return (vi)_mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}
/// The same 16 bytes for every row.
INLINE vu spread(const void *at) { return (vu)_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)at)); }
/// In each 16 bytes, those that the index names.
INLINE vu shuffle(vu bytes, vu index) { return (vu)_mm512_shuffle_epi8((__m512i)bytes, (__m512i)index); }

INLINE vi dot(vi sum, vu w, vu x) { return (vi)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)w, (__m512i)x); }
INLINE vi dot_signed(vi sum, vu w, vu x) {
    (void)w, (void)x; // never called: dot takes any byte
    return sum;
}

INLINE vf load_bytes(const int8_t *at) {
    return FLOATS((vi)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)at)));
}

#include "tile/tile.h"
#include "tile/between.h"
#include "tile/attention.h"
#include "tile/table.h"
const hub_kernels hub_kernels_avx512 = TABLE(NULL);
const hub_kernels hub_kernels_avx512_bf16 = TABLE(hub_tile_bf16_avx512);
#pragma clang attribute pop

const hub_kernels *hub_kernels_avx512_here(void) {
    return __builtin_cpu_supports("avx512bf16") ? &hub_kernels_avx512_bf16 : &hub_kernels_avx512;
}
#endif
