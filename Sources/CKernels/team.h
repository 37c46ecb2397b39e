#pragma once
#include "kernels.h"
#include <sched.h>

/// Working memory of one thread.
enum { HUB_WORKER_BYTES = HUB_SCRATCH + HUB_PAIRED * HUB_TOKENS * HUB_MOST_LANES * 4 };
void *hub_team_scratch(hub_team *team, size_t worker);
