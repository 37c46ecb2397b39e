#include "CPictures.h"
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>

typedef struct {
    uint8_t *bytes, *row;
    size_t count, room;
} png_target;

static void fail(png_structp png, png_const_charp text) {
    (void)text;
    png_longjmp(png, 1);
}

static void say_nothing(png_structp png, png_const_charp text) { (void)png, (void)text; }

static void put(png_structp png, png_bytep bytes, size_t count) {
    png_target *target = png_get_io_ptr(png);
    if (target->room - target->count < count) {
        const size_t room = 2 * target->room + count + 4096;
        uint8_t *larger = realloc(target->bytes, room);
        if (!larger) png_error(png, "out of memory");
        target->bytes = larger;
        target->room = room;
    }
    memcpy(target->bytes + target->count, bytes, count);
    target->count += count;
}

static void flush(png_structp png) { (void)png; }

static void write_rows(
    png_structp png, png_target *target, const uint8_t *pixels, const uint8_t *alpha, size_t width, size_t height) {
    for (size_t y = 0; y < height; y++) {
        const uint8_t *row = pixels + 3 * width * y;
        if (alpha) {
            for (size_t x = 0; x < width; x++) {
                memcpy(target->row + 4 * x, row + 3 * x, 3);
                target->row[4 * x + 3] = alpha[width * y + x];
            }
            row = target->row;
        }
        png_write_row(png, row);
    }
}

/// What is written: pixels of 8 bits, or levels of 16.
typedef struct {
    const uint8_t *pixels, *alpha;
    const uint16_t *levels;
    uint32_t width, height;
} png_content;

static void write_content(png_structp png, png_infop header, png_target *target, const png_content *content) {
    const int color =
        content->levels ? PNG_COLOR_TYPE_GRAY : content->alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB;
    png_set_write_fn(png, target, put, flush);
    png_set_user_limits(png, 0x7FFFFFFF, 0x7FFFFFFF);
    png_set_IHDR(
        png, header, content->width, content->height, content->levels ? 16 : 8, color, PNG_INTERLACE_NONE,
        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, header);
    if (content->levels) {
        // A file has the upper byte first.
        const uint16_t one = 1;
        if (*(const uint8_t *)&one) png_set_swap(png);
        for (size_t y = 0; y < content->height; y++)
            png_write_row(png, (png_const_bytep)(content->levels + (size_t)content->width * y));
    } else {
        write_rows(png, target, content->pixels, content->alpha, content->width, content->height);
    }
    png_write_end(png, header);
}

static uint8_t *written(const png_content *content, size_t *count) {
    png_target *target = calloc(1, sizeof *target);
    if (!target) return NULL;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, fail, say_nothing);
    png_infop header = png ? png_create_info_struct(png) : NULL;
    target->row = content->alpha ? malloc(4 * (size_t)content->width) : NULL;
    volatile int is_written = 0;
    if (header && (!content->alpha || target->row) && !setjmp(png_jmpbuf(png))) {
        write_content(png, header, target, content);
        is_written = 1;
    }
    png_destroy_write_struct(&png, &header);
    uint8_t *bytes = target->bytes;
    *count = target->count;
    if (!is_written) {
        free(bytes);
        bytes = NULL;
    }
    free(target->row);
    free(target);
    return bytes;
}

uint8_t *hub_png_write(const uint8_t *pixels, const uint8_t *alpha, uint32_t width, uint32_t height, size_t *count) {
    const png_content content = {.pixels = pixels, .alpha = alpha, .width = width, .height = height};
    return written(&content, count);
}

uint8_t *hub_png_write_levels(const uint16_t *levels, uint32_t width, uint32_t height, size_t *count) {
    const png_content content = {.levels = levels, .width = width, .height = height};
    return written(&content, count);
}
