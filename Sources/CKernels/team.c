#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "team.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef void team_body(void *context, size_t worker, size_t begin, size_t end);

/// The items that a thread has yet to begin, side by side so that it reads memory in order, and others take from their
/// end when they have none: the round in 24 bits, begin and end in 20 each. A member that wakes late finds another
/// round, or no items, and touches nothing.
struct share {
    _Alignas(64) atomic_ullong items;
};
enum { MOST_ITEMS = (1 << 20) - 1, ROUNDS = (1 << 24) - 1 };

static inline unsigned long long items(unsigned round, size_t begin, size_t end) {
    return (unsigned long long)(round & ROUNDS) << 40 | (unsigned long long)begin << 20 | end;
}

struct hub_team {
    size_t threads; // the caller included
    const hub_kernels *kernels;
    pthread_t *members;
    uint8_t *scratch; // HUB_WORKER_BYTES for each thread
    pthread_mutex_t lock;
    pthread_cond_t begun;
    // The work of a round. Atomic because a late member may read it while the next round is written; then it cannot
    // take a piece, for the share has changed.
    team_body *_Atomic body;
    void *_Atomic context;
    atomic_size_t grain;
    struct share *shares; // one for each thread
    _Alignas(64) atomic_size_t done; // items of this round that are finished
    atomic_uint round, sleeping;
    atomic_bool closing;
};

struct member {
    hub_team *team;
    size_t worker;
};

// A forward pass is hundreds of short rounds: spinning before sleeping saves a wake-up for each.
enum { LOOKS = 4000 };

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/// Takes pieces of a thread's share until there are none; false if the round is over.
static bool work_on(hub_team *team, unsigned round, size_t owner, size_t worker) {
    atomic_ullong *share = &team->shares[owner].items;
    for (;;) {
        unsigned long long had = atomic_load_explicit(share, memory_order_acquire);
        if (had >> 40 != (round & ROUNDS)) return false;
        // Read after the share that published them; the exchange fails if the round has changed since.
        size_t begin = had >> 20 & MOST_ITEMS, end = had & MOST_ITEMS;
        size_t grain = atomic_load_explicit(&team->grain, memory_order_relaxed);
        team_body *body = atomic_load_explicit(&team->body, memory_order_relaxed);
        void *context = atomic_load_explicit(&team->context, memory_order_relaxed);
        if (begin >= end) return true;
        // Large pieces first; small ones last, so that nobody waits long for the others.
        size_t count = (end - begin) / 4 > grain ? (end - begin) / 4 : end - begin < grain ? end - begin : grain;
        unsigned long long left = owner == worker ? items(round, begin + count, end) : items(round, begin, end - count);
        if (!atomic_compare_exchange_weak_explicit(share, &had, left, memory_order_acq_rel, memory_order_relaxed))
            continue;
        if (owner != worker) begin = end - count;
        body(context, worker, begin, begin + count);
        atomic_fetch_add_explicit(&team->done, count, memory_order_release);
    }
}

/// A thread's own share, then the others'.
static void work(hub_team *team, unsigned round, size_t worker) {
    for (size_t i = 0; i < team->threads; i++)
        if (!work_on(team, round, (worker + i) % team->threads, worker)) return;
}

static void *serve(void *argument) {
    struct member me = *(struct member *)argument;
    free(argument);
    hub_team *team = me.team;
    unsigned seen = 0;
    for (;;) {
        for (int look = 0; look < LOOKS && atomic_load_explicit(&team->round, memory_order_acquire) == seen; look++)
            relax();
        if (atomic_load_explicit(&team->round, memory_order_acquire) == seen) {
            pthread_mutex_lock(&team->lock);
            atomic_fetch_add(&team->sleeping, 1);
            while (atomic_load(&team->round) == seen) pthread_cond_wait(&team->begun, &team->lock);
            atomic_fetch_sub(&team->sleeping, 1);
            pthread_mutex_unlock(&team->lock);
        }
        seen = atomic_load_explicit(&team->round, memory_order_acquire);
        if (atomic_load(&team->closing)) return NULL;
        work(team, seen, me.worker);
    }
}

