#include <stddef.h>

/// libvips' own thumbnail of a JPEG, encoded as JPEG q80 the way Darkroom encodes; 0 on success.
int thumbnail_as_jpeg(const void *bytes, size_t count, int width, size_t *encoded);
