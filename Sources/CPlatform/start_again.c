// A server that crashed starts again in the same process: with its process id, its memory limits and its listening socket.
#define _GNU_SOURCE
#include "CPlatform.h"
#include "faults.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const struct { int number; char name[8]; } crashes[] = {
    {SIGILL, "SIGILL"}, {SIGTRAP, "SIGTRAP"}, {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGABRT, "SIGABRT"},
    {SIGFPE, "SIGFPE"},
};
enum { crash_count = sizeof crashes / sizeof *crashes };

// The variable that tells the program of itself: process id, socket, and when it was started again, the last time first.
static const char variable[] = "HUB_STARTED_AGAIN=";
// This many within this many seconds: it gives up.
enum { most = 5, window = 60, digits = 12 };

// Once for all: whoever is asked to stop between two calls is not armed again.
static atomic_bool is_prepared;
static atomic_bool is_armed;
static atomic_bool is_starting;
static const char *program;
static char *const *words;
static char **variables;
static char state[sizeof variable + (most + 2) * (digits + 1)];
static int64_t times[most];
static int kept = -1;
static int file_limit;

static int64_t seconds(void) { return (int64_t)(hub_monotonic_nanoseconds() / 1000000000); }

// Reads the variable of an earlier run of this process: the socket, or -1.
static int read_state(int64_t before[most]) {
    const char *text = NULL;
    for (char **entry = environ; entry && *entry && !text; entry++)
        if (strncmp(*entry, variable, sizeof variable - 1) == 0) text = *entry + sizeof variable - 1;
    if (!text) return -1;
    long long values[most + 2] = {0};
    for (int i = 0; i < most + 2; i++) {
        char *end;
        errno = 0;
        values[i] = strtoll(text, &end, 10);
        if (end == text || errno != 0 || *end != (i == most + 1 ? '\0' : ' ')) return -1;
        text = end + 1;
    }
    // A child of that process inherits the variable, but not the socket.
    if (values[0] != getpid() || values[1] < 0 || values[1] > INT32_MAX) return -1;
    for (int i = 0; i < most && before; i++) before[i] = values[i + 2];
    return (int)values[1];
}

int hub_started_again_with(void) { return read_state(NULL); }

void hub_remember_arguments(char *const arguments[]) { words = arguments; }

int hub_start_again_after_crash(const char *path, int descriptor) {
    if (!words || atomic_exchange(&is_prepared, true)) return 0;
    int size = 0;
    while (environ && environ[size]) size++;
    variables = calloc((size_t)size + 2, sizeof *variables);
    program = strdup(path);
    if (!variables || !program) return -1;
    int next = 0;
    for (int i = 0; i < size; i++)
        if (strncmp(environ[i], variable, sizeof variable - 1) != 0 && !(variables[next++] = strdup(environ[i])))
            return -1;
    variables[next] = state;
    read_state(times);
    kept = descriptor;
    uint64_t limit = hub_open_file_limit();
    file_limit = limit < 1 << 20 ? (int)limit : 1 << 20;
    int signals[crash_count];
    for (int i = 0; i < crash_count; i++) signals[i] = crashes[i].number;
    hub_catch_faults(signals, crash_count);
    atomic_store(&is_armed, true);
    return 0;
}

// A thread that execve(2) ends takes a signal that it has just received with it, so the handler sends this one to the thread
// that waits for signals, and goes on when that thread has left the others to the new program.
enum { leave_to_the_next = SIGUSR2 };
static pthread_t waiting_thread;
static atomic_bool has_waiting_thread;
static atomic_bool has_left;

int hub_wait_for_signal(const sigset_t *signals) {
    sigset_t both = *signals, leave;
    sigemptyset(&leave);
    sigaddset(&leave, leave_to_the_next);
    sigaddset(&both, leave_to_the_next);
    pthread_sigmask(SIG_BLOCK, &leave, NULL);
    waiting_thread = pthread_self();
    atomic_store(&has_waiting_thread, true);
    int number;
    while (sigwait(&both, &number) == 0) {
        // A process that is asked to stop is not started again, unless that has begun.
        if (number == SIGINT || number == SIGTERM) atomic_store(&is_armed, false);
        if (atomic_load(&is_starting)) {
            // Every thread blocks it, so it stays pending and the new program receives it.
            if (number != leave_to_the_next) kill(getpid(), number);
            atomic_store(&has_left, true);
            while (atomic_load(&is_starting)) sleep(1);
            atomic_store(&has_left, false);
        } else if (number != leave_to_the_next) {
            return number;
        }
    }
    return 0;
}

// MARK: In the signal handler, so only what POSIX allows there.

static void append(char **end, const char *text) {
    size_t length = strlen(text);
    memcpy(*end, text, length);
    *end += length;
}

static void append_number(char **end, int64_t number) {
    char reversed[digits];
    int count = 0;
    do reversed[count++] = (char)('0' + number % 10); while ((number /= 10) > 0 && count < digits);
    while (count > 0) *(*end)++ = reversed[--count];
}

static void say(const char *name, const char *what) {
    char line[128], *end = line;
    append(&end, "hub: the server crashed (");
    append(&end, name);
    append(&end, what);
    if (write(STDERR_FILENO, line, (size_t)(end - line)) < 0) { /* nobody listens */ }
}

void hub_start_again(int signal) {
    if (!atomic_load(&is_armed)) return;
    const char *name = NULL;
    for (int i = 0; i < crash_count; i++)
        if (crashes[i].number == signal) name = crashes[i].name;
    if (!name) return;
    // The others crash too, or run on, until this thread has replaced the program.
    while (atomic_exchange(&is_starting, true)) sleep(1);
    if (!atomic_load(&is_armed)) {
        atomic_store(&is_starting, false);
        return;
    }
    int64_t now = seconds();
    if (times[most - 1] != 0 && now - times[most - 1] < window) {
        say(name, "), as it did before within a minute: it ends\n");
        atomic_store(&is_armed, false);
        atomic_store(&is_starting, false);
        return;
    }
    say(name, ") and starts again\n");
    char *end = state;
    append(&end, variable);
    append_number(&end, getpid());
    *end++ = ' ';
    append_number(&end, kept);
    *end++ = ' ';
    append_number(&end, now);
    for (int i = 0; i + 1 < most; i++) {
        *end++ = ' ';
        append_number(&end, times[i]);
    }
    *end = '\0';
    const struct timespec millisecond = {.tv_nsec = 1000000};
    if (atomic_load(&has_waiting_thread) && !pthread_equal(waiting_thread, pthread_self()) &&
        pthread_kill(waiting_thread, leave_to_the_next) == 0)
        // Not for ever: the crash may hold a lock which that thread waits for.
        for (int i = 0; i < 1000 && !atomic_load(&has_left); i++) nanosleep(&millisecond, NULL);
    for (int file = 3; file < file_limit; file++)
        if (file != kept) fcntl(file, F_SETFD, FD_CLOEXEC);
    fcntl(kept, F_SETFD, 0);
    // A mask outlives the program. SIGTERM and the like stay blocked, so that none is lost on the way.
    sigset_t faults;
    sigemptyset(&faults);
    for (int i = 0; i < crash_count; i++) sigaddset(&faults, crashes[i].number);
    sigprocmask(SIG_UNBLOCK, &faults, NULL);
    execve(program, words, variables);
    say(name, "), and the program cannot be started again\n");
    atomic_store(&is_armed, false);
    atomic_store(&is_starting, false);
}
