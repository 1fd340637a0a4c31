/*
 * Sines and cosines of an oracle's numbers.
 */
#include "kernels/instance.h"

void KERNEL(sines)(const real *angle, int count, real *sine, real *cosine) {
    for (int i = 0; i < count; i++) {
        real_sincos(angle[i], &sine[i], &cosine[i]);
    }
}
