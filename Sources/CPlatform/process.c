#define _GNU_SOURCE
#include "CPlatform.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>

// So that no zombie is left.
static void *reap(void *context) {
    int status;
    while (waitpid((pid_t)(intptr_t)context, &status, 0) < 0 && errno == EINTR) {}
    return NULL;
}

int hub_start_apart(const char *path, char *const arguments[], char *const environment[]) {
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
        fault = posix_spawn_file_actions_adddup2(&actions, 0, stream);
    if (fault == 0) fault = posix_spawnattr_setsigmask(&attributes, &none);
    if (fault == 0) fault = posix_spawnattr_setsigdefault(&attributes, &all);
    if (fault == 0)
        fault = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    pid_t process = 0;
    if (fault == 0) fault = posix_spawn(&process, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (fault == 0) hub_thread_start(128 << 10, reap, (void *)(intptr_t)process);
    return fault;
}
