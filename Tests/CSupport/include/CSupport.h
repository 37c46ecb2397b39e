// Starting programs for tests. In C because a new terminal session needs steps between fork and exec, where Swift's
// runtime must not run.
#pragma once
#include <sys/types.h>

/// A started program. Each descriptor is ours to close; `input` and the terminal's side of the others may be the same
/// number.
typedef struct {
    pid_t pid;
    int input;
    int output;   ///< -1 for the terminal
    int error;    ///< -1 for the terminal
    int terminal; ///< the controlling side, or -1
} support_process;

enum { SUPPORT_INPUT = 1, SUPPORT_OUTPUT = 2, SUPPORT_ERROR = 4 };

/// Runs `path` in its own process group. `on_terminal` says which of its standard descriptors are one new
/// pseudo-terminal of this size; the others are pipes. 0, or the errno of the step that failed, exec's included.
int support_spawn(const char *path, char *const arguments[], char *const environment[], const char *directory,
                  int on_terminal, unsigned short columns, unsigned short rows, support_process *process);

/// waitpid(2) until the program ends. Its exit status, or 128 + the signal that ended it and `signalled` set to 1.
int support_wait(pid_t pid, int *signalled);

/// Gives a terminal, from its controlling side, another size; its programs get SIGWINCH. 0, or errno.
int support_resize(int terminal, unsigned short columns, unsigned short rows);

/// send(2) without the signal that ends a process whose other side is gone. -1 with errno.
ssize_t support_send(int socket, const void *bytes, size_t count);

/// Sets the times of a path itself, of a link too, in seconds since 1970. 0, or errno.
int support_set_times(const char *path, double seconds);
