// One hub_rows function, written once for every instruction set and element. The including file defines
//   NAME TARGET VEC WIDTH ZERO LOADX(float *) LOADW(uint8_t *) FMA(a, b, sum) REDUCE(VEC) ELEMENT_BYTES WIDEN(uint8_t *)
// Rows are the outer loop: a tile of weights is widened once and used for all vectors while it is in the L1 cache.
#define TILE(R, B)                                                                                                     \
    do {                                                                                                               \
        VEC sum[R][B];                                                                                                 \
        _Pragma("unroll") for (int r = 0; r < R; r++) _Pragma("unroll") for (int b = 0; b < B; b++) sum[r][b] = ZERO;  \
        for (size_t k = 0; k < whole; k += WIDTH) {                                                                    \
            VEC wide[R];                                                                                               \
            _Pragma("unroll") for (int r = 0; r < R; r++) wide[r] =                                                    \
                LOADW(w + (row + r) * stride + k * ELEMENT_BYTES);                                                     \
            _Pragma("unroll") for (int b = 0; b < B; b++) {                                                            \
                VEC value = LOADX(x + (at + b) * x_stride + k);                                                        \
                _Pragma("unroll") for (int r = 0; r < R; r++) sum[r][b] = FMA(wide[r], value, sum[r][b]);              \
            }                                                                                                          \
        }                                                                                                              \
        for (int r = 0; r < R; r++)                                                                                    \
            for (int b = 0; b < B; b++) {                                                                              \
                float total = REDUCE(sum[r][b]);                                                                       \
                for (size_t k = whole; k < columns; k++)                                                               \
                    total += WIDEN(w + (row + r) * stride + k * ELEMENT_BYTES) * x[(at + b) * x_stride + k];           \
                y[(at + b) * y_stride + row + r] = total;                                                              \
            }                                                                                                          \
    } while (0)

#define ROWS_OF(R)                                                                                                     \
    do {                                                                                                               \
        size_t at = 0;                                                                                                 \
        for (; at + 4 <= batch; at += 4) TILE(R, 4);                                                                   \
        for (; at < batch; at++) TILE(R, 1);                                                                           \
    } while (0)

TARGET static void NAME(
    const void *weights, size_t rows, size_t columns, const float *x, size_t x_stride, size_t batch, float *y,
    size_t y_stride) {
    const uint8_t *w = weights;
    const size_t stride = columns * ELEMENT_BYTES, whole = columns - columns % WIDTH;
    size_t row = 0;
    for (; row + 4 <= rows; row += 4) ROWS_OF(4);
    for (; row < rows; row++) ROWS_OF(1);
}

#undef TILE
#undef ROWS_OF
#undef NAME
#undef LOADW
#undef WIDEN
#undef ELEMENT_BYTES
