// Turns echo off while a secret is typed and restores it, however the program ends.
#include "CPlatform.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

// Signals that end or stop a program at its prompt. SIGINT and SIGTERM are missing: the program handles those itself.
static const int caught[] = {SIGHUP, SIGQUIT, SIGTSTP};
enum { caught_count = sizeof caught / sizeof *caught };

static struct sigaction former[caught_count];
static struct termios shown, hidden;
static int terminal;
static char prompt[256];
static atomic_bool is_hidden;
static atomic_int handlers_running;

static int set_mode(const struct termios *mode) {
    int result;
    // TCSAFLUSH: drops input typed ahead, so it is not read as the secret, nor the secret's rest as a command.
    do result = tcsetattr(terminal, TCSAFLUSH, mode); while (result != 0 && errno == EINTR);
    return result;
}

// To the terminal, because stderr may be a file. If the terminal is open for reading only, to stderr.
static void say(const char *text) {
    if (write(terminal, text, strlen(text)) < 0 && write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

static int ask(void) {
    if (set_mode(&hidden) != 0) return -1;
    say(prompt);
    return 0;
}

// Only calls that POSIX allows in a handler; tcsetattr is one.
static void on_signal(int number) {
    int saved = errno;
    atomic_fetch_add(&handlers_running, 1);
    if (is_hidden) {
        set_mode(&shown);
        say("\n");
    }
    // Then the signal's default action.
    struct sigaction standard = {.sa_handler = SIG_DFL}, ours;
    sigset_t own, before;
    sigemptyset(&standard.sa_mask);
    sigemptyset(&own);
    sigaddset(&own, number);
    sigaction(number, &standard, &ours);
    pthread_sigmask(SIG_UNBLOCK, &own, &before);
    raise(number);
    // Only a stop returns here, after SIGCONT.
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sigaction(number, &ours, NULL);
    if (is_hidden) ask();
    atomic_fetch_sub(&handlers_running, 1);
    errno = saved;
}

int hub_secret_begin(int descriptor, const char *text) {
    if (tcgetattr(descriptor, &shown) != 0) return -1;
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    terminal = descriptor;
    snprintf(prompt, sizeof prompt, "%s", text);
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&ours.sa_mask);
    for (int i = 0; i < caught_count; i++) sigaddset(&ours.sa_mask, caught[i]);
    for (int i = 0; i < caught_count; i++) {
        sigaction(caught[i], NULL, &former[i]);
        if (former[i].sa_handler != SIG_IGN) sigaction(caught[i], &ours, NULL);
    }
    is_hidden = true;
    if (ask() == 0) return 0;
    int number = errno;
    hub_secret_end();
    errno = number;
    return -1;
}

void hub_secret_end(void) {
    if (!atomic_exchange(&is_hidden, false)) return;
    // A running handler may be about to turn echo off again.
    while (atomic_load(&handlers_running) > 0) sched_yield();
    for (int i = 0; i < caught_count; i++) sigaction(caught[i], &former[i], NULL);
    set_mode(&shown);
    say("\n");
}
