// The one handler of the signals that a fault raises.
#include "faults.h"
#include "CPlatform.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { most = 65 };
static struct sigaction former[most];
static atomic_bool is_caught[most];

static void on_fault(int number, siginfo_t *info, void *context) {
    int saved = errno;
    (void)context;
    // A fault has a small positive code; what was sent by kill(2) has another, and no address.
    bool is_fault = info->si_code > 0 && info->si_code < 0x10000;
    if (number == SIGBUS && is_fault && hub_repair_mapping((uintptr_t)info->si_addr)) {
        errno = saved;
        return;
    }
    hub_terminal_guard_give_back();
    hub_start_again(number);
    // A fault is raised again by the same instruction and reaches the former action with its address. After a trap
    // (int3) the program would go on behind the instruction.
    sigaction(number, &former[number], NULL);
    if (!is_fault || number == SIGTRAP) raise(number);
    errno = saved;
}

void hub_catch_faults(const int *signals, int count) {
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    // A second fault while one is dealt with is not to be survived, but SIGBUS may come to several threads.
    sigemptyset(&ours.sa_mask);
    for (int i = 0; i < count; i++) {
        int number = signals[i];
        if (atomic_exchange(&is_caught[number], true)) continue;
        sigaction(number, NULL, &former[number]);
        if (former[number].sa_handler != SIG_IGN) sigaction(number, &ours, NULL);
    }
}
