// Compute kernels of the inference kit, and scans of weights for its checks.
#pragma once
#include "hub_compute.h"
#include "hub_maps.h"
#include "hub_planes.h"
#include "hub_recurrence.h"
#include "hub_scan.h"
/// Hints that memory is about to be read. Any address is allowed.
static inline void hub_prefetch(const void *address) { __builtin_prefetch(address); }
