#include "decoder.h"
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>

typedef struct {
    png_structp png;
    png_infop header;
    const uint8_t *bytes;
    size_t left;
    hub_picture_info *info;
    hub_picture_outcome outcome;
    uint8_t *rows;
} png_state;

static void fail(png_structp png, png_const_charp text) {
    png_state *state = png_get_error_ptr(png);
    if (state->outcome == HUB_PICTURE_DONE) {
        state->outcome =
            strstr(text, "emory") ? HUB_PICTURE_NO_MEMORY : hub_picture_fault(state->info, "%s", text);
    }
    png_longjmp(png, 1);
}

static void say_nothing(png_structp png, png_const_charp text) { (void)png, (void)text; }

static void take(png_structp png, png_bytep target, size_t count) {
    png_state *state = png_get_io_ptr(png);
    if (count > state->left) {
        state->outcome = hub_picture_fault(state->info, "it ends before the picture does");
        png_longjmp(png, 1);
    }
    memcpy(target, state->bytes, count);
    state->bytes += count;
    state->left -= count;
}

static void close(void *opened) {
    png_state *state = opened;
    png_destroy_read_struct(&state->png, &state->header, NULL);
    free(state->rows);
    free(state);
}

static hub_picture_outcome open(const uint8_t *bytes, size_t count, void **opened, hub_picture_info *info) {
    png_state *state = calloc(1, sizeof *state);
    if (!state) return HUB_PICTURE_NO_MEMORY;
    *opened = state;
    *state = (png_state){.bytes = bytes, .left = count, .info = info};
    state->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, state, fail, say_nothing);
    if (state->png) state->header = png_create_info_struct(state->png);
    if (!state->header) return HUB_PICTURE_NO_MEMORY;
    if (setjmp(png_jmpbuf(state->png))) return state->outcome;
    png_set_read_fn(state->png, state, take);
    // Sides and pixels are limited by the caller, the file's length limits a chunk. Only the chunks that pixels are made of are
    // looked at: no profile, no gamma, and no text that is a kilobyte here and a gigabyte unpacked.
    png_set_user_limits(state->png, 0x7FFFFFFF, 0x7FFFFFFF);
    png_set_chunk_malloc_max(state->png, 0);
    png_set_keep_unknown_chunks(state->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(state->png, state->header);
    info->width = png_get_image_width(state->png, state->header);
    info->height = png_get_image_height(state->png, state->header);
    info->has_alpha = (png_get_color_type(state->png, state->header) & PNG_COLOR_MASK_ALPHA) != 0
        || png_get_valid(state->png, state->header, PNG_INFO_tRNS) != 0;
    return HUB_PICTURE_DONE;
}

/// Asks for RGB or RGBA of 8 bits, but for grey of 16 bits, which stays.
/// - Returns: whether it is that.
static int choose_samples(png_state *state, int wants_alpha) {
    png_structp png = state->png;
    const int color = png_get_color_type(png, state->header), depth = png_get_bit_depth(png, state->header);
    const int is_deep_grey = depth == 16 && color == PNG_COLOR_TYPE_GRAY;
    if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    if (color == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
    // The upper byte, as Pillow takes it.
    if (depth == 16 && !is_deep_grey) png_set_strip_16(png);
    if (color == PNG_COLOR_TYPE_GRAY || color == PNG_COLOR_TYPE_GRAY_ALPHA) png_set_gray_to_rgb(png);
    if (png_get_valid(png, state->header, PNG_INFO_tRNS)) png_set_tRNS_to_alpha(png);
    if (!wants_alpha) {
        png_set_strip_alpha(png);
    } else {
        png_set_add_alpha(png, is_deep_grey ? 0xFFFF : 0xFF, PNG_FILLER_AFTER);
    }
    return is_deep_grey;
}

// Samples of 16 bits to 8, those above 255 as 255: Pillow's way with grey. Alpha is the upper byte.
static void clip_row(uint8_t *row, size_t pixels, int channels) {
    for (size_t at = 0; at < pixels * (size_t)channels; at++) {
        const int is_alpha = channels == 4 && at % 4 == 3;
        row[at] = is_alpha || row[2 * at] == 0 ? row[2 * at + !is_alpha] : 255;
    }
}

static hub_picture_outcome read_rows(png_state *state, uint8_t *pixels, uint8_t *alpha) {
    png_structp png = state->png;
    const size_t width = state->info->width, height = state->info->height;
    const int channels = alpha ? 4 : 3;
    const int is_deep_grey = choose_samples(state, alpha != NULL);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, state->header);
    const size_t row_bytes = png_get_rowbytes(png, state->header);
    if (row_bytes != width * (size_t)channels * (is_deep_grey ? 2 : 1)) {
        return hub_picture_fault(state->info, "its samples are of an unknown form");
    }
    const int is_direct = !alpha && !is_deep_grey;
    if (!is_direct) {
        // An interlaced picture is completed pass by pass, so all of its rows are kept.
        state->rows = calloc(passes > 1 ? height : 1, row_bytes);
        if (!state->rows) return HUB_PICTURE_NO_MEMORY;
    }
    for (int pass = 0; pass < passes; pass++) {
        for (size_t y = 0; y < height; y++) {
            uint8_t *row = is_direct ? pixels + y * row_bytes : state->rows + (passes > 1 ? y * row_bytes : 0);
            png_read_row(png, row, NULL);
            if (is_direct || pass < passes - 1) continue;
            if (is_deep_grey) clip_row(row, width, channels);
            if (alpha) {
                hub_picture_split(row, width, pixels + 3 * width * y, alpha + width * y);
            } else {
                memcpy(pixels + 3 * width * y, row, 3 * width);
            }
        }
    }
    return HUB_PICTURE_DONE;
}

static hub_picture_outcome read(void *opened, uint8_t *pixels, uint8_t *alpha, hub_picture_info *info) {
    png_state *state = opened;
    state->info = info;
    if (setjmp(png_jmpbuf(state->png))) return state->outcome;
    return read_rows(state, pixels, alpha);
}

const hub_picture_format hub_picture_png = {open, read, close};
