#define _GNU_SOURCE
#include "CMemory.h"

#include <errno.h>

#ifdef __linux__
#include <fcntl.h>
#include <sys/mman.h>

#define ALL_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

int darkroom_memory_file(void) {
    int file = memfd_create("darkroom", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return file < 0 ? -errno : file;
}

int darkroom_seal(int file) { return fcntl(file, F_ADD_SEALS, ALL_SEALS) < 0 ? -errno : 0; }

int darkroom_is_sealed(int file) {
    int seals = fcntl(file, F_GET_SEALS);
    return seals >= 0 && (seals & ALL_SEALS) == ALL_SEALS;
}
#else
int darkroom_memory_file(void) { return -ENOSYS; }
int darkroom_seal(int file) { return -ENOSYS; }
int darkroom_is_sealed(int file) { return 0; }
#endif
