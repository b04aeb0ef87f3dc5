// What glibc's own Swift module leaves out: `mallinfo2`, which counts live heap bytes.
#include <malloc.h>
