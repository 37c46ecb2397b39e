// The program's entry. In C, because Swift takes its arguments on Linux from /proc/self/cmdline, and where that cannot be
// opened it has none.
#include <fcntl.h>
#include <unistd.h>

// Sources/HubCLI/Hub.swift
_Noreturn void hub_main(int count, char **words);

// Where one of the three streams is closed, the next file or connection would get its number, and what is printed would go
// there. Each is opened in the direction that is not its own, so that using it fails as with a closed one: EBADF.
static void hold_streams(void) {
    for (int stream = 0; stream <= 2; stream++) {
        if (fcntl(stream, F_GETFD) == -1) open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
    }
}

int main(int count, char **words) {
    hold_streams();
    hub_main(count, words);
}
