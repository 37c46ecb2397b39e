// Recurrent layers, shared out by channels and by heads: no row waits for another thread.
#include "team.h"

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

struct scanning {
    const hub_kernels *kernels;
    const hub_space *space;
};

static void scan(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct scanning *job = context;
    for (size_t head = begin; head < end; head++) job->kernels->scan_space(job->space, head);
}

void hub_scan_space(hub_team *team, const hub_space *s) {
    struct scanning job = {hub_team_kernels(team), s};
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
