/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The UR5 in the form of Modern Robotics (Lynch and Park 2017), section 8.3.2. Chapter 8 of the book prints no numbers
 * for it (exercise 8.15 asks for them); these follow from the masses, moments and origins of the URDF file that section
 * 4.2 names, see ur5_is_the_robot_of_its_urdf in unit/screws.c. Its wrists have larger moments than those of
 * deploy/robots/ur5.urdf.
 */
#ifndef DYNAMICS_TESTS_UR5_SCREWS_H
#define DYNAMICS_TESTS_UR5_SCREWS_H

#include <dynamics/model.h>

/* Arrays Mlist and Slist in the form of dyn_screws_describe, and the diagonals of Glist. */
extern const double ur5_M[7 * 16], ur5_S[6 * 6], ur5_inertia[6][6];

/* Computes the 6 x 6 matrix of a spatial inertia from its diagonal. */
void inertia_matrix(const double diagonal[6], double G[36]);

/* Computes Glist. */
void ur5_G(double G[6 * 36]);

/* Builds the robot of these lists, with gravity along -z. The caller frees it. */
dyn_model *ur5_of_screws(void);

#endif
