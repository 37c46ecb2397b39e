// What stands between the products, shared out by rows.
#include "team.h"
#include <math.h>

struct norm {
    const hub_kernels *kernels;
    const float *x, *weight, *bias;
    float *out;
    size_t x_stride, out_stride, columns;
    float offset, epsilon;
    bool is_rms;
};

static void normalise(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct norm *n = context;
    for (size_t row = begin; row < end; row++) {
        const float *x = n->x + row * n->x_stride;
        float *out = n->out + row * n->out_stride;
        if (n->is_rms) n->kernels->rms_norm(x, n->columns, n->weight, n->offset, n->epsilon, out);
        else n->kernels->layer_norm(x, n->columns, n->weight, n->bias, n->epsilon, out);
    }
}

/// Rows of this many numbers that are worth a piece.
static size_t grain(size_t columns) { return 1 + 16384 / (columns ? columns : 1); }

void hub_rms_norm(
    hub_team *team, const float *x, size_t x_stride, size_t rows, size_t columns, const float *weight, float offset,
    float epsilon, float *out, size_t out_stride) {
    struct norm n = {
        hub_team_kernels(team), x, weight, NULL, out, x_stride, out_stride, columns, offset, epsilon, true};
    hub_team_run(team, rows, grain(columns), normalise, &n);
}

void hub_layer_norm(
    hub_team *team, const float *x, size_t x_stride, size_t rows, size_t columns, const float *weight,
    const float *bias, float epsilon, float *out, size_t out_stride) {
    struct norm n = {hub_team_kernels(team), x, weight, bias, out, x_stride, out_stride, columns, 0, epsilon, false};
    hub_team_run(team, rows, grain(columns), normalise, &n);
}

struct affinity {
    const hub_kernels *kernels;
    const float *x, *weight, *bias;
    size_t columns;
    float *out;
};

static void transform(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct affinity *a = context;
    for (size_t row = begin; row < end; row++)
        a->kernels->affine(a->x + row * a->columns, a->columns, a->weight, a->bias, a->out + row * a->columns);
}

void hub_affine(
    hub_team *team, const float *x, size_t rows, size_t columns, const float *weight, const float *bias, float *out) {
    struct affinity a = {hub_team_kernels(team), x, weight, bias, columns, out};
    hub_team_run(team, rows, grain(columns), transform, &a);
}

struct rotation {
    hub_rotation kind;
    float *x;
    size_t stride, heads, head_size, rotated;
    const float *cosines, *sines;
};

static void rotate(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct rotation *r = context;
    size_t half = r->rotated / 2;
    for (size_t row = begin; row < end; row++) {
        const float *c = r->cosines + row * half, *s = r->sines + row * half;
        float *x = r->x + row * r->stride;
        for (size_t head = 0; head < r->heads; head++, x += r->head_size)
            for (size_t i = 0; i < half; i++) {
                size_t a = r->kind == HUB_ROTATE_HALVES ? i : 2 * i, b = r->kind == HUB_ROTATE_HALVES ? i + half : a + 1;
                float low = x[a], high = x[b];
                x[a] = low * c[i] - high * s[i];
                x[b] = high * c[i] + low * s[i];
            }
    }
}

void hub_rotate(
    hub_team *team, hub_rotation kind, float *x, size_t stride, size_t rows, size_t heads, size_t head_size,
    size_t rotated, const float *cosines, const float *sines) {
    struct rotation r = {kind, x, stride, heads, head_size, rotated, cosines, sines};
    hub_team_run(team, rows, grain(heads * head_size), rotate, &r);
}

struct activation {
    const hub_kernels *kernels;
    hub_activation kind;
    const float *x, *factor;
    size_t stride, columns;
    float *out;
};

static void activate(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct activation *a = context;
    for (size_t row = begin; row < end; row++)
        a->kernels->activate(
            a->kind, a->x + row * a->stride, a->factor ? a->factor + row * a->stride : NULL, a->columns,
            a->out + row * a->columns);
}

void hub_activate(
    hub_team *team, hub_activation kind, const float *x, const float *factor, size_t stride, size_t rows,
    size_t columns, float *out) {
    struct activation a = {hub_team_kernels(team), kind, x, factor, stride, columns, out};
    hub_team_run(team, rows, grain(columns), activate, &a);
}

struct factors {
    float *x;
    const float *y;
};

static void times(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct factors *f = context;
    for (size_t i = begin; i < end; i++) f->x[i] *= f->y[i];
}

void hub_times(hub_team *team, float *x, const float *y, size_t count) {
    struct factors f = {x, y};
    hub_team_run(team, count, grain(1), times, &f);
}

