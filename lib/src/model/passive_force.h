/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passive forces of coordinates: friction laws and springs in the form that algorithms read.
 */
#ifndef DYNAMICS_MODEL_PASSIVE_FORCE_H
#define DYNAMICS_MODEL_PASSIVE_FORCE_H

/* Friction of a coordinate (dynamics/machine_element.h), with values for positive and for negative rates. */
typedef struct friction_law {
    int v_index;
    double viscous[2], coulomb[2];
    double excess[2];           /* breakaway friction beyond Coulomb friction, f_s - f_c */
    double stribeck_velocity;   /* positive where the excess is not zero; otherwise one */
    double transition_velocity; /* zero: that of the simulation */
} friction_law;

/* Spring of a coordinate: -stiffness (q - rest). */
typedef struct spring_law {
    int q_index, v_index;
    double stiffness, rest;
} spring_law;

#endif
