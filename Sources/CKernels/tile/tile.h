// Products of a tile with rows of activations, for any instruction set.
//
// The arithmetic of an output is the same in every function and instruction set: blocks of columns in order, in each
// block an exact integer sum (fast), or in each chunk HUB_CHAINS chains of fused multiply-adds (exact), added to the
// total. So its bits depend neither on the rows of activations beside it nor on the instruction set.
#pragma once
#include "exact.h"
#include "fast.h"
#include "hqq.h"
