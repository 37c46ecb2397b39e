#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "CKernels.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

typedef void pool_body(void *context, size_t worker, size_t begin, size_t end);

struct hub_pool {
    size_t threads; // the caller included
    pthread_t *team;
    pthread_mutex_t lock;
    pthread_cond_t begun, finished;
    // The work; written before `round` increases, read after.
    pool_body *body;
    void *context;
    size_t count, grain;
    atomic_size_t next;    // first item not yet taken
    atomic_size_t working; // team members not yet done with this round
    atomic_ulong round;
    bool closing;
};

struct member {
    hub_pool *pool;
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

static void work(hub_pool *pool, size_t worker) {
    for (;;) {
        size_t begin = atomic_fetch_add(&pool->next, pool->grain);
        if (begin >= pool->count) return;
        size_t end = begin + pool->grain < pool->count ? begin + pool->grain : pool->count;
        pool->body(pool->context, worker, begin, end);
    }
}

static void *serve(void *argument) {
    struct member me = *(struct member *)argument;
    free(argument);
    hub_pool *pool = me.pool;
    unsigned long seen = 0;
    for (;;) {
        for (int look = 0; look < LOOKS && atomic_load(&pool->round) == seen; look++) relax();
        pthread_mutex_lock(&pool->lock);
        while (atomic_load(&pool->round) == seen) pthread_cond_wait(&pool->begun, &pool->lock);
        seen = atomic_load(&pool->round);
        bool closing = pool->closing;
        pthread_mutex_unlock(&pool->lock);
        if (closing) return NULL;
        work(pool, me.worker);
        if (atomic_fetch_sub(&pool->working, 1) == 1) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->finished);
            pthread_mutex_unlock(&pool->lock);
        }
    }
}

hub_pool *hub_pool_create(size_t threads) {
    if (threads == 0) threads = 1;
    hub_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pool->team = calloc(threads, sizeof *pool->team);
    if (!pool->team) {
        free(pool);
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begun, NULL);
    pthread_cond_init(&pool->finished, NULL);
    pool->threads = 1;
    for (size_t worker = 1; worker < threads; worker++) {
        struct member *member = malloc(sizeof *member);
        if (member) *member = (struct member){pool, worker};
        if (!member || pthread_create(&pool->team[worker], NULL, serve, member) != 0) {
            free(member);
            hub_pool_destroy(pool);
            return NULL;
        }
        pool->threads = worker + 1;
    }
    return pool;
}

static void announce(hub_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->round, 1);
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->lock);
}

void hub_pool_destroy(hub_pool *pool) {
    if (!pool) return;
    pool->closing = true;
    announce(pool);
    for (size_t worker = 1; worker < pool->threads; worker++) pthread_join(pool->team[worker], NULL);
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->begun);
    pthread_mutex_destroy(&pool->lock);
    free(pool->team);
    free(pool);
}

size_t hub_pool_threads(const hub_pool *pool) { return pool->threads; }

void hub_pool_run(hub_pool *pool, size_t count, size_t grain, pool_body *body, void *context) {
    if (count == 0) return;
    if (grain == 0) grain = 1;
    if (pool->threads == 1 || count <= grain) {
        body(context, 0, 0, count);
        return;
    }
    pool->body = body;
    pool->context = context;
    pool->count = count;
    pool->grain = grain;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->working, pool->threads - 1);
    announce(pool);
    work(pool, 0);
    for (int look = 0; look < LOOKS && atomic_load(&pool->working); look++) relax();
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->working)) pthread_cond_wait(&pool->finished, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
