// Planes in other sizes, and what each place of one is most likely. A plane is [height][width][channels] float32.
#pragma once
#include "hub_compute.h"

/// A plane, and the rows and columns that are made of it.
typedef struct {
    const float *x;
    size_t height, width, channels;
    size_t rows, columns;
    /// Whether the centres of the outermost places stay where they are, and not the edges of the plane.
    bool keeps_corners;
} hub_resizing;

/// Each place between four of the plane, as PyTorch's `interpolate(mode="bilinear")` weighs them:
/// out[row][column][channel] = what is there, or is added to what `out` holds if `adds`.
void hub_resize_places(hub_team *team, const hub_resizing *resizing, bool adds, float *out);

/// Floats of hub_label_places' scratch memory.
size_t hub_label_scratch(hub_team *team, const hub_resizing *resizing);
/// The channel with the largest number at each place of the resized plane, the first of equals, and its share of the
/// softmax over channels. NaN is never the largest; where all are, it is channel 0.
void hub_label_places(hub_team *team, const hub_resizing *resizing, float *scratch, uint32_t *labels, float *shares);
