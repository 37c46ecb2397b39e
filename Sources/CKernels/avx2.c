#if defined(__x86_64__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#define LANES 8
#define LABEL "avx2"
// Of 16 registers: four sums, four totals, the weights and what a product needs.
#define MANY_ROWS 4
#define PAIR_ROWS 6
#define ROWS_AT_ONCE 2
#define DOT_TAKES_ANY_BYTE 0
#include "tile/vector.h"

/// 16 bytes of each of the tile's rows: vector k gets those of rows k and 4 + k.
INLINE void load_pieces(const uint8_t *at, size_t stride, vu v[4]) {
    UNROLL for (size_t k = 0; k < 4; k++, at += stride)
        v[k] = (vu)_mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)at)),
            _mm_loadu_si128((const __m128i *)(const void *)(at + 4 * stride)), 1);
}
/// Numbers of a table, by indices up to 15.
INLINE vf look_up(const float table[16], vu index) {
    __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), (__m256i)index);
    __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), (__m256i)index);
    // Bit 3 as the sign.
    return (vf)_mm256_blendv_ps(low, high, (__m256)(index << 28));
}
/// Points of a grid, by indices of 64 bits, or of 32.
INLINE vu look_up_eight(const uint64_t *grid, vu index) {
    return (vu)_mm256_i64gather_epi64((const long long *)(const void *)grid, (__m256i)index, 8);
}
INLINE vu look_up_four(const uint32_t *grid, vu index) {
    return (vu)_mm256_i32gather_epi32((const int *)(const void *)grid, (__m256i)index, 4);
}
/// From four rows of bytes to words of four: vector c gets those of each 16 bytes' word c.
INLINE void mix(vu v[4]) {
    __m256i low01 = _mm256_unpacklo_epi8((__m256i)v[0], (__m256i)v[1]);
    __m256i high01 = _mm256_unpackhi_epi8((__m256i)v[0], (__m256i)v[1]);
    __m256i low23 = _mm256_unpacklo_epi8((__m256i)v[2], (__m256i)v[3]);
    __m256i high23 = _mm256_unpackhi_epi8((__m256i)v[2], (__m256i)v[3]);
    v[0] = (vu)_mm256_unpacklo_epi16(low01, low23);
    v[1] = (vu)_mm256_unpackhi_epi16(low01, low23);
    v[2] = (vu)_mm256_unpacklo_epi16(high01, high23);
    v[3] = (vu)_mm256_unpackhi_epi16(high01, high23);
}
/// From pieces to words: vector c gets the rows' word c.
INLINE void turn(vu v[4]) {
    __m256i low01 = _mm256_unpacklo_epi32((__m256i)v[0], (__m256i)v[1]);
    __m256i high01 = _mm256_unpackhi_epi32((__m256i)v[0], (__m256i)v[1]);
    __m256i low23 = _mm256_unpacklo_epi32((__m256i)v[2], (__m256i)v[3]);
    __m256i high23 = _mm256_unpackhi_epi32((__m256i)v[2], (__m256i)v[3]);
    v[0] = (vu)_mm256_unpacklo_epi64(low01, low23);
    v[1] = (vu)_mm256_unpackhi_epi64(low01, low23);
    v[2] = (vu)_mm256_unpacklo_epi64(high01, high23);
    v[3] = (vu)_mm256_unpackhi_epi64(high01, high23);
}
/// The sum of each row's words, from pieces.
INLINE vi sum_pieces(const vi v[4]) {
    __m256i a = _mm256_add_epi32(
        _mm256_unpacklo_epi32((__m256i)v[0], (__m256i)v[1]), _mm256_unpackhi_epi32((__m256i)v[0], (__m256i)v[1]));
    __m256i b = _mm256_add_epi32(
        _mm256_unpacklo_epi32((__m256i)v[2], (__m256i)v[3]), _mm256_unpackhi_epi32((__m256i)v[2], (__m256i)v[3]));
    return (vi)_mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}
/// The same 16 bytes for every row.
INLINE vu spread(const void *at) { return (vu)_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)at)); }
/// In each 16 bytes, those that the index names.
INLINE vu shuffle(vu bytes, vu index) { return (vu)_mm256_shuffle_epi8((__m256i)bytes, (__m256i)index); }

/// For bytes up to 127: two products of up to 127 * 127 fit 16 bits.
INLINE vi dot(vi sum, vu w, vu x) {
    __m256i pairs = _mm256_maddubs_epi16((__m256i)w, (__m256i)x);
    return sum + (vi)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}
/// For signed bytes: two products of up to 128 * 127 fit 16 bits.
INLINE vi dot_signed(vi sum, vu w, vu x) {
    __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8((__m256i)w), _mm256_sign_epi8((__m256i)x, (__m256i)w));
    return sum + (vi)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

INLINE vf load_bytes(const int8_t *at) {
    return FLOATS((vi)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)at)));
}

#include "tile/tile.h"
#include "tile/between.h"
#include "tile/attention.h"
#include "tile/recurrence.h"
#include "tile/planes.h"
#include "tile/table.h"
const hub_kernels hub_kernels_avx2 = TABLE(NULL);
#pragma clang attribute pop
#endif
