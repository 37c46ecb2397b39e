// Planes in other sizes, shared out by rows of what is made. The order in which numbers are added does not depend on who
// computes them.
#include "include/hub_maps.h"
#include "team.h"
#include <math.h>

struct resizing {
    const hub_resizing *plane;
    bool adds;
    float *out, *scratch, *shares;
    uint32_t *labels;
};

/// Where a row or a column lies: between two of the plane, and how far from the first.
struct between {
    size_t first, second;
    float share;
};

/// PyTorch's `area_pixel_compute_source_index` (aten/src/ATen/native/UpSample.h), in float32 as there.
static struct between between(size_t place, size_t inputs, size_t outputs, bool keeps_corners) {
    float at;
    if (keeps_corners) {
        at = outputs > 1 ? (float)(inputs - 1) / (float)(outputs - 1) * (float)place : 0;
    } else {
        at = (float)inputs / (float)outputs * ((float)place + 0.5f) - 0.5f;
        if (at < 0) at = 0;
    }
    size_t first = (size_t)at;
    if (first > inputs - 1) first = inputs - 1;
    float share = at - (float)first;
    if (share > 1) share = 1;
    return (struct between){first, first + (first < inputs - 1), share};
}

/// out = x + (y - x) * share, which is x where they are equal.
static void blend(const float *restrict x, const float *restrict y, float share, size_t count, float *restrict out) {
    const float rest = 1 - share;
    for (size_t i = 0; i < count; i++) out[i] = x[i] * rest + y[i] * share;
}

/// A place between four.
static void blend_four(
    const float *restrict a, const float *restrict b, const float *restrict c, const float *restrict d, float across,
    float down, bool adds, size_t count, float *restrict out) {
    const float rest = 1 - across, above = 1 - down;
    if (adds)
        for (size_t i = 0; i < count; i++)
            out[i] += above * (rest * a[i] + across * b[i]) + down * (rest * c[i] + across * d[i]);
    else
        for (size_t i = 0; i < count; i++)
            out[i] = above * (rest * a[i] + across * b[i]) + down * (rest * c[i] + across * d[i]);
}

static void resize(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct resizing *job = context;
    const hub_resizing *p = job->plane;
    for (size_t row = begin; row < end; row++) {
        const struct between down = between(row, p->height, p->rows, p->keeps_corners);
        const float *top = p->x + down.first * p->width * p->channels;
        const float *bottom = p->x + down.second * p->width * p->channels;
        for (size_t column = 0; column < p->columns; column++) {
            const struct between across = between(column, p->width, p->columns, p->keeps_corners);
            const size_t left = across.first * p->channels, right = across.second * p->channels;
            blend_four(
                top + left, top + right, bottom + left, bottom + right, across.share, down.share, job->adds,
                p->channels, job->out + (row * p->columns + column) * p->channels);
        }
    }
}

/// Rows that are worth a piece.
static size_t rows(const hub_resizing *plane) { return 1 + 16384 / (plane->columns * plane->channels + 1); }

void hub_resize_places(hub_team *team, const hub_resizing *resizing, bool adds, float *out) {
    struct resizing job = {.plane = resizing, .adds = adds, .out = out};
    hub_team_run(team, resizing->rows, rows(resizing), resize, &job);
}

/// Numbers that are computed side by side: as many chains, which are joined in the end.
enum { LANES = 16 };

/// exp(x) of a number up to 0, by 2^n and a polynomial of what is left, so that loops over it become vectors. The error is
/// below 3e-7 of the result; below 2^-126 it is as large as there.
static inline float exp_below(float x) {
    const float wide = x * 1.44269504f, scaled = wide > -126 ? wide : -126;
    const float whole = (float)(int32_t)(scaled - 0.5f), f = (x - whole * 0.693145752f) - whole * 1.42860677e-6f;
    const float g = wide > -126 ? f : 0;
    const float high = 0.0416664854f + g * (0.00833297707f + g * 0.00139304355f);
    const float p = 1 + g * (1 + g * (0.5f + g * (0.166666672f + g * high)));
    const uint32_t bits = (uint32_t)((int32_t)whole + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/// The largest of some numbers; -infinity where all are NaN.
static float largest(const float *x, size_t count) {
    float lanes[LANES];
    for (size_t j = 0; j < LANES; j++) lanes[j] = -INFINITY;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t j = 0; j < LANES; j++) lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
    for (size_t j = 0; i + j < count; j++) lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
    float most = lanes[0];
    for (size_t j = 1; j < LANES; j++) most = lanes[j] > most ? lanes[j] : most;
    return most;
}

/// The sum of exp(x - most).
static float sum_of_powers(const float *x, float most, size_t count) {
    float lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t j = 0; j < LANES; j++) lanes[j] += exp_below(x[i + j] - most);
    for (size_t j = 0; i + j < count; j++) lanes[j] += exp_below(x[i + j] - most);
    float sum = 0;
    for (size_t j = 0; j < LANES; j++) sum += lanes[j];
    return sum;
}

static void label(void *context, size_t worker, size_t begin, size_t end) {
    const struct resizing *job = context;
    const hub_resizing *p = job->plane;
    const size_t line = p->width * p->channels;
    // Two rows of the plane as one, and a place of it.
    float *const blended = job->scratch + worker * (line + p->channels), *const here = blended + line;
    for (size_t row = begin; row < end; row++) {
        const struct between down = between(row, p->height, p->rows, p->keeps_corners);
        blend(p->x + down.first * line, p->x + down.second * line, down.share, line, blended);
        for (size_t column = 0; column < p->columns; column++) {
            const struct between across = between(column, p->width, p->columns, p->keeps_corners);
            blend(
                blended + across.first * p->channels, blended + across.second * p->channels, across.share,
                p->channels, here);
            const float most = largest(here, p->channels);
            size_t best = 0;
            while (best < p->channels && here[best] != most) best++;
            if (best == p->channels) best = 0;
            job->labels[row * p->columns + column] = (uint32_t)best;
            job->shares[row * p->columns + column] = 1 / sum_of_powers(here, most, p->channels);
        }
    }
}

size_t hub_label_scratch(hub_team *team, const hub_resizing *resizing) {
    return hub_team_threads(team) * (resizing->width + 1) * resizing->channels;
}

void hub_label_places(hub_team *team, const hub_resizing *resizing, float *scratch, uint32_t *labels, float *shares) {
    struct resizing job = {.plane = resizing, .scratch = scratch, .labels = labels, .shares = shares};
    hub_team_run(team, resizing->rows, rows(resizing), label, &job);
}
