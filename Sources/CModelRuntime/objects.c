#include "CModelRuntime.h"

intptr_t CModelRuntime_lentLists = 0;
_Thread_local uintptr_t CModelRuntime_adoptions = 0;
_Thread_local uintptr_t CModelRuntime_departures = 0;
_Thread_local void *CModelRuntime_waiting = NULL;

extern void swift_release_n(void *object, uint32_t count);

void CModelRuntime_releaseObject(void *object, uint32_t count) { swift_release_n(object, count); }

#if defined(__linux__)

#include <malloc.h>
#include <string.h>

/// The head of every Swift object: its class, and its reference counts.
#define HEADER (2 * sizeof(void *))

/// What a class says of its instances, as Swift lays it out where there is no Objective-C.
typedef struct {
  const void *kind;
  const void *superclass;
  uint32_t flags;
  uint32_t instanceAddressPoint;
  uint32_t instanceSize;
  uint16_t instanceAlignMask;
} classMetadata;

extern void *swift_allocObject(const void *metadata, size_t size, size_t alignMask);

size_t CModelRuntime_instanceSize(const void *object) {
  const classMetadata *class = *(const classMetadata *const *)object;
  size_t size = class->instanceSize;
  // The layout is read without help from the compiler, so believe it only where it makes sense.
  size_t allocated = malloc_usable_size((void *)object);
  if (size <= HEADER || size > allocated || allocated - size >= 64) return 0;
  if (class->instanceAddressPoint != 0 || class->instanceAlignMask > 15) return 0;
  return size;
}

void *CModelRuntime_copyObject(const void *object, size_t size) {
  const classMetadata *class = *(const classMetadata *const *)object;
  char *copy = swift_allocObject(class, size, class->instanceAlignMask);
  memcpy(copy + HEADER, (const char *)object + HEADER, size - HEADER);
  return copy;
}

#else

size_t CModelRuntime_instanceSize(const void *object) { return 0; }

void *CModelRuntime_copyObject(const void *object, size_t size) { return NULL; }

#endif