struct xielus {
    hub_xielu xielu;
    float *x;
};

static void apply_xielu(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct xielus *job = context;
    hub_xielu d = job->xielu;
    for (size_t i = begin; i < end; i++) {
        float x = job->x[i];
        float least = x < d.largest ? x : d.largest;
        job->x[i] = (x > 0 ? d.positive * x * x : (expm1f(least) - x) * d.negative) + d.beta * x;
    }
}

void hub_apply_xielu(hub_team *team, hub_xielu xielu, float *x, size_t count) {
    struct xielus job = {xielu, x};
    hub_team_run(team, count, 1024, apply_xielu, &job);
}

struct cut {
    float *x;
    size_t columns;
    double deviations;
};

static void cut(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct cut *c = context;
    for (size_t row = begin; row < end; row++) {
        float *x = c->x + row * c->columns;
        double sum = 0, squares = 0;
        for (size_t i = 0; i < c->columns; i++) sum += x[i];
        double mean = sum / (double)c->columns;
        for (size_t i = 0; i < c->columns; i++) squares += (x[i] - mean) * (x[i] - mean);
        float cutoff = (float)(mean + c->deviations * sqrt(squares / (double)c->columns));
        for (size_t i = 0; i < c->columns; i++) x[i] = x[i] > cutoff ? x[i] - cutoff : 0;
    }
}

void hub_cut(hub_team *team, float *x, size_t rows, size_t columns, double deviations) {
    struct cut c = {x, columns, deviations};
    hub_team_run(team, rows, grain(columns), cut, &c);
}

struct addition {
    const hub_kernels *kernels;
    float *x;
    const float *y;
    float scale;
    size_t count;
};
enum { ADDED = 1024 }; // numbers of an item

static void add(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct addition *a = context;
    size_t first = begin * ADDED, last = end * ADDED < a->count ? end * ADDED : a->count;
    a->kernels->add(a->x + first, a->y + first, a->scale, last - first);
}

void hub_add(hub_team *team, float *x, const float *y, float scale, size_t count) {
    struct addition a = {hub_team_kernels(team), x, y, scale, count};
    hub_team_run(team, (count + ADDED - 1) / ADDED, grain(ADDED), add, &a);
}

struct splitting {
    const float *x;
    size_t columns;
    float *even, *odd;
};

static void split(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct splitting *s = context;
    for (size_t i = begin * s->columns; i < end * s->columns; i++) s->even[i] = s->x[2 * i], s->odd[i] = s->x[2 * i + 1];
}

void hub_split(hub_team *team, const float *x, size_t rows, size_t columns, float *even, float *odd) {
    struct splitting s = {x, columns, even, odd};
    hub_team_run(team, rows, grain(columns), split, &s);
}

struct combination {
    const hub_kernels *kernels;
    const float *results, *weights;
    const uint32_t *places;
    size_t first, end, used, columns;
    float *out;
};

static void combine(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct combination *c = context;
    for (size_t at = begin * c->used; at < end * c->used; at++) {
        size_t place = c->places[at];
        if (place < c->first || place >= c->end) continue;
        const float *result = c->results + (place - c->first) * c->columns;
        c->kernels->add(c->out + at / c->used * c->columns, result, c->weights[at], c->columns);
    }
}

void hub_combine(
    hub_team *team, const float *results, size_t first, size_t end, const uint32_t *places, const float *weights,
    size_t used, float *out, size_t rows, size_t columns) {
    struct combination c = {hub_team_kernels(team), results, weights, places, first, end, used, columns, out};
    hub_team_run(team, rows, grain(columns * used), combine, &c);
}

void hub_clamp(float *x, float limit, size_t count) {
    // NaN stays NaN.
    for (size_t i = 0; i < count; i++) x[i] = x[i] < -limit ? -limit : x[i] > limit ? limit : x[i];
}

void hub_scale(hub_team *team, float *x, float scale, size_t count) {
    (void)team;
    for (size_t i = 0; i < count; i++) x[i] *= scale;
}

void hub_soft_cap(hub_team *team, float *x, float cap, size_t count) {
    hub_team_kernels(team)->soft_cap(x, cap, count);
}

double hub_log_sum_exp(const float *x, size_t count) {
    double largest = -INFINITY, total = 0;
    for (size_t i = 0; i < count; i++) if (x[i] > largest) largest = x[i];
    for (size_t i = 0; i < count; i++) total += exp(x[i] - largest);
    return largest + log(total);
}

size_t hub_argmax(const float *x, size_t count) {
    size_t best = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(x[i])) return count;
        if (x[i] > x[best]) best = i;
    }
    return best;
}
