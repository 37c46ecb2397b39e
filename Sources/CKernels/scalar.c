// The portable kernels: they run on any CPU and are the reference for the others.
#include "variants.h"

// Otherwise clang may fuse a * b + c in one tile and not in another (AArch64), and sums would depend on the batch size.
#pragma STDC FP_CONTRACT OFF

#define TARGET
#define VEC float
#define WIDTH 1
#define TILE_ROWS 4
#define TILE_BATCH 4
#define ZERO 0.0f
#define SPLAT(value) (value)
#define LOADX(at) (*(at))
#define STOREX(at, value) (*(at) = (value))
#define FMA(a, b, sum) ((a) * (b) + (sum))
#define REDUCE(value) (value)
#define LOAD_F32 hub_load_f32
#define LOAD_F16 hub_load_f16
#define LOAD_BF16 hub_load_bf16
#define KERNELS hub_kernels_scalar
#define LABEL "scalar"
#include "vector_template.h"
