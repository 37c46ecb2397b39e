// Convolutions of pictures for any instruction set: vectors run over the channels of a place.
#pragma once

/// The part of a window that is in the plane, along one side: `begin` to `end` of its places.
typedef struct {
    size_t begin, end;
} window_part;

INLINE window_part inside(size_t place, size_t stride, size_t before, size_t side, size_t size) {
    const size_t start = place * stride, behind = size + before;
    window_part part = {before > start ? before - start : 0, behind > start ? behind - start : 0};
    if (part.end > side) part.end = side;
    if (part.begin > part.end) part.begin = part.end;
    return part;
}

/// `n` vectors of channels from `c` on, at one place.
INLINE void convolve_place(
    const int n, const float *x, const hub_window *w, const float *weights, const float *bias, size_t row, size_t column,
    size_t c, size_t left, float *out) {
    const window_part down = inside(row, w->stride, w->top, w->side, w->height);
    const window_part across = inside(column, w->stride, w->left, w->side, w->width);
    vf sum[4];
    UNROLL for (int i = 0; i < n; i++) sum[i] = load(bias + c + (size_t)i * LANES, left);
    for (size_t y = down.begin; y < down.end; y++) {
        const float *line = x + (row * w->stride + y - w->top) * w->width * w->channels + c;
        for (size_t k = across.begin; k < across.end; k++) {
            const float *at = line + (column * w->stride + k - w->left) * w->channels;
            const float *weight = weights + (y * w->side + k) * w->channels + c;
            UNROLL for (int i = 0; i < n; i++)
                sum[i] = FMA(load(weight + (size_t)i * LANES, left), load(at + (size_t)i * LANES, left), sum[i]);
        }
    }
    UNROLL for (int i = 0; i < n; i++) store(out + c + (size_t)i * LANES, sum[i], left);
}

static void convolve_channels(
    const float *x, const hub_window *w, const float *weights, const float *bias, size_t begin, size_t end, float *out) {
    for (size_t place = begin; place < end; place++) {
        const size_t row = place / w->columns, column = place % w->columns;
        float *to = out + place * w->channels;
        size_t c = 0;
        for (; c + 4 * LANES <= w->channels; c += 4 * LANES) convolve_place(4, x, w, weights, bias, row, column, c, LANES, to);
        for (; c + LANES <= w->channels; c += LANES) convolve_place(1, x, w, weights, bias, row, column, c, LANES, to);
        if (c < w->channels) convolve_place(1, x, w, weights, bias, row, column, c, w->channels - c, to);
    }
}

static void pool(
    hub_pooling pooling, const float *x, const hub_window *w, size_t begin, size_t end, float *out) {
    for (size_t place = begin; place < end; place++) {
        const size_t row = place / w->columns, column = place % w->columns;
        const window_part down = inside(row, w->stride, w->top, w->side, w->height);
        const window_part across = inside(column, w->stride, w->left, w->side, w->width);
        const vf count = (vf)(float)((down.end - down.begin) * (across.end - across.begin));
        float *to = out + place * w->channels;
        EACH_VECTOR(w->channels, {
            vf value = (vf)(pooling == HUB_LARGEST ? -INFINITY : 0.0f);
            for (size_t y = down.begin; y < down.end; y++) {
                const float *line = x + (row * w->stride + y - w->top) * w->width * w->channels + i;
                for (size_t k = across.begin; k < across.end; k++) {
                    const vf v = load(line + (column * w->stride + k - w->left) * w->channels, left);
                    // NaN stays.
                    if (pooling == HUB_LARGEST) value = ((v <= value) | (value != value)) ? value : v;
                    else value += v;
                }
            }
            store(to + i, pooling == HUB_LARGEST ? value : value / count, left);
        });
    }
}

static void sum_places(
    const float *x, size_t height, size_t width, size_t channels, bool squared, size_t begin, size_t end, float *out) {
    const float *from = x + begin;
    float *to = out + begin;
    EACH_VECTOR(end - begin, {
        vf sum = (vf)0.0f;
        for (size_t y = 0; y < height; y++) {
            vf line = (vf)0.0f;
            const float *at = from + y * width * channels + i;
            for (size_t k = 0; k < width; k++, at += channels) {
                const vf v = load(at, left);
                line = squared ? FMA(v, v, line) : line + v;
            }
            sum += line;
        }
        store(to + i, sum, left);
    });
}
