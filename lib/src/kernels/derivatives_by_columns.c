/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the derivatives of inverse dynamics in instances whose lanes hold columns (term_lanes.h): the recursions of
 * rnea_derivatives.c in separate passes.
 *
 * Serial recursions from body to body (derivative_motion.c, derivative_sums.c) alternate with the work that each column
 * needs on its own (derivative_columns.c). derivative_rows.c stores the entries row by row.
 */
#include "derivative_state.h"

#if TERM_LANES > 1

int KERNEL(derivatives_by_columns)(const derivative_state *s, derivative_parts parts, const real *a,
                                   const wrench_set *forces, const derivative_matrices *to) {
    if (parts & VELOCITY_PART) {
        KERNEL(place_columns)(s);
        KERNEL(find_columns)(&s->tree);
        KERNEL(carry_velocities)(s);
        KERNEL(find_rates)(&s->tree);
        KERNEL(add_joint_rates)(s);
    }
    if ((parts & VELOCITY_PART) && s->tree.has_driven) {
        KERNEL(place_rotors)(s);
        KERNEL(find_rotor_rates)(&s->tree);
    }
    if (parts & POSITION_PART) {
        KERNEL(carry_accelerations)(s, a);
        KERNEL(find_forces)(&s->tree);
    }
    if ((parts & POSITION_PART) && s->tree.has_driven) {
        KERNEL(accelerate_rotors)(s, a);
        KERNEL(find_rotor_moments)(&s->tree);
    }
    if ((parts & POSITION_PART) && has_wrenches(forces)) {
        KERNEL(subtract_local_wrenches)(s, forces);
    }
    KERNEL(add_up_columns)(s, parts);
    KERNEL(find_column_products)(&s->tree, parts);
    int stored = KERNEL(store_derivatives)(&s->tree, parts, to);
    if ((parts & POSITION_PART) && has_wrenches(forces)) {
        KERNEL(add_world_wrenches)(s, forces, (real *)to->dq);
        stored = 0;
    }
    return stored;
}

#endif
