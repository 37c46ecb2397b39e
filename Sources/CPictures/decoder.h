// What the formats have in common. A format's functions work on a state of their own that begins with these.
#pragma once
#include "CPictures.h"

typedef struct hub_picture_format {
    hub_picture_outcome (*open)(const uint8_t *bytes, size_t count, void **state, hub_picture_info *info);
    hub_picture_outcome (*read)(void *state, uint8_t *pixels, uint8_t *alpha, hub_picture_info *info);
    void (*close)(void *state);
} hub_picture_format;

extern const hub_picture_format hub_picture_jpeg, hub_picture_png, hub_picture_webp, hub_picture_gif, hub_picture_heif;

/// Writes down why a file cannot be read.
hub_picture_outcome hub_picture_fault(hub_picture_info *info, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Separates `count` pixels of RGBA; alpha may be NULL.
void hub_picture_split(const uint8_t *rgba, size_t count, uint8_t *pixels, uint8_t *alpha);
