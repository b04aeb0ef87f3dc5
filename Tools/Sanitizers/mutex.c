// Shows the slow paths of Swift's Mutex to the thread sanitizer on Linux. Loaded before the tests, by Tools/sanitize.
//
// The compiler inlines the fast paths of Mutex, where the sanitizer sees their atomic operations. The slow ones are in
// libswiftSynchronization.so, which is not built with the sanitizer: there a thread that has waited gets the lock from
// the kernel, and to the sanitizer nothing orders what two threads do under one lock. Each function here calls the
// library's own, and says what it did to the lock's word: the word that the fast paths use, so that the sanitizer
// puts both in one order.
//
// The names are those of Swift's ABI. Where one is missing, its function stops the program instead of passing in silence.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Absent in a process without the sanitizer, such as the one that starts the tests.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static void *library_function(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (function) return function;
  fprintf(stderr, "error: libswiftSynchronization.so has no %s: fit Tools/Sanitizers/mutex.c to this toolchain\n", name);
  abort();
}

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
  static SWIFT void (*function)(uint32_t, SELF void *);
  if (!function) function = library_function(LOCK);
  function(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool try_lock_slow(SELF void *mutex) __asm__(TRY_LOCK);
SWIFT bool try_lock_slow(SELF void *mutex) {
  static SWIFT bool (*function)(SELF void *);
  if (!function) function = library_function(TRY_LOCK);
  bool taken = function(mutex);
  if (taken && __tsan_acquire) __tsan_acquire(mutex);
  return taken;
}

SWIFT void unlock_slow(SELF void *mutex) __asm__(UNLOCK);
SWIFT void unlock_slow(SELF void *mutex) {
  static SWIFT void (*function)(SELF void *);
  if (!function) function = library_function(UNLOCK);
  // Before: the next owner may run as soon as the function has let go.
  if (__tsan_release) __tsan_release(mutex);
  function(mutex);
}
