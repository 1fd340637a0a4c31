/* SPDX-License-Identifier: BSD-2-Clause */
#include "count.h"

#include <stdlib.h>
#include <string.h>

#include "child.h"

#ifdef HAVE_OPERATION_COUNTS

#include "kernels/kernels.h"

extern const kernel_table dyn_kernel_table_counted;

/* Returns at least `size` zero bytes, aligned for all data of a kernel; the caller frees them. Ends the program where
 * memory is exhausted. */
static void *aligned_zeros(size_t size) {
    enum { ALIGNMENT = 64 };
    size_t rounded = (size / ALIGNMENT + 1) * ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, rounded);
    if (!memory) {
        die("out of memory");
    }
    return memset(memory, 0, rounded);
}

/* Runs the kernel of an algorithm over numbers that count operations. Such a number has the size of a double, so that
 * arrays of doubles are its inputs and outputs. */
static void run_counted(const workload *w, void *memory, algorithm_id id, double *out) {
    const kernel_table *kernels = &dyn_kernel_table_counted;
    double gravity[3], *second = out + w->nv * w->nv, *third = second + w->nv * w->nv;
    double *pivots = third + w->nv * w->nv;
    dyn_model_gravity(w->model, gravity);
    const packed_inputs inverse = {gravity, w->q, w->v, w->a, NULL}, forward = {gravity, w->q, w->v, w->tau, NULL};
    const derivative_matrices d = {out, second, third};
    switch (id) {
    case ALGORITHM_RNEA:
        kernels->rnea(w->model, memory, &inverse, out);
        break;
    case ALGORITHM_CRBA:
        kernels->crba(w->model, memory, w->q, out);
        break;
    case ALGORITHM_ABA:
        kernels->forward_dynamics(w->model, memory, &forward, pivots, out);
        break;
    case ALGORITHM_GRAVITY:
        kernels->gravity(w->model, memory, gravity, w->q, out);
        break;
    case ALGORITHM_JACOBIAN:
        kernels->frame_jacobian(w->model, memory, w->q, w->link, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, out);
        break;
    case ALGORITHM_RNEA_DERIVATIVES:
        kernels->rnea_derivatives(w->model, memory, &inverse, &d);
        break;
    case ALGORITHM_ABA_DERIVATIVES:
        kernels->aba_derivatives(w->model, memory, &forward, pivots, &d);
        break;
    default:
        die("%s is not counted", algorithm_get(id)->name);
    }
}

dyn_operation_counts count_operations(const workload *w, algorithm_id id) {
    void *memory = aligned_zeros(dyn_kernel_table_counted.memory_size(w->model));
    double *out = aligned_zeros((4 * w->nv * w->nv + 6 * w->nv) * sizeof *out);
    memset(&dyn_counts, 0, sizeof dyn_counts);
    run_counted(w, memory, id, out);
    free(memory), free(out);
    return dyn_counts;
}

#else

dyn_operation_counts count_operations(const workload *w, algorithm_id id) {
    (void)w, (void)id;
    die("this program was built without a C++ compiler, which counts operations");
}

#endif
