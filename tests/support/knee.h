/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motions of a human knee in the sagittal plane, for tests of custom joints: the tibia turns about z by the angle of
 * the knee, while its origin moves along x and y in the frame of the femur, which rolls and slides on it.
 *
 * The tables are in the manner of Yamaguchi and Zajac 1989, "A planar model of the knee joint to characterize the knee
 * extensor mechanism", with the knots that musculoskeletal models use.
 */
#ifndef DYNAMICS_TESTS_KNEE_H
#define DYNAMICS_TESTS_KNEE_H

#include <dynamics/custom_joint.h>

enum { KNEE_MOTIONS = 3 };

static const dyn_joint_motion knee_motions[KNEE_MOTIONS] = {
    {DYN_JOINT_MOTION_KIND_TRANSLATION,
     {1, 0, 0},
     {.kind = DYN_FUNCTION_KIND_CUBIC_SPLINE,
      .count = 12,
      .knots = {-2.0944, -1.74533, -1.39626, -1.0472, -0.698132, -0.349066, -0.174533, 0.197344, 0.337395, 0.490178,
                1.52146, 2.0944},
      .values = {-0.0032, 0.00179, 0.00411, 0.0041, 0.00212, -0.001, -0.0031, -0.005227, -0.005435, -0.005574,
                 -0.005435, -0.00525}}},
    {DYN_JOINT_MOTION_KIND_TRANSLATION,
     {0, 1, 0},
     {.kind = DYN_FUNCTION_KIND_CUBIC_SPLINE,
      .count = 7,
      .knots = {-2.0944, -1.22173, -0.523599, -0.349066, -0.174533, 0.159149, 2.0944},
      .values = {-0.4226, -0.4082, -0.399, -0.3976, -0.3966, -0.395264, -0.396}}},
    {DYN_JOINT_MOTION_KIND_ROTATION,
     {0, 0, 1},
     {.kind = DYN_FUNCTION_KIND_POLYNOMIAL, .count = 2, .coefficients = {0, 1}}},
};

#endif
