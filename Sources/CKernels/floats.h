// Scalar conversions and horizontal work that every kernel shares.
#pragma once
#include "include/hub_compute.h"
#include <string.h>

static inline float hub_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint16_t hub_load_u16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t hub_load_u32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

// memcpy because a weight may be unaligned.
static inline float hub_load_f32(const uint8_t *at) { return hub_from_bits(hub_load_u32(at)); }
static inline float hub_load_bf16(const uint8_t *at) { return hub_from_bits((uint32_t)hub_load_u16(at) << 16); }

/// IEEE 754 binary16, converted by bits: _Float16 would call into a run-time library on machines without the
/// instruction.
static inline float hub_load_f16(const uint8_t *at) {
    uint16_t half = hub_load_u16(at);
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = (half >> 10) & 31, fraction = half & 1023;
    if (exponent == 31) return hub_from_bits(sign | 0x7F800000u | fraction << 13);
    if (exponent != 0) return hub_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float magnitude = (float)fraction * 0x1p-24f; // zero and subnormals
    return sign ? -magnitude : magnitude;
}

/// e4m3, 2^120 times smaller: the bits are those of a binary32 number whose exponent counts from 127, not 7.
static inline float hub_load_fp8(const uint8_t *at) {
    return hub_from_bits((uint32_t)(*at & 0x80) << 24 | (uint32_t)(*at & 0x7F) << 20);
}
/// What activations are raised by, so that their products with such numbers keep all bits, and what is missing then.
#define HUB_FP8_RAISED 0x1p80f
#define HUB_FP8_MISSING 0x1p40f

/// Half of 2^(e - 127): e8m0, for e2m1 numbers that are stored twice as large.
static inline float hub_load_exponent(const uint8_t *at) {
    return hub_from_bits(*at < 2 ? 0x00200000u << *at : (uint32_t)(*at - 1) << 23);
}

/// Round to nearest even; what is too large becomes the largest finite number, so that a cache never holds infinities.
static inline uint16_t hub_to_f16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
    if (magnitude > 0x7F800000) return (uint16_t)(sign | 0x7E00);
    if (magnitude >= 0x477FF000) return (uint16_t)(sign | 0x7BFF);
    if (magnitude < 0x38800000) { // below the smallest normal number
        float scaled = hub_from_bits(magnitude) * 0x1p24f;
        uint32_t whole = (uint32_t)scaled;
        float rest = scaled - (float)whole;
        if (rest > 0.5f || (rest == 0.5f && (whole & 1))) whole++;
        return (uint16_t)(sign | whole);
    }
    uint32_t odd = magnitude >> 13 & 1;
    return (uint16_t)(sign | ((magnitude + 0xFFF + odd - 0x38000000) >> 13));
}

/// Round to nearest even.
static inline uint16_t hub_to_bf16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
