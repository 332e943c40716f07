#include "CFaces.h"

#if __has_include(<dlib/image_processing/frontal_face_detector.h>)

// All of dlib that is used is in its headers and below, so neither libdlib nor LAPACK is linked. Its namespace has
// another name, so that a program may link libdlib too.
#define dlib darkroom_dlib
// These include dlib's configuration, which states the libraries that libdlib was built with.
#include <dlib/assert.h>
#include <dlib/test_for_odr_violations.h>
#undef DLIB_USE_BLAS
#undef DLIB_USE_LAPACK

#include <dlib/image_processing/frontal_face_detector.h>

#include "archive.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace {

using Detector = dlib::frontal_face_detector;

/// The detector, made at the first call. Throws without memory.
Detector &detector() {
    static Detector made = dlib::get_frontal_face_detector();
    return made;
}

/// The detector holds the pyramid of its last image.
std::mutex one_at_a_time;

} // namespace

bool darkroom_faces_built_in(void) { return true; }

bool darkroom_faces_prepare(void) {
    try {
        detector();
        return true;
    } catch (...) {
        return false;
    }
}

int32_t darkroom_faces_find(
    const uint8_t *gray, int32_t width, int32_t height, struct darkroom_face *faces, int32_t capacity) {
    try {
        dlib::array2d<unsigned char> image(height, width);
        for (int32_t row = 0; row < height; row++)
            for (int32_t column = 0; column < width; column++)
                image[row][column] = gray[static_cast<size_t>(row) * static_cast<size_t>(width) + column];
        std::vector<dlib::rect_detection> found;
        {
            std::lock_guard<std::mutex> guard(one_at_a_time);
            detector()(image, found);
        }
        auto count = static_cast<int32_t>(std::min<size_t>(found.size(), static_cast<size_t>(capacity)));
        for (int32_t index = 0; index < count; index++) {
            const auto &face = found[index];
            faces[index] = {
                static_cast<int32_t>(face.rect.left()), static_cast<int32_t>(face.rect.top()),
                static_cast<int32_t>(face.rect.width()), static_cast<int32_t>(face.rect.height()),
                face.detection_confidence};
        }
        return count;
    } catch (...) {
        return -1;
    }
}

#else

bool darkroom_faces_built_in(void) { return false; }
bool darkroom_faces_prepare(void) { return false; }
int32_t darkroom_faces_find(const uint8_t *, int32_t, int32_t, struct darkroom_face *, int32_t) { return -1; }

#endif
