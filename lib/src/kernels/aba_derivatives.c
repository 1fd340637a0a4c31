/*
 * First derivatives of forward dynamics, a(q, v, tau), from those of inverse dynamics at the same motion:
 *
 *     da/dq = -M^-1 dtau/dq        da/dv = -M^-1 dtau/dv        da/dtau = M^-1
 *
 * with M factorized along the branches of the tree.
 *
 * Source: Carpentier and Mansard 2018, section III.
 */
#include "instance.h"

size_t KERNEL(aba_derivatives_memory)(const dyn_model *model) {
    size_t forward = KERNEL(forward_dynamics_memory)(model), inverse = KERNEL(rnea_derivatives_memory)(model);
    return (forward > inverse ? forward : inverse) + (size_t)model->nv * (sizeof(real) + sizeof(int));
}

/* The derivatives at an acceleration that is known. */
void KERNEL(aba_derivatives_at)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                const void *v, const void *a, const wrench_set *forces, void *da_dq, void *da_dv,
                                void *da_dtau) {
    int nv = model->nv, *parent = (int *)memory;
    real *M = (real *)da_dtau;
    KERNEL(rnea_derivatives)(model, memory, gravity, q, v, a, forces, da_dq, da_dv, M);
    KERNEL(coordinate_parents)(model, parent);
    KERNEL(factorize)(nv, parent, M);
    KERNEL(solve)(nv, parent, M, real_set(-1), nv, (real *)da_dq);
    KERNEL(solve)(nv, parent, M, real_set(-1), nv, (real *)da_dv);
    KERNEL(invert)(nv, parent, M);
}

void KERNEL(aba_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                             const void *v, const void *tau, const wrench_set *forces, void *pivots, void *da_dq,
                             void *da_dv, void *da_dtau) {
    real *a = (real *)memory;
    void *rest = a + model->nv;
    KERNEL(forward_dynamics)(model, rest, gravity, q, v, tau, forces, pivots, a);
    KERNEL(aba_derivatives_at)(model, rest, gravity, q, v, a, forces, da_dq, da_dv, da_dtau);
}
