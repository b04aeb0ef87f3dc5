#include "ccrc32c.h"

#include <string.h>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

// The reflected Castagnoli polynomial.
#define POLYNOMIAL 0x82F63B78u

// The lengths of the three streams that are computed side by side: the instruction has a latency of
// three cycles and a throughput of one, so three independent streams keep it busy. The shorter lengths
// serve what is too small for the long one; the least, the record of one row.
#define LONG_STREAM 2048
#define SHORT_STREAM 256
#define LEAST_STREAM 48

static uint32_t slices[8][256];
// What a CRC becomes after LONG_STREAM, SHORT_STREAM, LEAST_STREAM zero bytes: one table per byte of the CRC.
static uint32_t long_shift[4][256];
static uint32_t short_shift[4][256];
static uint32_t least_shift[4][256];

static uint64_t load64(const uint8_t *p) {
  uint64_t word;
  memcpy(&word, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static uint32_t load32(const uint8_t *p) {
  uint32_t word;
  memcpy(&word, p, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap32(word);
#endif
  return word;
}

static uint16_t load16(const uint8_t *p) {
  uint16_t word;
  memcpy(&word, p, 2);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap16(word);
#endif
  return word;
}

static uint32_t portable(uint32_t crc, const uint8_t *p, size_t count) {
  while (count >= 8) {
    uint64_t word = load64(p) ^ crc;
    crc = slices[7][word & 0xff] ^ slices[6][word >> 8 & 0xff] ^ slices[5][word >> 16 & 0xff] ^
          slices[4][word >> 24 & 0xff] ^ slices[3][word >> 32 & 0xff] ^ slices[2][word >> 40 & 0xff] ^
          slices[1][word >> 48 & 0xff] ^ slices[0][word >> 56];
    p += 8;
    count -= 8;
  }
  while (count--) crc = slices[0][(crc ^ *p++) & 0xff] ^ crc >> 8;
  return crc;
}

static uint32_t shift(uint32_t table[4][256], uint32_t crc) {
  return table[0][crc & 0xff] ^ table[1][crc >> 8 & 0xff] ^ table[2][crc >> 16 & 0xff] ^ table[3][crc >> 24];
}

// Appending zeros is linear over GF(2): it is known for all CRCs once it is known for single bits.
static void build_shift(uint32_t table[4][256], size_t zeros) {
  static const uint8_t nothing[LONG_STREAM];
  for (int byte = 0; byte < 4; byte++) {
    for (uint32_t value = 1; value < 256; value <<= 1) {
      uint32_t shifted = portable(value << 8 * byte, nothing, zeros);
      for (uint32_t lower = 0; lower < value; lower++) table[byte][value + lower] = shifted ^ table[byte][lower];
    }
  }
}

#if defined(__x86_64__)
#define HARDWARE __attribute__((target("sse4.2")))
#define STEP64(crc, word) __builtin_ia32_crc32di(crc, word)
#define STEP32(crc, word) __builtin_ia32_crc32si((uint32_t)(crc), word)
#define STEP16(crc, word) __builtin_ia32_crc32hi((uint32_t)(crc), word)
#define STEP8(crc, byte) __builtin_ia32_crc32qi((uint32_t)(crc), byte)
#define HARDWARE_NAME "sse4.2"
static int has_hardware(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_acle.h>
#if defined(__clang__)
#define HARDWARE __attribute__((target("crc")))
#else
#define HARDWARE __attribute__((target("+crc")))
#endif
#define STEP64(crc, word) __crc32cd((uint32_t)(crc), word)
#define STEP32(crc, word) __crc32cw((uint32_t)(crc), word)
#define STEP16(crc, word) __crc32ch((uint32_t)(crc), word)
#define STEP8(crc, byte) __crc32cb((uint32_t)(crc), byte)
#define HARDWARE_NAME "armv8"
static int has_hardware(void) {
#if defined(__APPLE__)
  return 1;  // Every 64-bit Apple processor has it.
#elif defined(__linux__)
  return (getauxval(AT_HWCAP) & 1 << 7) != 0;  // HWCAP_CRC32
#else
  return 0;
#endif
}
#endif

#if defined(HARDWARE)
HARDWARE static uint32_t hardware(uint32_t crc, const uint8_t *p, size_t count) {
  uint64_t first = crc;
#define STREAMS(length, table)                                       \
  while (count >= 3 * (length)) {                                    \
    uint64_t second = 0, third = 0;                                  \
    for (const uint8_t *end = p + (length); p < end; p += 8) {       \
      first = STEP64(first, load64(p));                              \
      second = STEP64(second, load64(p + (length)));                 \
      third = STEP64(third, load64(p + 2 * (length)));               \
    }                                                                \
    first = shift(table, (uint32_t)first) ^ second;                  \
    first = shift(table, (uint32_t)first) ^ third;                   \
    p += 2 * (length);                                               \
    count -= 3 * (length);                                           \
  }
  STREAMS(LONG_STREAM, long_shift)
  STREAMS(SHORT_STREAM, short_shift)
  STREAMS(LEAST_STREAM, least_shift)
  while (count >= 8) {
    first = STEP64(first, load64(p));
    p += 8;
    count -= 8;
  }
  // The rest of a record, byte by byte, took as long as the whole of it.
  if (count & 4) {
    first = STEP32(first, load32(p));
    p += 4;
  }
  if (count & 2) {
    first = STEP16(first, load16(p));
    p += 2;
  }
  if (count & 1) first = STEP8(first, *p);
  return (uint32_t)first;
}
#endif

// Set before main, and therefore before any thread that could read it.
static int uses_hardware;

__attribute__((constructor)) static void build_tables(void) {
  for (uint32_t value = 0; value < 256; value++) {
    uint32_t crc = value;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (POLYNOMIAL & -(crc & 1));
    slices[0][value] = crc;
  }
  for (int slice = 1; slice < 8; slice++) {
    for (int value = 0; value < 256; value++) {
      uint32_t crc = slices[slice - 1][value];
      slices[slice][value] = slices[0][crc & 0xff] ^ crc >> 8;
    }
  }
  build_shift(long_shift, LONG_STREAM);
  build_shift(short_shift, SHORT_STREAM);
  build_shift(least_shift, LEAST_STREAM);
#if defined(HARDWARE)
  uses_hardware = has_hardware();
#endif
}

uint32_t crc32c_extend(uint32_t crc, const void *bytes, size_t count) {
#if defined(HARDWARE)
  if (__builtin_expect(uses_hardware, 1)) return ~hardware(~crc, bytes, count);
#endif
  return ~portable(~crc, bytes, count);
}

uint32_t crc32c_extend_portable(uint32_t crc, const void *bytes, size_t count) {
  return ~portable(~crc, bytes, count);
}

const char *crc32c_implementation(void) {
#if defined(HARDWARE)
  if (uses_hardware) return HARDWARE_NAME;
#endif
  return "portable";
}
