// The program's entry. In C, because Swift takes its arguments on Linux from /proc/self/cmdline, and where that cannot be
// opened it has none.

// Sources/HubCLI/Hub.swift
_Noreturn void hub_main(int count, char **words);

int main(int count, char **words) { hub_main(count, words); }
