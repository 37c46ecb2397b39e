#define _GNU_SOURCE
#include "CPlatform.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

// So that no zombie is left.
static void *reap(void *context) {
    int status;
    while (waitpid((pid_t)(intptr_t)context, &status, 0) < 0 && errno == EINTR) {}
    return NULL;
}

// Starts a program in a session of its own. `output` is its standard output, -1 for none; the others are /dev/null.
static int start(
    const char *path, char *const arguments[], char *const environment[], int output, pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    int fault = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    for (int stream = 1; stream <= 2 && fault == 0; stream++)
        fault = posix_spawn_file_actions_adddup2(&actions, stream == 1 && output >= 0 ? output : 0, stream);
    if (fault == 0) fault = posix_spawnattr_setsigmask(&attributes, &none);
    if (fault == 0) fault = posix_spawnattr_setsigdefault(&attributes, &all);
    if (fault == 0)
        fault = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    if (fault == 0) fault = posix_spawn(process, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return fault;
}

int hub_start_apart(const char *path, char *const arguments[], char *const environment[]) {
    pid_t process = 0;
    int fault = start(path, arguments, environment, -1, &process);
    if (fault == 0) hub_thread_start(128 << 10, reap, (void *)(intptr_t)process);
    return fault;
}

int hub_start_reading(
    const char *path, char *const arguments[], char *const environment[], pid_t *process, int *output) {
    int ends[2];
    // Only the copy that the program gets stays open in it.
#ifdef __linux__
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
#else
    if (pipe(ends) != 0) return errno;
    for (int end = 0; end < 2; end++) fcntl(ends[end], F_SETFD, FD_CLOEXEC);
#endif
    int fault = start(path, arguments, environment, ends[1], process);
    close(ends[1]);
    if (fault != 0) {
        close(ends[0]);
        return fault;
    }
    *output = ends[0];
    return 0;
}
