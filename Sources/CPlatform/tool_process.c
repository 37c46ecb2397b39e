#define _GNU_SOURCE
#include "CPlatform.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

// Only the copy that the program gets stays open in it.
static int closing_pipe(int ends[2]) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC);
#else
    if (pipe(ends) != 0) return -1;
    for (int end = 0; end < 2; end++) fcntl(ends[end], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

int hub_start_piped(
    const char *path, char *const arguments[], char *const environment[], pid_t *process, int ours[3]) {
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
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
    int fault = 0;
    for (int stream = 0; stream < 3 && fault == 0; stream++) {
        if (closing_pipe(pipes[stream]) != 0) fault = errno;
        // It reads its input, and writes the others.
        if (fault == 0)
            fault = posix_spawn_file_actions_adddup2(&actions, pipes[stream][stream == 0 ? 0 : 1], stream);
    }
    if (fault == 0) fault = posix_spawnattr_setsigmask(&attributes, &none);
    if (fault == 0) fault = posix_spawnattr_setsigdefault(&attributes, &all);
    if (fault == 0)
        fault = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    if (fault == 0) fault = posix_spawn(process, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    for (int stream = 0; stream < 3; stream++) {
        int own = stream == 0 ? 1 : 0;
        if (pipes[stream][1 - own] >= 0) close(pipes[stream][1 - own]);
        ours[stream] = pipes[stream][own];
        if (fault != 0 && ours[stream] >= 0) close(ours[stream]);
    }
    if (fault == 0) fcntl(ours[0], F_SETFL, O_NONBLOCK);
    return fault;
}

int hub_has_exited(pid_t process) {
    siginfo_t info = {0};
    // WNOWAIT: its id, which is its group's too, stays its own.
    return waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == process;
}