hub_team *hub_team_create(size_t threads, const hub_kernels *kernels) {
    if (threads == 0) threads = 1;
    hub_team *team = NULL;
    if (posix_memalign((void **)&team, 64, sizeof *team) != 0) return NULL;
    memset(team, 0, sizeof *team);
    team->kernels = kernels;
    team->members = calloc(threads, sizeof *team->members);
    if (posix_memalign((void **)&team->scratch, 64, threads * HUB_WORKER_BYTES) != 0) team->scratch = NULL;
    if (posix_memalign((void **)&team->shares, 64, threads * sizeof *team->shares) != 0) team->shares = NULL;
    if (team->shares) memset(team->shares, 0, threads * sizeof *team->shares);
    if (!team->members || !team->scratch || !team->shares) {
        free(team->shares);
        free(team->members);
        free(team->scratch);
        free(team);
        return NULL;
    }
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->begun, NULL);
    team->threads = 1;
    for (size_t worker = 1; worker < threads; worker++) {
        struct member *member = malloc(sizeof *member);
        if (member) *member = (struct member){team, worker};
        if (!member || pthread_create(&team->members[worker], NULL, serve, member) != 0) {
            free(member);
            hub_team_destroy(team);
            return NULL;
        }
        team->threads = worker + 1;
    }
    return team;
}

void hub_team_destroy(hub_team *team) {
    if (!team) return;
    atomic_store(&team->closing, true);
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->round, 1);
    pthread_cond_broadcast(&team->begun);
    pthread_mutex_unlock(&team->lock);
    for (size_t worker = 1; worker < team->threads; worker++) pthread_join(team->members[worker], NULL);
    pthread_cond_destroy(&team->begun);
    pthread_mutex_destroy(&team->lock);
    free(team->members);
    free(team->scratch);
    free(team->shares);
    free(team);
}

size_t hub_team_threads(const hub_team *team) { return team->threads; }
const hub_kernels *hub_team_kernels(const hub_team *team) { return team->kernels; }
void *hub_team_scratch(hub_team *team, size_t worker) { return team->scratch + worker * HUB_WORKER_BYTES; }

void hub_team_run(hub_team *team, size_t count, size_t grain, team_body *body, void *context) {
    if (count == 0) return;
    if (grain == 0) grain = 1;
    if (team->threads == 1 || count <= grain || count > MOST_ITEMS) {
        body(context, 0, 0, count);
        return;
    }
    unsigned round = atomic_load(&team->round) + 1;
    // Emptied before the work changes: a late member of the last round must not take a piece of this one.
    for (size_t worker = 0; worker < team->threads; worker++) atomic_store(&team->shares[worker].items, items(round, 0, 0));
    atomic_store_explicit(&team->body, body, memory_order_relaxed);
    atomic_store_explicit(&team->context, context, memory_order_relaxed);
    atomic_store_explicit(&team->grain, grain, memory_order_relaxed);
    atomic_store_explicit(&team->done, 0, memory_order_relaxed);
    size_t begin = 0;
    for (size_t worker = 0; worker < team->threads; worker++) {
        size_t end = count * (worker + 1) / team->threads;
        atomic_store_explicit(&team->shares[worker].items, items(round, begin, end), memory_order_release);
        begin = end;
    }
    // Sequentially consistent: either the member sees the round before it sleeps, or it is seen sleeping.
    atomic_store(&team->round, round);
    if (atomic_load(&team->sleeping) > 0) {
        pthread_mutex_lock(&team->lock);
        pthread_cond_broadcast(&team->begun);
        pthread_mutex_unlock(&team->lock);
    }
    work(team, round, 0);
    // Pieces that members have begun.
    for (unsigned look = 0; atomic_load_explicit(&team->done, memory_order_acquire) < count; look++) {
        if (look < LOOKS) relax();
        else {
            // The member may need this processor.
            sched_yield();
        }
    }
}
