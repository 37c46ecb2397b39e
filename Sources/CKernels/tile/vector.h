// The vocabulary of the tiles: vectors of LANES numbers, and what Clang offers for all of them.
#pragma once
#include "../kernels.h"
#include <math.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")

typedef float vf __attribute__((ext_vector_type(LANES)));
typedef int32_t vi __attribute__((ext_vector_type(LANES)));
typedef uint32_t vu __attribute__((ext_vector_type(LANES)));

#define FMA(a, b, c) __builtin_elementwise_fma((a), (b), (c))
#define MAX(a, b) __builtin_elementwise_max((a), (b))
#define MIN(a, b) __builtin_elementwise_min((a), (b))
#define ROUND(v) __builtin_elementwise_rint(v)
// Unsigned numbers here are below 2^24: as signed ones they convert with one instruction.
#define FLOATS(v) __builtin_convertvector((vi)(v), vf)
#define INTEGERS(v) __builtin_convertvector((v), vi)

/// Asks for memory that the next tile reads: into the second cache, for with this tile's it would not fit the first.
INLINE void prefetch(const uint8_t *at, size_t bytes) {
    for (size_t line = 0; line < bytes; line += 64) __builtin_prefetch(at + line, 0, 2);
}

// Half floats: their bits, and as the compiler knows them.
typedef uint16_t vh __attribute__((ext_vector_type(LANES)));
typedef _Float16 half_floats __attribute__((ext_vector_type(LANES)));
INLINE vf widen_halves(vh v) { return __builtin_convertvector((half_floats)v, vf); }
INLINE vf load_halves(const uint16_t *at) {
    vh v;
    memcpy(&v, at, sizeof v);
    return widen_halves(v);
}
/// Those in the lower halves of words.
INLINE vf from_halves(vu v) { return widen_halves(__builtin_convertvector(v, vh)); }

/// A half word or a word at the same place of each of a tile's rows.
INLINE vh gather_u16(const uint8_t *at, size_t stride) {
    vh v;
    UNROLL for (size_t lane = 0; lane < LANES; lane++) v[lane] = hub_load_u16(at + lane * stride);
    return v;
}
/// As many numbers of a float format as there are lanes.
INLINE vf load_numbers(const hub_format format, const uint8_t *at) {
    vf v;
    vh h;
    if (format == HUB_F32) {
        memcpy(&v, at, sizeof v);
        return v;
    }
    memcpy(&h, at, sizeof h);
    return format == HUB_F16 ? widen_halves(h) : (vf)(__builtin_convertvector(h, vu) << 16);
}
INLINE vf gather_halves(const uint8_t *at, size_t stride) { return widen_halves(gather_u16(at, stride)); }
INLINE vu gather_u32(const uint8_t *at, size_t stride) {
    vu v;
    UNROLL for (size_t lane = 0; lane < LANES; lane++) v[lane] = hub_load_u32(at + lane * stride);
    return v;
}
