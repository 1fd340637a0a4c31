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
    bool of_q; /* columns are coordinates of q, not of v */
} signal_shape;

/* Checks that n x steps rows are finite. */
dyn_status signal_check(const dyn_simulator *simulator, const signal_shape *shape, size_t n, size_t steps,
                        const dyn_signal *signal, dyn_error *error);

/* Checks that the quaternions of the rows of q_ref have norm one within 1e-3. */
dyn_status signal_check_quaternions(const dyn_model *model, size_t n, size_t steps, const dyn_signal *q_ref,
                                    dyn_error *error);

/* Checks forces: known frames, not more than the workspace holds, finite. */
dyn_status signal_check_forces(const dyn_simulator *simulator, size_t n, size_t steps, const dyn_signal_force *forces,
                               size_t count, dyn_error *error);

#endif
