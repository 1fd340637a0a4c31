/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Base parameters: the combinations of inertial parameters that motion and torques identify.
 *
 * The ten parameters of each link (regressor.h) cannot all be found from tau = Y p: some have no effect, others only
 * together. The base parameters b = B p are as many combinations as there are independent columns of Y, and
 *
 *     tau = Y p = Y_b b        Y_b: the columns of Y that are numbered here
 *
 * for every motion. Each is one parameter with others regrouped to it. Limits of joints have no influence. Where
 * gravity acts along an axis that nothing can tilt, the grouping accounts for it.
 *
 * Method: a part of a link's inertia is not identifiable if it can move to the parent link without changing the
 * energies, up to a constant, in any state. All that is not identifiable is a sum of such moves. Those of one joint are
 * the null space of ten columns: the difference between the energy regressor of the link and that of the parent for the
 * moved inertia. They are computed at random states. Where mimic joints are coupled, elimination compares the remaining
 * columns of the energies as a whole.
 *
 * Of equivalent columns, such as Ixx and Iyy of a link that turns about z, the first is used. So rounding does not
 * choose, and m, mz and Iyy of such a link are regrouped as in the literature.
 *
 * Tolerance: elimination treats an entry as zero below 1e-10 of the energy of a unit of that kind of parameter (mass,
 * first moment, inertia) which moves as fast and as far as the link or its parent. Rounding of the arithmetic stays
 * below 1e-13 of it. An angle e between two axes changes first moments and products of inertia by the order of e, and
 * moments of inertia by e^2. So axes within 1e-11 rad of parallel or perpendicular count as exact: exporters write
 * 6.1e-17 for cos(pi/2) in double precision, and pi to 12 digits is wrong by 5e-12. An angle of 1e-3 counts in full.
 * Angles between 1e-10 and 1e-5 rad count by their first order alone, as they do in the numerical rank of Y. Y_b b and
 * Y p differ by no more than the entries that elimination treats as zero.
 *
 * Sources: Gautier and Khalil 1990, "Direct calculation of minimum set of inertial parameters of serial robots";
 * Gautier 1991, "Numerical calculation of the base inertial parameters of robots"; Wensing, Niemeyer and Slotine 2024,
 * "A geometric characterization of observability in inertial parameter identification".
 */
#ifndef DYNAMICS_BASE_PARAMETERS_H
#define DYNAMICS_BASE_PARAMETERS_H

#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of moving joints with which base parameters of a model with coupled mimic joints are computed. */
enum { DYN_BASE_PARAMETER_COUPLED_JOINTS = 100 };

/* Grouping of a model's parameters. It is immutable: any number of threads may read it. */
typedef struct dyn_base_parameters dyn_base_parameters;

/* Computes the grouping for an acceleration of gravity (3 numbers; NULL: the model's own). The model is not needed
 * afterwards. Cost O(joints) times a thousand; O(joints^3) with coupled mimic joints.
 * Errors: DYN_INVALID_ARGUMENT for a gravity that is not finite; DYN_RESOURCE_EXHAUSTED out of memory, or for coupled
 * mimic joints among more than DYN_BASE_PARAMETER_COUPLED_JOINTS joints. */
DYN_API dyn_status dyn_base_parameters_create(const dyn_model *model, const double *gravity,
                                              dyn_base_parameters **grouping, dyn_error *error);

/* Frees a grouping; NULL is allowed. */
DYN_API void dyn_base_parameters_free(dyn_base_parameters *grouping);

/* Returns the number of base parameters, which is the rank of Y. Thread-safe. */
DYN_API int dyn_base_parameters_count(const dyn_base_parameters *grouping);

/* Returns the indices of the columns of Y that form Y_b, in ascending order, as many as there are base parameters:
 * column c is parameter c % 10 of joint c / 10. The array lives as long as the grouping. Thread-safe. */
DYN_API const int *dyn_base_parameters_columns(const dyn_base_parameters *grouping);

/* Computes b = B p for the parameters p of dyn_model_parameters; b has dyn_base_parameters_count numbers. Cost
 * O(joints). Thread-safe.
 * Errors: DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_base_parameters_reduce(const dyn_base_parameters *grouping, const double *p, double *b,
                                              dyn_error *error);

/* Stores the grouping matrix B, row-major, base parameter count x parameter count: 1 at the parameter itself, and the
 * factors of those that are regrouped to it. Thread-safe.
 * Errors: DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_base_parameters_matrix(const dyn_base_parameters *grouping, double *B, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
