#include "kernels.h"

const hub_kernels *hub_kernels_of(hub_variant variant) {
    switch (variant) {
    case HUB_SCALAR: return &hub_kernels_scalar;
#if defined(__x86_64__)
    case HUB_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")
            ? &hub_kernels_avx2 : NULL;
    case HUB_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
                && __builtin_cpu_supports("avx512vnni") && hub_kernels_of(HUB_AVX2)
            ? hub_kernels_avx512_here() : NULL;
#elif defined(__aarch64__)
    case HUB_NEON: return hub_kernels_neon_here();
#endif
    default: return NULL;
    }
}

const hub_kernels *hub_kernels_best(void) {
    for (int variant = HUB_VARIANT_COUNT - 1; variant > HUB_SCALAR; variant--) {
        const hub_kernels *kernels = hub_kernels_of((hub_variant)variant);
        if (kernels) return kernels;
    }
    return &hub_kernels_scalar;
}

const char *hub_kernels_name(const hub_kernels *kernels) { return kernels->name; }
