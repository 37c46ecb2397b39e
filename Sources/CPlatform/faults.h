// What the files of this target that deal with faults have in common.
#pragma once
#include <signal.h>
#include <stdint.h>

/// Gives signals to the one handler of faults, unless they are ignored. It repairs what can be repaired; otherwise it
/// restores the terminal, starts the program again if that was asked for, and leaves the signal to its former action.
void hub_catch_faults(const int *signals, int count);

/// Puts zeros in the place of what cannot be read at an address of a mapped file: 1, or 0 where no file is mapped.
int hub_repair_mapping(uintptr_t address);

/// Starts the program again if that was asked for; returns where it was not, or cannot be done.
void hub_start_again(int signal);
