/* SPDX-License-Identifier: BSD-2-Clause */
#include "articulated_joint.h"

#include "linear.h"

void KERNEL(articulate_joint)(int nv, const motion *h, articulated_inertia I, articulated_joint *j) {
    real factors[36];
    j->nv = nv;
    for (int k = 0; k < nv; k++) {
        j->U[k] = articulated_apply(I, h[k]);
        for (int l = 0; l < nv; l++) {
            j->D[l * nv + k] = spatial_dot(h[l], j->U[k]);
            factors[l * nv + k] = j->D[l * nv + k];
        }
    }
    KERNEL(factorize_symmetric)(nv, factors);
    KERNEL(invert_symmetric)(nv, factors, j->inverse);
    for (int k = 0; k < nv; k++) {
        j->G[k] = force_zero();
        for (int l = 0; l < nv; l++) {
            j->G[k] = force_fma(j->inverse[l * nv + k], j->U[l], j->G[k]);
        }
    }
}

articulated_inertia KERNEL(inertia_across)(const articulated_joint *j, articulated_inertia I) {
    for (int k = 0; k < j->nv; k++) {
        I = articulated_downdate(I, j->G[k], j->U[k]);
    }
    return I;
}

force KERNEL(add_gain)(const articulated_joint *j, const real *x, force f) {
    for (int k = 0; k < j->nv; k++) {
        f = force_fma(x[k], j->G[k], f);
    }
    return f;
}

void KERNEL(joint_acceleration)(const articulated_joint *j, const real *x, motion a, real *y) {
    for (int k = 0; k < j->nv; k++) {
        y[k] = -spatial_dot(a, j->G[k]);
        for (int l = 0; l < j->nv; l++) {
            y[k] = y[k] + j->inverse[k * j->nv + l] * x[l];
        }
    }
}
