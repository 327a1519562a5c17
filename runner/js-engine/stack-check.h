/* Included before every C file of QuickJS (see build.sh), to make its stack check work in wasm.
 *
 * QuickJS switches the check off where __wasi__ is defined; runaway recursion would then end in a trap instead of a
 * RangeError that a script can catch. The macro is needed by libc's headers only, so they are read first and the macro
 * is taken away from what follows. __GLIBC__ then keeps malloc_usable_size in use, which the garbage collector needs to
 * see how much memory is taken. */
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

/* What the check measures is the stack in linear memory, but what runs out first is the machine's own, which no wasm
 * code can see. A function that keeps everything in registers hardly uses the first and much of the second. So each
 * function that checks also takes some of the first: the place whose address is taken as the stack pointer lies in its
 * own frame, since the check is always inlined. */
#define STACK_USED_PER_CHECK 256
#define __builtin_frame_address(level) ({ volatile char used[STACK_USED_PER_CHECK]; used[0] = 0; (void *)used; })

typedef struct JSRuntime JSRuntime;
static inline __attribute__((always_inline)) uintptr_t js_get_stack_pointer(void);
static inline __attribute__((always_inline)) bool js_check_stack_overflow(JSRuntime *rt, size_t alloca_size);
