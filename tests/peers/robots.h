/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creates the robots of comparisons and measurements: the samples, chains, a humanoid and random arms. A robot that
 * cannot be read or built ends the program with a message.
 */
#ifndef DYNAMICS_TESTS_ROBOTS_H
#define DYNAMICS_TESTS_ROBOTS_H

#include <dynamics/builder.h>

#include "support/random.h"

/* Returns the text of the sample robot deploy/robots/NAME.urdf; the caller frees it. */
char *robot_text(const char *name);

/* Loads a sample robot. The caller frees the model, as those of the functions below. */
dyn_model *robot_load(const char *name, dyn_base base);

/* Loads the sample quadruped on a floating base, with spherical feet of 17.5 mm on a plane; all have this friction. */
dyn_model *robot_walker(double friction);

/* Sets q (19 numbers) to a pose in which the feet of the walker touch the plane. */
void robot_walker_stands(double *q);

/* Builds a serial chain of `bodies` equal links of 0.2 m and 1 kg, whose revolute joints turn about z, y, x, z, y, x
 * ... */
dyn_model *robot_chain(int bodies);

/* Builds a humanoid on a floating base with 32 revolute joints, hence 38 velocities: two in the waist, two in the neck,
 * six in each leg and eight in each arm. */
dyn_model *robot_humanoid(void);

/* Builds a serial arm of revolute and prismatic joints with some fixed ones, all in random places. */
dyn_model *robot_random_arm(random_source *random, int joints);

#endif
