// The kernels of the including file's instruction set as a table: LABEL is its name.
#pragma once
#define TABLE(BF16_KERNEL)                                                                                             \
    {                                                                                                                  \
        .name = LABEL, .lanes = LANES,                                                                                 \
        .fast = {NULL, NULL, NULL, fast_Q4_0, fast_Q4_1, fast_Q5_0, fast_Q5_1, fast_Q8_0, fast_Q2_K, fast_Q3_K,        \
                 fast_Q4_K, fast_Q5_K, fast_Q6_K, fast_IQ4_NL, fast_IQ4_XS, [HUB_MXFP4] = fast_MXFP4,                    \
                 [HUB_MLX] = fast_MLX, [HUB_MXFP4_APART] = fast_MXFP4_APART,                                          \
                 [HUB_AWQ] = fast_AWQ, [HUB_GPTQ] = fast_GPTQ, [HUB_NVFP4] = fast_NVFP4, [HUB_INT8] = fast_INT8},       \
        .exact = {exact_F32, exact_F16, exact_BF16, exact_Q4_0, exact_Q4_1, exact_Q5_0, exact_Q5_1, exact_Q8_0,        \
                  exact_Q2_K, exact_Q3_K, exact_Q4_K, exact_Q5_K, exact_Q6_K, exact_IQ4_NL, exact_IQ4_XS,              \
                  [HUB_MXFP4] = exact_MXFP4, [HUB_MLX] = exact_MLX, [HUB_FP8] = exact_FP8,                             \
                  [HUB_MXFP4_APART] = exact_MXFP4_APART, [HUB_AWQ] = exact_turned, [HUB_GPTQ] = exact_turned,               \
                  [HUB_NVFP4] = exact_or_singly_NVFP4, [HUB_INT8] = exact_or_singly_INT8, [HUB_TABLE4] = exact_or_singly_TABLE4},                    \
        .bf16 = BF16_KERNEL, .finish = finish, .quantize = quantize, .attend = attend, .rms_norm = rms_norm,                  \
        .layer_norm = layer_norm, .affine = affine, .activate = activate, .add = add, .soft_cap = soft_cap,            \
        .convolve = convolve, .delta_rule = delta_rule, .scan_space = scan_space, .select = select_all,                                          \
    }
