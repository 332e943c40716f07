#ifndef DARKROOM_CFACES_H
#define DARKROOM_CFACES_H

#include <stdbool.h>
#include <stdint.h>

#if !defined(__clang__)
#define _Nullable
#define _Nonnull
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// A face in pixels of the image it was found in, which it may exceed at the edges.
struct darkroom_face {
    int32_t left, top, width, height;
    /// The score above the detector's threshold; more is more certain.
    double confidence;
};

/// Whether dlib's headers were there when this was compiled.
bool darkroom_faces_built_in(void);

/// Makes the detector, which takes about half a second, unless it is made. Starts no thread. False without dlib, or
/// without memory.
bool darkroom_faces_prepare(void);

/// Finds frontal faces of at least 80 pixels a side, the most certain first.
///
/// - `gray`: `height` rows of `width` bytes.
/// - Returns the number of faces in `faces`, at most `capacity`, or -1 without dlib, or without memory.
int32_t darkroom_faces_find(
    const uint8_t *_Nullable gray, int32_t width, int32_t height, struct darkroom_face *_Nonnull faces, int32_t capacity);

#ifdef __cplusplus
}
#endif

#endif
