/*
 * The algorithms over lanes.
 *
 * One table a lane instance. Arrays of reals hold one number for each of the instance's lanes: element i of a packed
 * array is numbers[i * lanes .. i * lanes + lanes - 1], doubles or floats. `memory` is the scratch block of a
 * workspace, of at least memory_size(model) bytes, aligned to 64.
 */
#ifndef DYNAMICS_KERNELS_KERNELS_H
#define DYNAMICS_KERNELS_KERNELS_H

#include <stddef.h>

#include <dynamics/model.h>
#include <dynamics/task.h>

#include "step_parameters.h"

/* Where one external wrench acts. */
typedef struct wrench_frame {
    int frame; /* link index, not the world */
    dyn_reference_frame reference_frame;
} wrench_frame;

/* External wrenches of a call: count of them, with 6 packed numbers (n; f) each. */
typedef struct wrench_set {
    size_t count;
    const wrench_frame *frames;
    const void *wrenches;
} wrench_set;

/* Where the dynamics of a task of m rows go; NULL: not wanted. */
typedef struct task_results {
    void *inverse_inertia, *inertia; /* m x m */
    void *bias, *gravity;            /* m */
    void *inverse;                   /* nv x m */
    void *projector;                 /* nv x nv */
} task_results;

typedef struct kernel_table {
    int lanes;
    size_t number_size; /* sizeof(double) or sizeof(float) */

    size_t (*memory_size)(const dyn_model *model);

    /* packed[i][l] = rows[l * stride + i] for i < width and lanes l; lanes from `count` on repeat the last sample.
     * Returns whether none of the numbers is NaN or infinite. */
    int (*pack)(const double *rows, size_t stride, size_t width, size_t count, void *packed);
    /* rows[l * width + i] = packed[i][l] for the first `count` lanes; packed may be rows of one lane. Returns whether
     * none of the numbers is NaN or infinite. */
    int (*unpack)(const void *packed, size_t width, size_t count, double *rows);
    /* Whether none of the numbers is NaN or infinite. */
    int (*all_finite)(const double *x, size_t count);
    /* Whether none is beyond the positive bound, or NaN. */
    int (*all_within)(const double *x, size_t count, double bound);
    /* Whether `count` packed numbers are positive in all lanes. */
    int (*all_positive)(const void *packed, size_t count);

    /* Sines and cosines of `count` packed angles. */
    void (*sines)(const void *angle, int count, void *sine, void *cosine);

    /* tau(q, v, a); forces may be NULL. */
    void (*rnea)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                 const void *a, const wrench_set *forces, void *tau);
    /* g(q) */
    void (*gravity)(const dyn_model *model, void *memory, const double gravity[3], const void *q, void *g);
    /* M(q), nv x nv. */
    void (*crba)(const dyn_model *model, void *memory, const void *q, void *M);
    /* The same of one lane of doubles, in the caller's row as unpack gives it; returns what unpack does. */
    int (*crba_in_row)(const dyn_model *model, void *memory, const void *q, void *M);
    /* a(q, v, tau); `pivots` receives the nv diagonal entries that the algorithm divides by. */
    void (*aba)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                const void *tau, const wrench_set *forces, void *pivots, void *a);
    /* Pose of a frame in the world: 3 and 9 numbers. */
    void (*frame_pose)(const dyn_model *model, void *memory, const void *q, int frame, void *position, void *rotation);
    /* Jacobian of a frame, 6 x nv, angular rows first. */
    void (*frame_jacobian)(const dyn_model *model, void *memory, const void *q, int frame,
                           dyn_reference_frame reference_frame, void *J);
    /* In place, from those of its body, in world axes and about the world's origin: the pose of a frame; */
    void (*place_frame)(const dyn_model *model, int frame, void *position, void *rotation);
    /* its Jacobian, of a frame at this pose; */
    void (*refer_jacobian)(const dyn_model *model, const void *position, const void *rotation,
                           dyn_reference_frame reference_frame, void *J);
    /* twist, rate and rate of the Jacobian; J is that of the body. */
    void (*refer_motion)(const dyn_model *model, const void *position, const void *rotation,
                         dyn_reference_frame reference_frame, const void *J, void *twist, void *rate, void *dJ);
    /* Derivatives of tau(q, v, a) along increments of q, v and a, nv x nv each. Returns whether they lie in the
     * caller's rows as unpack gives them, and are finite; else unpack is to tell. */
    int (*rnea_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                            const void *a, const wrench_set *forces, void *dtau_dq, void *dtau_dv, void *dtau_da);
    /* Derivatives of a(q, v, tau), nv x nv each; `pivots` as above. */
    void (*aba_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                            const void *tau, const wrench_set *forces, void *pivots, void *da_dq, void *da_dv,
                            void *da_dtau);
    /* Derivative of g(q), nv x nv. */
    void (*gravity_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                void *dg_dq);
    /* Derivatives of a frame's twist V and of its rate A, and its Jacobian, 6 x nv each, angular rows first. */
    void (*frame_derivatives)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                              int frame, dyn_reference_frame reference_frame, void *dV_dq, void *dA_dq, void *dA_dv,
                              void *J);
    /* Derivative of a frame's Jacobian, 6 x nv x nv. */
    void (*frame_hessian)(const dyn_model *model, void *memory, const void *q, int frame,
                          dyn_reference_frame reference_frame, void *H);
    /* Derivatives of the centroidal momentum and of its rate, and A_G, 6 x nv each, angular rows first. */
    void (*centroidal_derivatives)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                                   void *dh_dq, void *drate_dq, void *drate_dv, void *A_G);
    /* Change of tau(q, v, a) with increments of its arguments, and of a(q, v, tau). */
    void (*rnea_directional)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                             const void *v, const void *a, const wrench_set *forces, const void *dq, const void *dv,
                             const void *da, void *dtau);
    void (*aba_directional)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                            const void *tau, const wrench_set *forces, const void *dq, const void *dv, const void *dtau,
                            void *pivots, void *da);
    /* Second derivatives of tau(q, v, a), nv x nv x nv each: along q and q, v and v, q and v; and that of M along q. */
    void (*rnea_second_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                    const void *v, const void *a, void *dqdq, void *dvdv, void *dqdv, void *dM_dq);
    /* First and second derivatives of a(q, v, tau): along q and q, v and v, q and v, tau and q; `pivots` as above. */
    void (*aba_second_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                   const void *v, const void *tau, void *pivots, void *da_dq, void *da_dv,
                                   void *da_dtau, void *dqdq, void *dvdv, void *dqdv, void *dtaudq);
    /* tau = Y p: nv x 10 joints. */
    void (*regressor)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                      const void *a, void *Y);
    /* M(q)^-1, nv x nv; `pivots` receives the nv numbers that the algorithm divides by. */
    void (*minverse)(const dyn_model *model, void *memory, const void *q, void *pivots, void *inverse);
    /* M = L' D L: D on the diagonal, L below it, zeros above, nv x nv; `pivots` as above. And x with M x = b from them,
     * b and x nv; one lane needs no copy of the factors. */
    void (*mass_factors)(const dyn_model *model, void *memory, const void *q, void *pivots, void *factors);
    void (*mass_solve)(const dyn_model *model, void *memory, const void *factors, const void *b, void *x);
    /* Kinetic and potential energy. */
    void (*energy)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                   void *energies);
    /* Position, velocity and acceleration (9) and Jacobian (3 x nv) of the centre of mass behind body `root`, -1: all.
     * */
    void (*center_of_mass)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a, int root,
                           void *motion, void *jacobian);
    /* Centroidal inertia (9), momentum matrix and its rate (6 x nv each); zero_a is nv zeros. */
    void (*centroidal)(const dyn_model *model, void *memory, const void *q, const void *v, const void *zero_a,
                       void *inertia, void *A_G, void *dA_G);
    /* Centroidal momentum (6); zero_a is nv zeros. */
    void (*centroidal_momentum)(const dyn_model *model, void *memory, const void *q, const void *v, const void *zero_a,
                                void *momentum);
    /* C(q, v), nv x nv; zero_a is nv zeros. */
    void (*coriolis)(const dyn_model *model, void *memory, const void *q, const void *v, const void *zero_a, void *C);
    /* Twist of a frame (6), its rate (6) and that of its Jacobian (6 x nv). */
    void (*frame_motion)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a, int frame,
                         dyn_reference_frame reference_frame, void *twist, void *rate, void *dJ);
    /* The wrench (n; f) that each joint carries: 6 joints. */
    void (*joint_wrenches)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                           const void *a, const wrench_set *forces, void *wrenches);
    /* q (+) dt u */
    void (*integrate)(const dyn_model *model, void *memory, const void *q, const void *u, double dt, void *q_next);
    /* The state after a step, under forces from tau_begin to tau_end (NULL: held); `pivots` as above, of the last
     * evaluation. The next state is another array than the state. */
    void (*step)(const dyn_model *model, void *memory, const step_parameters *p, const void *q, const void *v,
                 const void *tau_begin, const void *tau_end, const wrench_set *forces, void *pivots, void *q_next,
                 void *v_next);
    /* a(q, v, tau) with the joints' own resistance; `pivots` as above. */
    void (*resisted_acceleration)(const dyn_model *model, void *memory, const step_parameters *p, const void *q,
                                  const void *v, const void *tau, void *pivots, void *a);
    /* Adds the forces of a controller to tau. */
    void (*control)(const dyn_model *model, void *memory, const control_parameters *c, const void *q, const void *v,
                    const void *q_r, const void *v_r, const void *a_r, void *tau);
    /* Regressors of the kinetic and of the potential energy: 10 joints each. */
    void (*energy_regressor)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                             const void *v, void *kinetic, void *potential);
    /* Dynamics of a task; `pivots` as above, and `kept` receives for each row what its pivot is of its diagonal entry
     * of the inverse inertia, unless only that is wanted. */
    void (*operational_space)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                              const void *v, const dyn_task *task, void *pivots, void *kept,
                              const task_results *results);
} kernel_table;

/* The instances; those but the scalar ones where DYN_HAVE_AVX512 and its like are defined. */
extern const kernel_table dyn_kernel_table_scalar, dyn_kernel_table_scalar_float;
extern const kernel_table dyn_kernel_table_sse2, dyn_kernel_table_sse2_float;
extern const kernel_table dyn_kernel_table_sse2_one, dyn_kernel_table_sse2_one_float;
extern const kernel_table dyn_kernel_table_avx2, dyn_kernel_table_avx2_float;
extern const kernel_table dyn_kernel_table_avx2_one, dyn_kernel_table_avx2_one_float;
extern const kernel_table dyn_kernel_table_avx512, dyn_kernel_table_avx512_float;
extern const kernel_table dyn_kernel_table_avx512_one, dyn_kernel_table_avx512_one_float;
extern const kernel_table dyn_kernel_table_neon, dyn_kernel_table_neon_float;
extern const kernel_table dyn_kernel_table_neon_one, dyn_kernel_table_neon_one_float;

#endif
