/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks of signals. Each error names the place and the value.
 */
#ifndef DYNAMICS_SIMULATION_SIGNAL_CHECK_H
#define DYNAMICS_SIMULATION_SIGNAL_CHECK_H

#include <dynamics/rollout.h>

/* Shape of a signal's rows. */
typedef struct signal_shape {
    const char *name;
    size_t width;
    bool of_q; /* true: the columns are coordinates of q; false: of v */
} signal_shape;

/* Checks that the rows of a signal for n samples and `steps` steps are finite. A signal without rows passes. */
dyn_status signal_check(const dyn_simulator *simulator, const signal_shape *shape, size_t n, size_t steps,
                        const dyn_signal *signal, dyn_error *error);

/* Checks that the quaternions in the rows of q_ref have norm one within 1e-3. q_ref has rows. */
dyn_status signal_check_quaternions(const dyn_model *model, size_t n, size_t steps, const dyn_signal *q_ref,
                                    dyn_error *error);

/* Checks forces: known frames, not more than the workspace holds, finite. */
dyn_status signal_check_forces(const dyn_simulator *simulator, size_t n, size_t steps, const dyn_signal_force *forces,
                               size_t count, dyn_error *error);

#endif
