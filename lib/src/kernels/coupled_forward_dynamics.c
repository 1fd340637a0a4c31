/*
 * Forward dynamics of a model with coupled mimic joints, whose coordinates the articulated-body recursion cannot
 * separate:
 *     M a = tau - h + sum J' f_ext,    M = L D L'
 * with M from the composite-rigid-body and h from the Newton-Euler algorithm.
 *
 * Source: Featherstone 2008, section 6.5, without its use of branches.
 */
#include "instance.h"

/* Memory: M, h, a zero vector, and then that of the two algorithms. */
static size_t own_count(const dyn_model *model) {
    size_t nv = (size_t)model->nv;
    return nv * nv + 2 * nv;
}

size_t KERNEL(coupled_forward_dynamics_memory)(const dyn_model *model) {
    size_t rnea = KERNEL(rnea_memory)(model), crba = KERNEL(crba_memory)(model);
    return own_count(model) * sizeof(real) + (rnea > crba ? rnea : crba);
}

/* M = L D L' in place: D on the diagonal, L below it. */
static void factorize(int n, real *M) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) {
                M[i * n + j] -= M[i * n + k] * M[j * n + k];
            }
        }
        for (int j = 0; j < i; j++) {
            real L = M[i * n + j] / M[j * n + j];
            M[i * n + i] -= L * M[i * n + j];
            M[i * n + j] = L;
        }
    }
}

/* x = (L D L')^-1 x */
static void solve(int n, const real *M, real *x) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            x[i] -= M[i * n + j] * x[j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] = x[i] / M[i * n + i];
        for (int j = i + 1; j < n; j++) {
            x[i] -= M[j * n + i] * x[j];
        }
    }
}

void KERNEL(coupled_forward_dynamics)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                      const void *v, const void *tau, const wrench_set *forces, void *pivots, void *a) {
    int nv = model->nv;
    real *M = (real *)memory, *h = M + nv * nv, *zero = h + nv, *D = (real *)pivots, *x = (real *)a;
    void *rest = zero + nv;
    for (int i = 0; i < nv; i++) {
        zero[i] = real_set(0);
    }
    KERNEL(crba)(model, rest, q, M);
    KERNEL(rnea)(model, rest, gravity, q, v, zero, forces, h);
    factorize(nv, M);
    for (int i = 0; i < nv; i++) {
        D[i] = M[i * nv + i];
        x[i] = ((const real *)tau)[i] - h[i];
    }
    solve(nv, M, x);
}
