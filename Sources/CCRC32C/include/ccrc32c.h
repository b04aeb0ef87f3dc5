#ifndef CCRC32C_H
#define CCRC32C_H
#include <stddef.h>
#include <stdint.h>
/// Placeholder for the header that follows with the implementation.
uint32_t crc32c_extend(uint32_t crc, const void *bytes, size_t count);
#endif
