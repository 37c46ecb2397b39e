#if defined(__x86_64__)
#include "variants.h"
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx2,fma,f16c")))
#define VEC __m512
#define WIDTH 16
#define TILE_ROWS 4
#define TILE_BATCH 6
#define ZERO _mm512_setzero_ps()
#define SPLAT(value) _mm512_set1_ps(value)
#define LOADX(at) _mm512_loadu_ps(at)
#define STOREX(at, value) _mm512_storeu_ps(at, value)
#define FMA(a, b, sum) _mm512_fmadd_ps(a, b, sum)
#define REDUCE(value) _mm512_reduce_add_ps(value)
#define LOAD_F32(at) _mm512_loadu_ps((const float *)(const void *)(at))
#define LOAD_F16(at) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(at)))
#define LOAD_BF16(at)                                                                                                  \
    _mm512_castsi512_ps(                                                                                               \
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(at))), 16))
#define KERNELS hub_kernels_avx512
#define LABEL "avx512"
#include "vector_template.h"
#endif
