#include "hub_scan.h"
#include <string.h>

// Words may be unaligned. The loop over a piece has no branch, so the compiler vectorizes it.
#define SCAN(name, type, test)                                                                     \
    typedef type __attribute__((aligned(1), may_alias)) name##_word;                                \
    static size_t name(const void *source, size_t count) {                                          \
        const name##_word *words = source;                                                          \
        for (size_t start = 0; start < count;) {                                                    \
            const size_t end = count - start > 4096 ? start + 4096 : count;                         \
            type found = 0;                                                                         \
            for (size_t at = start; at < end; at++) {                                               \
                const type word = words[at];                                                        \
                found |= (type)(test);                                                              \
            }                                                                                       \
            if (found) {                                                                            \
                for (size_t at = start; at < end; at++) {                                           \
                    const type word = words[at];                                                    \
                    if (test) return at;                                                            \
                }                                                                                   \
            }                                                                                       \
            start = end;                                                                            \
        }                                                                                           \
        return count;                                                                               \
    }

// One number per block, at any byte offset.
#define SCAN_BLOCKS(name, type, test)                                                              \
    static size_t name##_blocks(const void *source, size_t count, size_t stride) {                  \
        const unsigned char *bytes = source;                                                        \
        for (size_t at = 0; at < count; at++) {                                                     \
            type word;                                                                              \
            memcpy(&word, bytes + at * stride, sizeof word);                                        \
            if (test) return at;                                                                    \
        }                                                                                           \
        return count;                                                                               \
    }

#define SCAN_BOTH(name, type, test) SCAN(name, type, test) SCAN_BLOCKS(name, type, test)

SCAN_BOTH(scan_f16, uint16_t, (word & 0x7C00) == 0x7C00)
SCAN_BOTH(scan_bf16, uint16_t, (word & 0x7F80) == 0x7F80)
SCAN_BOTH(scan_f32, uint32_t, (word & 0x7F800000u) == 0x7F800000u)
SCAN_BOTH(scan_f64, uint64_t, (word & 0x7FF0000000000000u) == 0x7FF0000000000000u)
SCAN_BOTH(scan_e4m3, uint8_t, (word & 0x7F) == 0x7F)
SCAN_BOTH(scan_e5m2, uint8_t, (word & 0x7C) == 0x7C)
SCAN_BOTH(scan_fnuz, uint8_t, word == 0x80)
SCAN_BOTH(scan_e8m0, uint8_t, word == 0xFF)
// The exponent lies in the upper bits of the last two words.
SCAN_BLOCKS(scan_iq1_m, uint64_t, (word & 0x7000C00000000000u) == 0x7000C00000000000u)

size_t hub_scan_finite(hub_scan_kind kind, const void *source, size_t count) {
    switch (kind) {
    case HUB_SCAN_F16: return scan_f16(source, count);
    case HUB_SCAN_BF16: return scan_bf16(source, count);
    case HUB_SCAN_F32: return scan_f32(source, count);
    case HUB_SCAN_F64: return scan_f64(source, count);
    case HUB_SCAN_F8_E4M3: return scan_e4m3(source, count);
    case HUB_SCAN_F8_E5M2: return scan_e5m2(source, count);
    case HUB_SCAN_F8_FNUZ: return scan_fnuz(source, count);
    case HUB_SCAN_F8_E8M0: return scan_e8m0(source, count);
    case HUB_SCAN_IQ1_M: break;
    }
    return count;
}

size_t hub_scan_finite_blocks(hub_scan_kind kind, const void *source, size_t count, size_t stride) {
    switch (kind) {
    case HUB_SCAN_F16: return scan_f16_blocks(source, count, stride);
    case HUB_SCAN_BF16: return scan_bf16_blocks(source, count, stride);
    case HUB_SCAN_F32: return scan_f32_blocks(source, count, stride);
    case HUB_SCAN_F64: return scan_f64_blocks(source, count, stride);
    case HUB_SCAN_F8_E4M3: return scan_e4m3_blocks(source, count, stride);
    case HUB_SCAN_F8_E5M2: return scan_e5m2_blocks(source, count, stride);
    case HUB_SCAN_F8_FNUZ: return scan_fnuz_blocks(source, count, stride);
    case HUB_SCAN_F8_E8M0: return scan_e8m0_blocks(source, count, stride);
    case HUB_SCAN_IQ1_M: return scan_iq1_m_blocks(source, count, stride);
    }
    return count;
}

int hub_scan_constant(const void *source, size_t count, size_t element_bytes) {
    if (count < 2) return 1;
    const unsigned char *bytes = source;
    // Equal to itself moved by one element; memcmp stops at the first difference.
    return memcmp(bytes, bytes + element_bytes, (count - 1) * element_bytes) == 0;
}
