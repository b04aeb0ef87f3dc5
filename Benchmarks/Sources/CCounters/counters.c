#include "ccounters.h"

#include <errno.h>
#include <stddef.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define HAS_CALLGRIND 1
#endif

// The allocator of glibc under the names it keeps for whoever takes its place, as we do to count.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

// Of each thread its own: what a store does in the background happens at other moments in each run.
static _Thread_local uint64_t count;

static void note(void) { count++; }

void *malloc(size_t size) {
  note();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  note();
  return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  note();
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  note();
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}

uint64_t allocation_count(void) { return count; }

void instructions_restart(void) {
#ifdef HAS_CALLGRIND
  CALLGRIND_ZERO_STATS;
#endif
}

int instructions_dump(void) {
#ifdef HAS_CALLGRIND
  if (RUNNING_ON_VALGRIND) {
    CALLGRIND_DUMP_STATS;
    return 1;
  }
#endif
  return 0;
}

void keep(const void *value) { (void)value; }
