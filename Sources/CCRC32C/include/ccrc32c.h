#ifndef CCRC32C_H
#define CCRC32C_H

#include <stddef.h>
#include <stdint.h>

/// Extends a CRC-32C (Castagnoli, reflected, as iSCSI and ext4 use it) over more bytes.
///
/// The CRC of nothing is 0, and extending is associative: the CRC of two runs of bytes is the
/// first one's CRC extended over the second. Uses the processor's instruction where it has one.
uint32_t crc32c_extend(uint32_t crc, const void *bytes, size_t count);

/// The same in portable C; for processors without the instruction, and to check the other against.
uint32_t crc32c_extend_portable(uint32_t crc, const void *bytes, size_t count);

/// Which implementation crc32c_extend uses: "sse4.2", "armv8" or "portable".
const char *crc32c_implementation(void);

#endif
