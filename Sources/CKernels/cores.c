#ifdef __linux__
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
#else
#include <sys/sysctl.h>
#endif
#include "CKernels.h"

#ifdef __linux__
/// The lowest CPU of the core that `cpu` belongs to; `cpu` itself if the kernel does not report it.
static int core_leader(int cpu) {
    // https://docs.kernel.org/admin-guide/cputopology.html: "0,4" or "0-1".
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "re");
    if (!file) return cpu;
    int leader;
    if (fscanf(file, "%d", &leader) != 1) leader = cpu;
    fclose(file);
    return leader;
}

size_t hub_physical_cores(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        return online > 0 ? (size_t)online : 1;
    }
    cpu_set_t leaders;
    CPU_ZERO(&leaders);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed)) {
            int leader = core_leader(cpu);
            if (leader >= 0 && leader < CPU_SETSIZE) CPU_SET(leader, &leaders);
        }
    int count = CPU_COUNT(&leaders);
    return count > 0 ? (size_t)count : 1;
}
#else
size_t hub_physical_cores(void) {
    int count = 0;
    size_t size = sizeof count;
    // On Apple silicon only the fast cores: the slow ones delay every step that all threads share.
    if (sysctlbyname("hw.perflevel0.physicalcpu", &count, &size, NULL, 0) == 0 && count > 0) return (size_t)count;
    size = sizeof count;
    return sysctlbyname("hw.physicalcpu", &count, &size, NULL, 0) == 0 && count > 0 ? (size_t)count : 1;
}
#endif
