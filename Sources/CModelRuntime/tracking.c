#define _GNU_SOURCE
#include "CModelRuntime.h"

intptr_t CModelRuntime_trackingOffset = 0;
_Thread_local uintptr_t CModelRuntime_probeCount = 0;

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/// The words of thread-local storage that are looked through: a library of its own has two.
#define MAXIMUM_WORDS 512
/// How far from the thread pointer the storage of libraries loaded at start can be.
#define MAXIMUM_OFFSET (1 << 20)
/// The threads whose storage has to lie in the same place.
#define WITNESSES 3

typedef struct {
  unsigned long module;
  unsigned long offset;
} tls_index;

extern void *__tls_get_addr(tls_index *);

typedef struct {
  const char *address;
  unsigned long module;
  size_t words;
} library;

static int findLibrary(struct dl_phdr_info *info, size_t size, void *context) {
  library *wanted = context;
  bool contains = false;
  size_t words = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    const char *start = (const char *)info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_LOAD && wanted->address >= start
        && wanted->address < start + header->p_memsz)
      contains = true;
    if (header->p_type == PT_TLS) words = header->p_memsz / sizeof(void *);
  }
  if (!contains) return 0;
  wanted->module = info->dlpi_tls_modid;
  wanted->words = words;
  return 1;
}

static char *threadPointer(void) {
  char *pointer;
#if defined(__x86_64__)
  __asm__ volatile("movq %%fs:0, %0" : "=r"(pointer));
#else
  __asm__ volatile("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
  return pointer;
}

typedef struct {
  library library;
  void (*track)(void *, void (*)(void *));
  void *inside[MAXIMUM_WORDS];
  /// The word, or -1.
  long word;
  /// Where each witness finds the storage of the library, from its thread pointer.
  intptr_t offsets[WITNESSES];
} search;

static void **storage(const library *library) {
  tls_index index = {library->module, 0};
  return __tls_get_addr(&index);
}

static void copyInside(void *context) {
  search *search = context;
  memcpy(search->inside, storage(&search->library), search->library.words * sizeof(void *));
}

/// Which word is null, is not while tracking, and is again; or -1 unless there is exactly one.
static long watch(search *search) {
  size_t words = search->library.words;
  void *before[MAXIMUM_WORDS];
  void **now = storage(&search->library);
  memcpy(before, now, words * sizeof(void *));
  search->track(search, copyInside);
  long found = -1;
  for (size_t i = 0; i < words; i++) {
    if (before[i] != NULL || search->inside[i] == NULL || now[i] != NULL) continue;
    if (found >= 0) return -1;
    found = (long)i;
  }
  return found;
}

/// Runs on a thread of its own: the one that asks may be tracking already.
static void *watchTwice(void *context) {
  search *search = context;
  long first = watch(search);
  search->word = first == watch(search) ? first : -1;
  search->offsets[0] = (char *)storage(&search->library) - threadPointer();
  return NULL;
}

static void *measure(void *context) {
  search *search = context;
  search->offsets[1] = (char *)storage(&search->library) - threadPointer();
  return NULL;
}

static bool run(void *(*body)(void *), search *search) {
  pthread_t thread;
  return pthread_create(&thread, NULL, body, search) == 0 && pthread_join(thread, NULL) == 0;
}

int CModelRuntime_findTracking(
  const void *address, void (*track)(void *context, void (*body)(void *context))) {
  search search = {.library = {.address = address}, .track = track, .word = -1};
  if (dl_iterate_phdr(findLibrary, &search.library) == 0) return 0;
  if (search.library.module == 0 || search.library.words == 0
      || search.library.words > MAXIMUM_WORDS)
    return 0;
  if (!run(watchTwice, &search) || search.word < 0 || !run(measure, &search)) return 0;
  search.offsets[2] = (char *)storage(&search.library) - threadPointer();
  // A library loaded at start has its storage at one distance from every thread's pointer. One loaded
  // later may have it anywhere, and cannot be read so.
  intptr_t offset = search.offsets[0];
  for (int i = 1; i < WITNESSES; i++)
    if (search.offsets[i] != offset) return 0;
  if (offset > MAXIMUM_OFFSET || offset < -MAXIMUM_OFFSET) return 0;
  offset += search.word * (intptr_t)sizeof(void *);
  __atomic_store_n(&CModelRuntime_trackingOffset, offset, __ATOMIC_RELEASE);
  return 1;
}

#else

int CModelRuntime_findTracking(
  const void *address, void (*track)(void *context, void (*body)(void *context))) {
  return 0;
}

#endif
