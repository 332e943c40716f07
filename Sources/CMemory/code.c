#if defined(__linux__)
#define _GNU_SOURCE
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "CMemory.h"

#if defined(__linux__)
static int release(struct dl_phdr_info *object, size_t size, void *unused) {
    const size_t page = (size_t)getpagesize();
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        // Pages that were written to, such as the pages of relocations, would be lost.
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || segment->p_flags & PF_W) continue;
        const size_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        const size_t end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void darkroom_release_code(void) { dl_iterate_phdr(release, NULL); }
#else
void darkroom_release_code(void) {}
#endif
