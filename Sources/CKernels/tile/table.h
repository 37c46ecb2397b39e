// The kernels of the including file's instruction set as a table: LABEL is its name.
#pragma once
#include "../kernels.h"

#define HUB_BLOCKS(NAME, ggml, block, bytes, offset, halves, minima) [HUB_##NAME] = fast_##NAME,
#define HUB_PACKED(NAME, block, bytes, halves, minima) [HUB_##NAME] = fast_##NAME,
static void (*const fast_kernels[HUB_FORMAT_COUNT])(const hub_tile *tile) = {
#include "../include/hub_formats.def"
};

#define HUB_FORMAT(NAME, ggml, block, bytes, halves, minima) [HUB_##NAME] = exact_##NAME,
static void (*const exact_kernels[HUB_FORMAT_COUNT])(const hub_tile *tile) = {
#include "../include/hub_formats.def"
};

#define TABLE(BF16_KERNEL)                                                                                             \
    {                                                                                                                  \
        .name = LABEL, .lanes = LANES, .fast = fast_kernels, .exact = exact_kernels, .bf16 = BF16_KERNEL,              \
        .finish = finish, .quantize = quantize, .attend = attend, .rms_norm = rms_norm, .layer_norm = layer_norm,      \
        .affine = affine, .activate = activate, .add = add, .soft_cap = soft_cap, .convolve = convolve,                \
        .delta_rule = delta_rule, .scan_space = scan_space, .select = select_all,                                      \
        .convolve_channels = convolve_channels, .pool = pool, .sum_places = sum_places,                                \
    }
