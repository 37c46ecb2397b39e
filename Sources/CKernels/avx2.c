#if defined(__x86_64__)
#include "variants.h"
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma,f16c")))

TARGET static inline float sum_lanes(__m256 value) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps(value, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}

#define VEC __m256
#define WIDTH 8
#define TILE_ROWS 3
#define TILE_BATCH 4
#define ZERO _mm256_setzero_ps()
#define SPLAT(value) _mm256_set1_ps(value)
#define LOADX(at) _mm256_loadu_ps(at)
#define STOREX(at, value) _mm256_storeu_ps(at, value)
#define FMA(a, b, sum) _mm256_fmadd_ps(a, b, sum)
#define REDUCE(value) sum_lanes(value)
#define LOAD_F32(at) _mm256_loadu_ps((const float *)(const void *)(at))
#define LOAD_F16(at) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(at)))
#define LOAD_BF16(at)                                                                                                  \
    _mm256_castsi256_ps(                                                                                               \
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(at))), 16))
#define KERNELS hub_kernels_avx2
#define LABEL "avx2"
#include "vector_template.h"
#endif
