#include "CPictures.h"
#include <string.h>

/// Pixels of a side of the blocks that are turned one after the other, so that both pictures stay in the cache.
#define BLOCK 32

void hub_picture_turn(
    const uint8_t *source, uint32_t width, uint32_t height, size_t pixel_bytes, int orientation, uint8_t *target) {
    const int swaps = orientation >= 5;
    // Whether the result's x runs against the source's (y where they swap), and its y likewise.
    const int is_mirrored = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
    const int is_flipped = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    const size_t columns = swaps ? height : width, rows = swaps ? width : height;
    for (size_t top = 0; top < rows; top += BLOCK) {
        for (size_t left = 0; left < columns; left += BLOCK) {
            for (size_t y = top; y < rows && y < top + BLOCK; y++) {
                for (size_t x = left; x < columns && x < left + BLOCK; x++) {
                    const size_t across = is_mirrored ? columns - 1 - x : x, down = is_flipped ? rows - 1 - y : y;
                    const size_t from = swaps ? across * width + down : down * width + across;
                    memcpy(target + (y * columns + x) * pixel_bytes, source + from * pixel_bytes, pixel_bytes);
                }
            }
        }
    }
}
