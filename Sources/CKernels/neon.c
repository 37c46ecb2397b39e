// Every AArch64 CPU has these instructions but the dot product, which neon_dot.c is compiled with.
#if defined(__aarch64__)
#include "neon.h"
const hub_kernels hub_kernels_neon = TABLE(NULL);
#endif
