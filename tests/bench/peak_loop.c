/* SPDX-License-Identifier: BSD-2-Clause */
#include "peak_loop.h"

#include <string.h>

/* Loop for one instruction set; the build compiles this file once for each. PEAK_LOOP is the name of the function and
 * PEAK_BYTES the width of a register. CHAINS vectors fit into the registers of every instruction set. */
#if PEAK_BYTES == 8
typedef double lanes;
#else
typedef double lanes __attribute__((vector_size(PEAK_BYTES)));
#endif

enum { CHAINS = 12, LOOPS = 200000 };

double PEAK_LOOP(double *operations) {
    const lanes a = (lanes){0} + 0.999, b = (lanes){0} + 1e-3;
    lanes x[CHAINS], sum = {0};
    for (int i = 0; i < CHAINS; i++) {
        x[i] = a * i;
    }
    /* Independent chains x = a x + b. */
    for (int loop = 0; loop < LOOPS; loop++) {
        for (int i = 0; i < CHAINS; i++) {
            x[i] = a * x[i] + b;
        }
    }
    for (int i = 0; i < CHAINS; i++) {
        sum += x[i];
    }
    double first;
    memcpy(&first, &sum, sizeof first);
    *operations = 2.0 * CHAINS * LOOPS * (PEAK_BYTES / sizeof(double));
    return first;
}
