#include "variants.h"

const hub_kernels *hub_kernels_of(hub_variant variant) {
    switch (variant) {
    case HUB_SCALAR: return &hub_kernels_scalar;
#if defined(__x86_64__)
    case HUB_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")
            ? &hub_kernels_avx2 : NULL;
    case HUB_AVX512:
        return __builtin_cpu_supports("avx512f") && hub_kernels_of(HUB_AVX2) ? &hub_kernels_avx512 : NULL;
#elif defined(__aarch64__)
    case HUB_NEON: return &hub_kernels_neon;
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

size_t hub_element_bytes(hub_element element) { return element == HUB_F32 ? 4 : 2; }

void hub_widen(hub_element element, const void *source, size_t count, float *out) {
    const uint8_t *from = source;
    switch (element) {
    case HUB_F32: memcpy(out, source, count * sizeof(float)); break;
    case HUB_F16: for (size_t i = 0; i < count; i++) out[i] = hub_load_f16(from + 2 * i); break;
    case HUB_BF16: for (size_t i = 0; i < count; i++) out[i] = hub_load_bf16(from + 2 * i); break;
    case HUB_ELEMENT_COUNT: break;
    }
}
