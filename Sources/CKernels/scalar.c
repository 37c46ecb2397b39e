// The portable kernels: what the others are compared with, and what any CPU runs.
#include "variants.h"

// Without it clang may make one instruction of a * b + c in one tile and two in another, where the CPU has such an
// instruction (AArch64): sums would depend on the size of the batch.
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
