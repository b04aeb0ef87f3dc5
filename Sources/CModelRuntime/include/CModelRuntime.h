#ifndef C_MODEL_RUNTIME_H
#define C_MODEL_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

// Observation keeps, for each thread, a word that is not null while the thread runs inside
// `withObservationTracking`. There is no public way to ask for it, and asking by way of a registrar costs
// ten times what reading a property does. So the word is found once, by watching the thread-local storage
// of the library while something is tracked, and from then on read where it is.

/// Where the word is, from the thread pointer; 0 as long as, or because, that is not known.
extern intptr_t CModelRuntime_trackingOffset;

/// The number of times this thread was seen to hash the probe (see `TrackingProbe`).
extern _Thread_local uintptr_t CModelRuntime_probeCount;

/// Whether it is known where the word is.
static inline int CModelRuntime_isWordKnown(void) {
  return __atomic_load_n(&CModelRuntime_trackingOffset, __ATOMIC_RELAXED) != 0;
}

/// Whether this thread may be tracking: 0 only if it is not, 1 as long as there is no word to read.
static inline int CModelRuntime_mayBeTracking(void) {
  intptr_t offset = __atomic_load_n(&CModelRuntime_trackingOffset, __ATOMIC_RELAXED);
  void *word;
  // Volatile, so that an asynchronous function reads it again after a suspension: it may then run on
  // another thread.
#if defined(__x86_64__) && defined(__linux__)
  // At offset 0 stands the thread pointer itself, which is not null: what is not known needs no test.
  __asm__ volatile("movq %%fs:(%1), %0" : "=r"(word) : "r"(offset));
#elif defined(__aarch64__) && defined(__linux__)
  if (offset == 0) return 1;
  char *thread;
  __asm__ volatile("mrs %0, tpidr_el0" : "=r"(thread));
  word = *(void **)(thread + offset);
#else
  return 1;
#endif
  return word != NULL;
}

static inline void CModelRuntime_countProbe(void) { CModelRuntime_probeCount += 1; }

static inline uintptr_t CModelRuntime_probes(void) { return CModelRuntime_probeCount; }

/// Looks for the word, once.
///
/// - Parameters:
///   - address: Something inside the library that implements Observation.
///   - track: Calls its second argument with its first, while tracking.
/// - Returns: 1 if the word was found, 0 if there is none that can be read so.
int CModelRuntime_findTracking(
  const void *_Nonnull address,
  void (*_Nonnull track)(void *_Nullable context, void (*_Nonnull body)(void *_Nullable context)));

/// How many lists are being changed in place right now, by any thread.
extern intptr_t CModelRuntime_lentLists;

static inline void CModelRuntime_noteLentLists(intptr_t difference) {
  __atomic_fetch_add(&CModelRuntime_lentLists, difference, __ATOMIC_RELAXED);
}

static inline int CModelRuntime_isAnyListLent(void) {
  return __atomic_load_n(&CModelRuntime_lentLists, __ATOMIC_RELAXED) != 0;
}

// Graphs of objects are followed by recursion where they are flat, and without it from some depth on. Each thread counts
// how deep it is, since the calls in between go through code that cannot pass it on.

/// How deep this thread is in taking over relationships that initializers set (see `InitialRelationships`).
extern _Thread_local uintptr_t CModelRuntime_adoptions;

static inline uintptr_t CModelRuntime_adoptionDepth(void) { return CModelRuntime_adoptions; }

static inline void CModelRuntime_setAdoptionDepth(uintptr_t depth) {
  CModelRuntime_adoptions = depth;
}

/// How deep this thread is in freeing objects that hold each other, and what waits to be freed (see
/// `LeftRelationships`).
extern _Thread_local uintptr_t CModelRuntime_departures;
extern _Thread_local void *_Nullable CModelRuntime_waiting;

static inline uintptr_t CModelRuntime_departureDepth(void) { return CModelRuntime_departures; }

static inline void CModelRuntime_setDepartureDepth(uintptr_t depth) {
  CModelRuntime_departures = depth;
}

static inline void *_Nullable CModelRuntime_waitingDepartures(void) {
  return CModelRuntime_waiting;
}

static inline void CModelRuntime_setWaitingDepartures(void *_Nullable waiting) {
  CModelRuntime_waiting = waiting;
}

// Objects that stand for fetched rows are copied from an empty one of their class, because creating one
// runs the initial values of its properties: `var id = UUID()` takes twenty times as long as the rest.

/// The bytes of an object, its head included; 0 where that is not known.
size_t CModelRuntime_instanceSize(const void *_Nonnull object);

/// Allocates an object with the bits of another, which must hold no reference that is counted.
///
/// - Returns: The object, with one reference that is the caller's.
void *_Nullable CModelRuntime_copyObject(const void *_Nonnull object, size_t size);

/// Gives up a number of references to an object by one atomic instruction.
void CModelRuntime_releaseObject(void *_Nonnull object, uint32_t count);

#endif
