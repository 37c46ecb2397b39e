// AVX-512 with VNNI; the products of bf16 numbers are in avx512_bf16.c, for not all such processors have them.
#if defined(__x86_64__)
#include <immintrin.h>
#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c"))), apply_to = function)
#define LABEL "avx512"
// Sums of twelve rows of activations, their totals and the weights fit the registers.
#define MANY_ROWS 12
#define PAIR_ROWS 12
#define ROWS_AT_ONCE 12
#define DOT_TAKES_ANY_BYTE 1
#include "avx512.h"

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
#include "tile/recurrence.h"
#include "tile/planes.h"
#include "tile/table.h"
const hub_kernels hub_kernels_avx512 = TABLE(NULL);
const hub_kernels hub_kernels_avx512_bf16 = TABLE(hub_tile_bf16_avx512);
#pragma clang attribute pop

const hub_kernels *hub_kernels_avx512_here(void) {
    return __builtin_cpu_supports("avx512bf16") ? &hub_kernels_avx512_bf16 : &hub_kernels_avx512;
}
#endif
