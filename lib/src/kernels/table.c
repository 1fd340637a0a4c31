/*
 * The algorithms of this instance, collected.
 */
#include "instance.h"

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t memory_size(const dyn_model *model) {
    size_t size = larger(KERNEL(rnea_memory)(model), KERNEL(gravity_memory)(model));
    size = larger(size, larger(KERNEL(crba_memory)(model), KERNEL(frame_memory)(model)));
    size = larger(size, KERNEL(rnea_derivatives_memory)(model));
    return larger(size,
                  model->has_coupling ? KERNEL(coupled_forward_dynamics_memory)(model) : KERNEL(aba_memory)(model));
}

static void forward_dynamics(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                             const void *v, const void *tau, const wrench_set *forces, void *pivots, void *a) {
    if (model->has_coupling) {
        KERNEL(coupled_forward_dynamics)(model, memory, gravity, q, v, tau, forces, pivots, a);
    } else {
        KERNEL(aba)(model, memory, gravity, q, v, tau, forces, pivots, a);
    }
}

const kernel_table KERNEL(kernel_table) = {
    DYN_LANES,
    memory_size,
    KERNEL(pack),
    KERNEL(unpack),
    KERNEL(all_finite),
    KERNEL(rnea),
    KERNEL(gravity),
    KERNEL(crba),
    forward_dynamics,
    KERNEL(frame_pose),
    KERNEL(frame_jacobian),
    KERNEL(rnea_derivatives),
};
