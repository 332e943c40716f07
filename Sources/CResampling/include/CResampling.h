/// A reduction of 8-bit sRGB images in linear light.
///
/// libvips has no vector code for 16-bit samples, so that its own operations would take several times as long.
#ifndef DARKROOM_CRESAMPLING_H
#define DARKROOM_CRESAMPLING_H

#include <stdint.h>

#if !defined(__clang__)
#define _Nullable
#define _Nonnull
#endif

/// How one axis is reduced: first by boxes of `shrink` pixels each, then by weighted sums of boxes.
typedef struct {
    /// At least 1, at most 250. The last box may be incomplete.
    int32_t shrink;
    /// Boxes for each output pixel, an even number.
    int32_t taps;
    /// Output pixels.
    int32_t count;
    /// The first box of each output pixel, in ascending order.
    const int32_t *_Nonnull starts;
    /// `taps` weights for each output pixel, whose sum is 1 << 14. They are 0 for boxes beyond the image.
    const int16_t *_Nonnull weights;
} darkroom_light_axis;

/// Returns the lazy result for an image of one or three bands of 8 bits on the sRGB curve, to be released. The axes are
/// copied. Both images are `VipsImage`s: its header here would declare it a second time for Swift.
///
/// `detail`, 0 to 1.9, restores light that is missing where a decoder has averaged samples as they are stored. Each
/// pixel gets `detail` times the square of its difference from the mean of its four neighbors, where 1 is white.
void *_Nullable darkroom_light_reduce(
    void *_Nonnull image, const darkroom_light_axis *_Nonnull columns, const darkroom_light_axis *_Nonnull rows,
    double detail);

#endif
