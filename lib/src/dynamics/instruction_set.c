/* SPDX-License-Identifier: BSD-2-Clause */
#include "instruction_set.h"

#include <stdlib.h>
#include <string.h>

#include <dynamics/workspace.h>

#if defined DYN_HAVE_AVX512 || defined DYN_HAVE_AVX2

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#endif

#if defined DYN_HAVE_AVX512

static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

#endif

static bool always(void) {
    return true;
}

/* Address of the kernel table with half as many lanes, if the build includes it, else of the wide one. */
#if defined DYN_HAVE_AVX2
#define HALF(wide, narrow) &dyn_kernel_table_##narrow
#else
#define HALF(wide, narrow) &dyn_kernel_table_##wide
#endif

/* Instruction sets, best first. */
static const instruction_set instruction_sets[] = {
#if defined DYN_HAVE_AVX512
    {"avx512",
     has_avx512,
     {{&dyn_kernel_table_avx512, HALF(avx512, avx2), &dyn_kernel_table_avx512_one, 3},
      {&dyn_kernel_table_avx512_float, HALF(avx512_float, avx2_float), &dyn_kernel_table_avx512_one_float, 3}}},
#endif
#if defined DYN_HAVE_AVX2
    {"avx2",
     has_avx2,
     {{&dyn_kernel_table_avx2, &dyn_kernel_table_avx2, &dyn_kernel_table_avx2_one, 2},
      {&dyn_kernel_table_avx2_float, &dyn_kernel_table_avx2_float, &dyn_kernel_table_avx2_one_float, 2}}},
#endif
#if defined DYN_HAVE_SSE2
    {"sse2",
     always,
     {{&dyn_kernel_table_sse2, &dyn_kernel_table_sse2, &dyn_kernel_table_sse2_one, 2},
      {&dyn_kernel_table_sse2_float, &dyn_kernel_table_sse2_float, &dyn_kernel_table_sse2_one_float, 2}}},
#endif
#if defined DYN_HAVE_NEON
    {"neon",
     always,
     {{&dyn_kernel_table_neon, &dyn_kernel_table_neon, &dyn_kernel_table_neon_one, 2},
      {&dyn_kernel_table_neon_float, &dyn_kernel_table_neon_float, &dyn_kernel_table_neon_one_float, 2}}},
#endif
    {"scalar",
     always,
     {{&dyn_kernel_table_scalar, &dyn_kernel_table_scalar, &dyn_kernel_table_scalar, 1},
      {&dyn_kernel_table_scalar_float, &dyn_kernel_table_scalar_float, &dyn_kernel_table_scalar_float, 1}}},
};

enum { SET_COUNT = sizeof instruction_sets / sizeof instruction_sets[0] };

const instruction_set *dyn_choose_instruction_set(void) {
    const char *wanted = secure_getenv("DYNAMICS_INSTRUCTION_SET");
    for (int i = 0; wanted && i < SET_COUNT; i++) {
        if (strcmp(instruction_sets[i].name, wanted) == 0 && instruction_sets[i].available()) {
            return &instruction_sets[i];
        }
    }
    const instruction_set *best = instruction_sets;
    while (!best->available()) {
        best++;
    }
    return best;
}

const char *dyn_instruction_set(void) {
    return dyn_choose_instruction_set()->name;
}

int dyn_lanes(dyn_precision precision) {
    return dyn_choose_instruction_set()->kernels[precision].wide->lanes;
}
