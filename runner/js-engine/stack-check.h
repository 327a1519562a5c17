/* Included before every C file of QuickJS (see build.sh).
 *
 * QuickJS switches its stack check off where __wasi__ is defined; runaway recursion would then end in a trap instead
 * of a RangeError that a script can catch. The macro is needed by libc's headers only, so they are read first and the
 * macro is taken away from what follows. __GLIBC__ then keeps malloc_usable_size in use, which the garbage collector
 * needs to see how much memory is taken. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#undef __wasi__
#define __GLIBC__ 2
