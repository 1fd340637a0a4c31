/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declares a table of every algorithm of the library, in which all have one signature. Measurements, comparisons and
 * counts of all algorithms use this table, and a new algorithm needs one row in it.
 */
#ifndef DYNAMICS_TESTS_ALGORITHMS_H
#define DYNAMICS_TESTS_ALGORITHMS_H

#include <dynamics/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum algorithm_id {
    ALGORITHM_RNEA,
    ALGORITHM_BIAS,
    ALGORITHM_CORIOLIS_FORCES,
    ALGORITHM_GRAVITY,
    ALGORITHM_CRBA,
    ALGORITHM_MINVERSE,
    ALGORITHM_MASS_SOLVE,
    ALGORITHM_ABA,
    ALGORITHM_CORIOLIS_MATRIX,
    ALGORITHM_CHRISTOFFEL,
    ALGORITHM_KINETIC_ENERGY,
    ALGORITHM_POTENTIAL_ENERGY,
    ALGORITHM_CENTER_OF_MASS,
    ALGORITHM_CENTER_OF_MASS_MOTION,
    ALGORITHM_CENTER_OF_MASS_JACOBIAN,
    ALGORITHM_CENTROIDAL_MOMENTUM,
    ALGORITHM_CENTROIDAL_MATRIX,
    ALGORITHM_CENTROIDAL_MATRIX_RATE,
    ALGORITHM_POSE,
    ALGORITHM_JACOBIAN,
    ALGORITHM_JACOBIAN_RATE,
    ALGORITHM_TWIST,
    ALGORITHM_FRAME_ACCELERATION,
    ALGORITHM_HESSIAN,
    ALGORITHM_JOINT_WRENCHES,
    ALGORITHM_FRAME_FORCE,
    ALGORITHM_REGRESSOR,
    ALGORITHM_ENERGY_REGRESSOR,
    ALGORITHM_TASK_INERTIA,
    ALGORITHM_MANIPULABILITY,
    ALGORITHM_MASS_ELLIPSOIDS,
    ALGORITHM_ACCELERATION_ELLIPSOIDS,
    ALGORITHM_TORQUE_ELLIPSOID,
    ALGORITHM_BODY_INERTIA,
    ALGORITHM_PRINCIPAL_MOMENTS,
    ALGORITHM_RNEA_DERIVATIVES,
    ALGORITHM_ABA_DERIVATIVES,
    ALGORITHM_GRAVITY_DERIVATIVES,
    ALGORITHM_FRAME_DERIVATIVES,
    ALGORITHM_CENTROIDAL_DERIVATIVES,
    ALGORITHM_RNEA_DIRECTIONAL,
    ALGORITHM_ABA_DIRECTIONAL,
    ALGORITHM_RNEA_SECOND_DERIVATIVES,
    ALGORITHM_ABA_SECOND_DERIVATIVES,
    ALGORITHM_JOINT_INERTIAS,
    ALGORITHM_ROTOR_FORCES,
    ALGORITHM_ROTOR_COUPLING_FORCES,
    ALGORITHM_BASE_FORCES,
    ALGORITHM_BASE_FORCE_DERIVATIVES,
    ALGORITHM_FRAME_MOTION_ON_BASE,
    ALGORITHM_ARTICULATED_INERTIA,
    ALGORITHM_COUNT,
} algorithm_id;

/* Input of a call: n states of a model, row by row. Not every algorithm reads all of it. */
typedef struct algorithm_input {
    const dyn_model *model;
    dyn_workspace *workspace;
    size_t n;
    const double *q, *v, *a, *tau; /* n x nq, then n x nv each */
    const double *wrench;          /* n x 6, the F of J'F */
    int frame; /* of pose, Jacobian and similar results, in DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED */
    const dyn_external_forces *forces; /* may be NULL */
} algorithm_input;

/* Largest number of arrays that one algorithm returns. */
enum { ALGORITHM_OUTPUTS = 7 };

/* Form of an array, for one state; p is the number of inertial parameters. */
typedef enum algorithm_shape {
    SHAPE_NONE,
    SHAPE_NUMBER,
    SHAPE_3,
    SHAPE_6,
    SHAPE_3x3,
    SHAPE_6x6,
    SHAPE_NV,
    SHAPE_3xNV,
    SHAPE_6xNV,
    SHAPE_6xJOINTS,
    SHAPE_NVxNV,
    SHAPE_P,
    SHAPE_NVxP,
    SHAPE_6xNVxNV,
    SHAPE_NVxNVxNV,
} algorithm_shape;

typedef dyn_status algorithm_function(const algorithm_input *in, dyn_error *error,
                                      double *const out[ALGORITHM_OUTPUTS]);

typedef struct algorithm {
    const char *name;
    algorithm_shape shape[ALGORITHM_OUTPUTS];
    algorithm_function *compute;
} algorithm;

/* Returns the algorithm's row of the table. */
const algorithm *algorithm_get(algorithm_id id);

/* Returns the number of doubles in output i for one state; 0: there is no output i. */
size_t algorithm_output_width(algorithm_id id, const dyn_model *model, int i);

/* Returns the number of doubles in all outputs for one state. */
size_t algorithm_width(algorithm_id id, const dyn_model *model);

/* Computes the address of each output of n states in a buffer `out` that has them one after the other. Entries of
 * `arrays` for which there is no output are NULL. */
void algorithm_lay_out(algorithm_id id, const dyn_model *model, size_t n, double *out,
                       double *arrays[ALGORITHM_OUTPUTS]);

/* Runs the algorithm for in->n states. Its outputs are in `out` one after the other, with in->n rows each. */
dyn_status algorithm_compute(algorithm_id id, const algorithm_input *in, dyn_error *error, double *out);

/* Returns true if an output has nv^3 numbers, and for the torque ellipsoid, which needs the eigenvalues of M. Tests run
 * such algorithms for small robots only. */
bool algorithm_is_cubic(algorithm_id id);

#ifdef __cplusplus
}
#endif

#endif
