// One hub_rows function, written once for every instruction set and element. The including file defines
//   NAME TARGET VEC WIDTH ZERO LOADX(float *) LOADW(uint8_t *) FMA(a, b, sum) REDUCE(VEC) ELEMENT_BYTES WIDEN(uint8_t *)
//   TILE_ROWS TILE_BATCH: as many sums as the instruction set has registers for, less those of the operands.
//
// Columns go in blocks, so that a tile's vectors stay in the L1 cache while rows pass by. Sums are taken in the same
// order for every tile, batch and number of threads, so results are bit-identical.
#define BLOCK 1024

#define TILE(R, B)                                                                                                     \
    do {                                                                                                               \
        VEC sum[R][B];                                                                                                 \
        _Pragma("unroll") for (int r = 0; r < R; r++) _Pragma("unroll") for (int b = 0; b < B; b++) sum[r][b] = ZERO;  \
        const uint8_t *tile = w + row * stride;                                                                        \
        const float *vectors = x + at * x_stride;                                                                      \
        for (size_t k = from; k < whole; k += WIDTH) {                                                                 \
            VEC wide[R];                                                                                               \
            _Pragma("unroll") for (int r = 0; r < R; r++) wide[r] = LOADW(tile + r * stride + k * ELEMENT_BYTES);      \
            _Pragma("unroll") for (int b = 0; b < B; b++) {                                                            \
                VEC value = LOADX(vectors + b * x_stride + k);                                                         \
                _Pragma("unroll") for (int r = 0; r < R; r++) sum[r][b] = FMA(wide[r], value, sum[r][b]);              \
            }                                                                                                          \
        }                                                                                                              \
        _Pragma("unroll") for (int r = 0; r < R; r++) _Pragma("unroll") for (int b = 0; b < B; b++) {                  \
            float total = REDUCE(sum[r][b]);                                                                           \
            for (size_t k = whole; k < to; k++)                                                                        \
                total += WIDEN(tile + r * stride + k * ELEMENT_BYTES) * vectors[b * x_stride + k];                     \
            float *out = y + (at + b) * y_stride + row + r;                                                            \
            *out = from ? *out + total : total;                                                                        \
        }                                                                                                              \
    } while (0)

#define EACH_BLOCK                                                                                                     \
    for (size_t from = 0, to, whole; to = from + BLOCK < columns ? from + BLOCK : columns,                             \
                whole = to - (to - from) % WIDTH, from < columns; from = to)

TARGET static void NAME(
    const void *weights, size_t rows, size_t columns, const float *x, size_t x_stride, size_t batch, float *y,
    size_t y_stride) {
    const uint8_t *w = weights;
    const size_t stride = columns * ELEMENT_BYTES;
    size_t at = 0, row;
    if (batch >= TILE_BATCH) {
        EACH_BLOCK
            for (at = 0; at + TILE_BATCH <= batch; at += TILE_BATCH) {
                for (row = 0; row + TILE_ROWS <= rows; row += TILE_ROWS) TILE(TILE_ROWS, TILE_BATCH);
                for (; row < rows; row++) TILE(1, TILE_BATCH);
            }
        at = batch - batch % TILE_BATCH;
    }
    // One vector reads each weight once: rows from start to end, in memory order.
    for (; at < batch; at++) {
        for (row = 0; row + 4 <= rows; row += 4) EACH_BLOCK TILE(4, 1);
        for (; row < rows; row++) EACH_BLOCK TILE(1, 1);
    }
}

#undef TILE
#undef EACH_BLOCK
#undef BLOCK
#undef NAME
#undef LOADW
#undef WIDEN
#undef ELEMENT_BYTES
