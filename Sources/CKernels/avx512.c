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

/// 16 bytes of each of the tile's rows; vector c gets the rows' word c.
INLINE void load_rows(const uint8_t *at, size_t stride, vu v[4]) {
    __m512i r[4];
    UNROLL for (size_t i = 0; i < 4; i++) {
        // Rows i, 4 + i, 8 + i, 12 + i.
        r[i] = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)(at + i * stride)));
        r[i] = _mm512_mask_broadcast_i32x4(
            r[i], 0x00F0, _mm_loadu_si128((const __m128i *)(const void *)(at + (4 + i) * stride)));
        r[i] = _mm512_mask_broadcast_i32x4(
            r[i], 0x0F00, _mm_loadu_si128((const __m128i *)(const void *)(at + (8 + i) * stride)));
        r[i] = _mm512_mask_broadcast_i32x4(
            r[i], 0xF000, _mm_loadu_si128((const __m128i *)(const void *)(at + (12 + i) * stride)));
    }
    __m512i low01 = _mm512_unpacklo_epi32(r[0], r[1]), high01 = _mm512_unpackhi_epi32(r[0], r[1]);
    __m512i low23 = _mm512_unpacklo_epi32(r[2], r[3]), high23 = _mm512_unpackhi_epi32(r[2], r[3]);
    v[0] = (vu)_mm512_unpacklo_epi64(low01, low23);
    v[1] = (vu)_mm512_unpackhi_epi64(low01, low23);
    v[2] = (vu)_mm512_unpacklo_epi64(high01, high23);
    v[3] = (vu)_mm512_unpackhi_epi64(high01, high23);
}

INLINE vi dot(vi sum, vu w, int32_t four) {
    return (vi)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)w, _mm512_set1_epi32(four));
}
INLINE vi dot_signed(vi sum, vu w, int32_t four) {
    (void)w, (void)four; // never called: dot takes any byte
    return sum;
}

INLINE vf from_halves(vu v) { return (vf)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)v)); }
INLINE vf load_halves(const uint16_t *at) {
    return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)at));
}
INLINE vf load_bytes(const int8_t *at) {
    return FLOATS((vi)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)at)));
}
INLINE vu iq4_lookup(vu w) {
    const __m128i values = _mm_setr_epi8(
        1, 24, 45, 63, 79, 93, 106, 118, (char)129, (char)141, (char)153, (char)166, (char)181, (char)197, (char)217,
        (char)241);
    return (vu)_mm512_shuffle_epi8(_mm512_broadcast_i32x4(values), (__m512i)w);
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
