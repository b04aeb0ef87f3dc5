#include "ccrc32c.h"
uint32_t crc32c_extend(uint32_t crc, const void *bytes, size_t count) {
  const uint8_t *p = bytes;
  crc = ~crc;
  for (size_t i = 0; i < count; i++) {
    crc ^= p[i];
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (0x82F63B78u & -(crc & 1));
  }
  return ~crc;
}
