#include "thumbnail.h"

#include <vips/vips.h>

int thumbnail_as_jpeg(const void *bytes, size_t count, int width, size_t *encoded) {
    VipsImage *image = NULL;
    void *output = NULL;
    if (vips_thumbnail_buffer((void *)bytes, count, &image, width, "height", 10000000, "size", VIPS_SIZE_DOWN, NULL)) {
        return -1;
    }
    int failed = vips_jpegsave_buffer(image, &output, encoded, "Q", 80, "optimize_coding", TRUE, "strip", TRUE, NULL);
    g_object_unref(image);
    g_free(output);
    return failed;
}
