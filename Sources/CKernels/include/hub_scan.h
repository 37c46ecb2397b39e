// Scans weights for NaN, infinities and constant tensors.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// How a number is stored, for formats with NaN or infinity.
typedef enum {
    HUB_SCAN_F16,
    HUB_SCAN_BF16,
    HUB_SCAN_F32,
    HUB_SCAN_F64,
    HUB_SCAN_F8_E4M3, ///< NaN only: all bits but the sign set
    HUB_SCAN_F8_E5M2,
    HUB_SCAN_F8_FNUZ, ///< both kinds have one NaN, encoded as negative zero
    HUB_SCAN_F8_E8M0, ///< one NaN
    HUB_SCAN_IQ1_M,   ///< a float16 made of the upper four bits of four words; only in blocks
} hub_scan_kind;

/// The first of `count` numbers that is NaN or infinite; `count` where all are finite. The pointer may be unaligned.
size_t hub_scan_finite(hub_scan_kind kind, const void *source, size_t count);
/// The same for one number in each of `count` blocks of `stride` bytes; `source` points at the first number.
size_t hub_scan_finite_blocks(hub_scan_kind kind, const void *source, size_t count, size_t stride);
/// Whether all elements have the same bytes.
int hub_scan_constant(const void *source, size_t count, size_t element_bytes);
