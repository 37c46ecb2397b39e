#if defined(__x86_64__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#define LANES 8
#define LABEL "avx2"
// Of 16 registers: four sums, four totals, the weights and what a product needs.
#define MANY_ROWS 4
#define DOT_TAKES_ANY_BYTE 0
#include "tile/vector.h"

/// 16 bytes of each of the tile's rows; vector c gets the rows' word c.
INLINE void load_rows(const uint8_t *at, size_t stride, vu v[4]) {
    __m256i r[4];
    UNROLL for (size_t i = 0; i < 4; i++)
        r[i] = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(at + i * stride))),
            _mm_loadu_si128((const __m128i *)(const void *)(at + (4 + i) * stride)), 1);
    __m256i low01 = _mm256_unpacklo_epi32(r[0], r[1]), high01 = _mm256_unpackhi_epi32(r[0], r[1]);
    __m256i low23 = _mm256_unpacklo_epi32(r[2], r[3]), high23 = _mm256_unpackhi_epi32(r[2], r[3]);
    v[0] = (vu)_mm256_unpacklo_epi64(low01, low23);
    v[1] = (vu)_mm256_unpackhi_epi64(low01, low23);
    v[2] = (vu)_mm256_unpacklo_epi64(high01, high23);
    v[3] = (vu)_mm256_unpackhi_epi64(high01, high23);
}

/// For bytes up to 127: two products of up to 127 * 127 fit 16 bits.
INLINE vi dot(vi sum, vu w, int32_t four) {
    __m256i pairs = _mm256_maddubs_epi16((__m256i)w, _mm256_set1_epi32(four));
    return sum + (vi)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}
/// For signed bytes: two products of up to 128 * 127 fit 16 bits.
INLINE vi dot_signed(vi sum, vu w, int32_t four) {
    __m256i x = _mm256_sign_epi8(_mm256_set1_epi32(four), (__m256i)w);
    __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8((__m256i)w), x);
    return sum + (vi)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

INLINE vf from_halves(vu v) {
    __m256i packed = _mm256_packus_epi32((__m256i)v, (__m256i)v);
    return (vf)_mm256_cvtph_ps(
        _mm_unpacklo_epi64(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1)));
}
INLINE vf load_halves(const uint16_t *at) {
    return (vf)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)at));
}
INLINE vf load_bytes(const int8_t *at) {
    return FLOATS((vi)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)at)));
}
INLINE vu iq4_lookup(vu w) {
    const __m128i values = _mm_setr_epi8(
        1, 24, 45, 63, 79, 93, 106, 118, (char)129, (char)141, (char)153, (char)166, (char)181, (char)197, (char)217,
        (char)241);
    return (vu)_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(values), (__m256i)w);
}

#include "tile/tile.h"
#include "tile/between.h"
#include "tile/attention.h"
#include "tile/table.h"
const hub_kernels hub_kernels_avx2 = TABLE(NULL);
#pragma clang attribute pop
#endif
