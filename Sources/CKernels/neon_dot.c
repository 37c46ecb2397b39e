// The same with the dot product of Armv8.2.
#if defined(__aarch64__)
#define WITH_DOT_PRODUCT 1
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#include "neon.h"
const hub_kernels hub_kernels_neon_dot = TABLE(NULL);
#pragma clang attribute pop

#if defined(__linux__)
#include <sys/auxv.h>
// HWCAP_ASIMDDP of asm/hwcap.h (https://docs.kernel.org/arch/arm64/elf_hwcaps.html)
const hub_kernels *hub_kernels_neon_here(void) {
    return getauxval(AT_HWCAP) & 1ul << 20 ? &hub_kernels_neon_dot : &hub_kernels_neon;
}
#else
// Every Mac with its own processor has it.
const hub_kernels *hub_kernels_neon_here(void) { return &hub_kernels_neon_dot; }
#endif
#endif
