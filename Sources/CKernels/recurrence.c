// Recurrent layers, shared out by channels and by heads: no row waits for another thread.
#include "team.h"
#include <math.h>

struct convolving {
    const hub_kernels *kernels;
    const hub_convolution *convolution;
};
enum { CONVOLVED = 64 }; // channels of an item

static void convolve(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct convolving *job = context;
    size_t first = begin * CONVOLVED, last = end * CONVOLVED, channels = job->convolution->channels;
    job->kernels->convolve(job->convolution, first, last < channels ? last : channels);
}

void hub_convolve(hub_team *team, const hub_convolution *c) {
    struct convolving job = {hub_team_kernels(team), c};
    size_t each = CONVOLVED * c->taps * c->count;
    hub_team_run(team, (c->channels + CONVOLVED - 1) / CONVOLVED, 1 + 16384 / (each ? each : 1), convolve, &job);
}

struct learning {
    hub_team *team;
    const hub_kernels *kernels;
    const hub_delta *delta;
};

static void learn(void *context, size_t worker, size_t begin, size_t end) {
    const struct learning *job = context;
    for (size_t head = begin; head < end; head++)
        job->kernels->delta_rule(job->delta, head, hub_team_scratch(job->team, worker));
}

void hub_delta_rule(hub_team *team, const hub_delta *d) {
    struct learning job = {team, hub_team_kernels(team), d};
    size_t each = d->count * d->key_size * d->value_size;
    hub_team_run(team, d->value_heads, 1 + 16384 / (each ? each : 1), learn, &job);
}

/// One head, row after row; the inner loops run over the numbers of a head, so nothing is summed in another order.
static void scan_head(const hub_space *s, size_t head) {
    size_t size = s->head_size, each = s->state_size * size, width = s->heads * size;
    size_t shared = head / (s->heads / s->groups) * s->state_size, all = width + 2 * s->groups * s->state_size;
    for (size_t row = 0; row < s->count; row++) {
        const float *x = s->x + row * all + head * size;
        const float *b = s->x + row * all + width + shared, *c = b + s->groups * s->state_size;
        const float *before = s->rows[row].before ? s->rows[row].before + s->state + head * each : NULL;
        float *after = s->rows[row].after + s->state + head * each, *out = s->out + row * width + head * size;
        double told = (double)s->steps[row * s->heads + head] + (double)s->biases[head];
        float step = (float)(told > 20 ? told : log1p(exp(told)));
        if (step < s->least_step) step = s->least_step;
        if (step > s->most_step) step = s->most_step;
        float decay = (float)exp((double)(s->rates[head] * step));
        for (size_t i = 0; i < size; i++) out[i] = s->skips[head] * x[i];
        for (size_t n = 0; n < s->state_size; n++) {
            float added = step * b[n], read = c[n];
            const float *old = before ? before + n * size : NULL;
            float *new = after + n * size;
            for (size_t i = 0; i < size; i++) {
                float value = (old ? decay * old[i] : 0) + added * x[i];
                new[i] = value;
                out[i] += read * value;
            }
        }
    }
}

static void scan(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    for (size_t head = begin; head < end; head++) scan_head(context, head);
}

void hub_scan_space(hub_team *team, const hub_space *s) {
    hub_space job = *s;
    size_t each = s->count * s->state_size * s->head_size;
    hub_team_run(team, s->heads, 1 + 16384 / (each ? each : 1), scan, &job);
}

struct selecting {
    const hub_kernels *kernels;
    const hub_selection *selection;
};

static void select_channels(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct selecting *job = context;
    size_t first = begin * CONVOLVED, last = end * CONVOLVED, channels = job->selection->channels;
    job->kernels->select(job->selection, first, last < channels ? last : channels);
}

void hub_select(hub_team *team, const hub_selection *s) {
    struct selecting job = {hub_team_kernels(team), s};
    size_t each = CONVOLVED * s->state_size * s->count;
    hub_team_run(team, (s->channels + CONVOLVED - 1) / CONVOLVED, 1 + 4096 / (each ? each : 1), select_channels, &job);
}
