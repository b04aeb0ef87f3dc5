#ifndef CCOUNTERS_H
#define CCOUNTERS_H

#include <stdint.h>

/// How many times this thread has asked for memory; a block that is made larger counts once more.
uint64_t allocation_count(void);

/// Begins to count instructions anew. Nothing happens outside of callgrind.
void instructions_restart(void);

/// Writes the instructions counted since into a file beside those written before.
///
/// Returns whether anybody counts: 0 outside of callgrind.
int instructions_dump(void);

/// Does nothing with what stands there, which no compiler can know.
void keep(const void *value);

#endif
