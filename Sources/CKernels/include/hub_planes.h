// Convolutions of pictures. A plane is [height][width][channels] float32: the channels of a place lie side by side, so a
// convolution over places is a product of rows with a matrix, and what each channel does alone runs in vectors.
#pragma once
#include "hub_compute.h"

/// A square window that moves over a plane; places outside of the plane count as 0.
typedef struct {
    size_t height, width, channels; ///< of the plane that is read
    size_t side, stride;            ///< places along a side of the window, and from one to the next
    size_t top, left;               ///< rows and columns of nothing before the plane
    size_t rows, columns;           ///< of the plane that is made
} hub_window;

/// Writes down what the window sees from `count` places on, the first of which is `first`, row by row:
/// out[place][group][y][x][channels / groups].
void hub_gather_windows(
    hub_team *team, const float *x, const hub_window *window, size_t groups, size_t first, size_t count, float *out);

/// A convolution of each channel alone: out[place][c] = bias[c] + sum over y, x of weights[y][x][c] * x[place + (y, x)][c].
void hub_convolve_channels(
    hub_team *team, const float *x, const hub_window *window, const float *weights, const float *bias, float *out);

/// The largest of what the window sees, or the mean, of places in the plane alone.
typedef enum { HUB_LARGEST, HUB_MEAN } hub_pooling;
void hub_pool(hub_team *team, hub_pooling pooling, const float *x, const hub_window *window, float *out);

/// out[c] = the sum of a channel, or of its squares, over all places: those of a row first, then the rows.
void hub_sum_places(
    hub_team *team, const float *x, size_t height, size_t width, size_t channels, bool squared, float *out);
