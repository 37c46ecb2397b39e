// Shared by the kernel files.
#pragma once
#include "CKernels.h"
#include <string.h>

extern const hub_kernels hub_kernels_scalar;
#if defined(__x86_64__)
extern const hub_kernels hub_kernels_avx2;
extern const hub_kernels hub_kernels_avx512;
#elif defined(__aarch64__)
extern const hub_kernels hub_kernels_neon;
#endif

static inline float hub_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// memcpy because a weight may be unaligned.
static inline float hub_load_f32(const uint8_t *at) {
    float value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline float hub_load_bf16(const uint8_t *at) {
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return hub_from_bits((uint32_t)half << 16);
}

/// IEEE 754 binary16, converted by bits: _Float16 would call into a run-time library on machines without the
/// instruction.
static inline float hub_load_f16(const uint8_t *at) {
    uint16_t half;
    memcpy(&half, at, sizeof half);
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = (half >> 10) & 31, fraction = half & 1023;
    if (exponent == 31) return hub_from_bits(sign | 0x7F800000u | fraction << 13);
    if (exponent != 0) return hub_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float magnitude = (float)fraction * 0x1p-24f; // zero and subnormals
    return sign ? -magnitude : magnitude;
}
