// Restores the terminal after a full-screen program, however it ends.
#include "CPlatform.h"
#include "faults.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

// Signals that end a program. SIGINT, SIGTERM and SIGTSTP are missing: a thread waits for them.
static const int ending[] = {SIGHUP, SIGQUIT};
enum { ending_count = sizeof ending / sizeof *ending };
// Faults have a handler of their own, which gives the terminal back where nothing can be repaired.
static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};

static struct sigaction former[ending_count], former_size;
static struct termios before;
static int terminal, wake;
static char leaving[256];
// The thread that stops the process reads it while another ends the guard.
static atomic_size_t leaving_length;
static atomic_bool is_taken;

// Only what POSIX allows in a handler.
static void give_back(void) {
    if (!atomic_exchange(&is_taken, false)) return;
    const char *rest = leaving;
    size_t length = leaving_length;
    while (length > 0) {
        ssize_t count = write(terminal, rest, length);
        if (count < 0 && errno != EINTR) break;
        if (count > 0) rest += count, length -= (size_t)count;
    }
    // TCSANOW: a stopped terminal must not delay the end of the process.
    while (tcsetattr(terminal, TCSANOW, &before) != 0 && errno == EINTR) {}
}

static void on_ending(int number) {
    int saved = errno;
    give_back();
    // Then the previous action.
    for (int i = 0; i < ending_count; i++)
        if (ending[i] == number) sigaction(number, &former[i], NULL);
    raise(number);
    errno = saved;
}

static void on_size(int number) {
    int saved = errno;
    (void)number;
    if (write(wake, "w", 1) < 0) { /* the pipe is full: it wakes anyway */ }
    errno = saved;
}

static void on_exit_of_program(void) { give_back(); }

int hub_terminal_guard_begin(int descriptor, int wake_descriptor) {
    static bool is_registered;
    if (tcgetattr(descriptor, &before) != 0) return -1;
    terminal = descriptor;
    wake = wake_descriptor;
    leaving_length = 0;
    atomic_store(&is_taken, true);
    hub_catch_faults(faults, sizeof faults / sizeof *faults);
    struct sigaction ours = {.sa_handler = on_ending, .sa_flags = SA_ONSTACK};
    sigfillset(&ours.sa_mask);
    for (int i = 0; i < ending_count; i++) {
        sigaction(ending[i], NULL, &former[i]);
        if (former[i].sa_handler != SIG_IGN) sigaction(ending[i], &ours, NULL);
    }
    struct sigaction size = {.sa_handler = on_size, .sa_flags = SA_RESTART};
    sigemptyset(&size.sa_mask);
    sigaction(SIGWINCH, &size, &former_size);
    if (!is_registered) is_registered = atexit(on_exit_of_program) == 0;
    return 0;
}

void hub_terminal_guard_leaving(const char *text, size_t length) {
    leaving_length = 0;
    if (length > sizeof leaving) length = sizeof leaving;
    memcpy(leaving, text, length);
    leaving_length = length;
}

void hub_terminal_guard_give_back(void) { give_back(); }

void hub_terminal_guard_take_again(void) { atomic_store(&is_taken, true); }

void hub_terminal_guard_end(void) {
    // A program that left the terminal by itself has nothing more to write.
    leaving_length = 0;
    give_back();
    for (int i = 0; i < ending_count; i++) sigaction(ending[i], &former[i], NULL);
    sigaction(SIGWINCH, &former_size, NULL);
}
