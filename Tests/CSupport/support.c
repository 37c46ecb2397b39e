#define _GNU_SOURCE
#include "CSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

// One program at a time, so that where pipes cannot be made close-on-exec in one step no other program inherits them.
static pthread_mutex_t spawning = PTHREAD_MUTEX_INITIALIZER;

static int make_pipe(int ends[2]) {
    if (pipe(ends) != 0) return errno;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

static int make_terminal(unsigned short columns, unsigned short rows, int *ours, int *theirs) {
    *ours = posix_openpt(O_RDWR | O_NOCTTY);
    if (*ours < 0) return errno;
    fcntl(*ours, F_SETFD, FD_CLOEXEC);
    if (grantpt(*ours) != 0 || unlockpt(*ours) != 0) return errno;
    *theirs = open(ptsname(*ours), O_RDWR | O_NOCTTY);
    if (*theirs < 0) return errno;
    fcntl(*theirs, F_SETFD, FD_CLOEXEC);
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    return ioctl(*theirs, TIOCSWINSZ, &size) == 0 ? 0 : errno;
}

// Until it is another program, a child has every file open that the tests have, and hub, which asks what other processes
// have open, would find it. So that time is short: no copy of the memory, and the descriptors go first.
#ifdef __linux__
#define make_child vfork
#else
#define make_child fork
#endif

static void close_all_but(int kept) {
#if defined(__linux__) && defined(SYS_close_range)
    if ((kept == 3 || syscall(SYS_close_range, 3, kept - 1, 0) == 0) && syscall(SYS_close_range, kept + 1, ~0U, 0) == 0)
        return;
#endif
    for (int i = 3; i < 65536; i++)
        if (i != kept) close(i);
}

// Between fork and exec: only what is safe in a signal handler, and where memory is shared.
static void become(const char *path, char *const arguments[], char *const environment[], const char *directory,
                   const int standard[3], int terminal, int report) {
    int number;
    if (terminal >= 0) {
        if (setsid() < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0) goto failed;
    } else if (setpgid(0, 0) < 0) {
        goto failed;
    }
    for (int i = 0; i < 3; i++)
        if (dup2(standard[i], i) < 0) goto failed;
    close_all_but(report);
    if (directory && chdir(directory) != 0) goto failed;
    // The test runner's threads may have signals blocked or ignored, and both survive exec.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int i = 1; i < 32; i++) signal(i, SIG_DFL);
    execve(path, arguments, environment);
failed:
    number = errno;
    while (write(report, &number, sizeof number) < 0 && errno == EINTR) {}
    _exit(127);
}

static void close_all(int *descriptors, int count) {
    for (int i = 0; i < count; i++) {
        if (descriptors[i] >= 0) close(descriptors[i]);
        descriptors[i] = -1;
    }
}

int support_spawn(const char *path, char *const arguments[], char *const environment[], const char *directory,
                  int on_terminal, unsigned short columns, unsigned short rows, support_process *process) {
    // Ours and theirs of input, output, error; both sides of the terminal; both ends of exec's report.
    int ours[3] = {-1, -1, -1}, theirs[3] = {-1, -1, -1}, terminal[2] = {-1, -1}, report[2] = {-1, -1};
    int fault = 0;
    pthread_mutex_lock(&spawning);
    if (on_terminal) fault = make_terminal(columns, rows, &terminal[0], &terminal[1]);
    for (int i = 0; i < 3 && !fault; i++) {
        if (on_terminal & (1 << i)) continue;
        int ends[2];
        if ((fault = make_pipe(ends))) break;
        ours[i] = ends[i == 0 ? 1 : 0];
        theirs[i] = ends[i == 0 ? 0 : 1];
    }
    if (!fault) fault = make_pipe(report);
    pid_t pid = -1;
    if (!fault) {
        int standard[3];
        for (int i = 0; i < 3; i++) standard[i] = on_terminal & (1 << i) ? terminal[1] : theirs[i];
        pid = make_child();
        if (pid == 0) become(path, arguments, environment, directory, standard, terminal[1], report[1]);
        if (pid < 0) fault = errno;
    }
    close_all(theirs, 3);
    close_all(&terminal[1], 1);
    close_all(&report[1], 1);
    pthread_mutex_unlock(&spawning);
    if (!fault) {
        ssize_t count;
        do count = read(report[0], &fault, sizeof fault); while (count < 0 && errno == EINTR);
        if (count != sizeof fault) fault = 0;
        if (fault) waitpid(pid, NULL, 0);
    }
    close_all(report, 2);
    if (fault) {
        close_all(ours, 3);
        close_all(terminal, 2);
        return fault;
    }
    *process = (support_process){pid, ours[0] >= 0 ? ours[0] : terminal[0], ours[1], ours[2], terminal[0]};
    return 0;
}

int support_wait(pid_t pid, int *signalled) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    *signalled = WIFSIGNALED(status);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int support_resize(int terminal, unsigned short columns, unsigned short rows) {
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    return ioctl(terminal, TIOCSWINSZ, &size) == 0 ? 0 : errno;
}

ssize_t support_send(int socket, const void *bytes, size_t count) {
#ifdef SO_NOSIGPIPE
    int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
    return send(socket, bytes, count, 0);
#else
    return send(socket, bytes, count, MSG_NOSIGNAL);
#endif
}

int support_set_times(const char *path, double seconds) {
    struct timespec time = {.tv_sec = (time_t)seconds}, times[2] = {time, time};
    return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}
