/*
 * The algorithms of the instance that is being compiled; table.c collects them. Signatures as in kernels.h.
 */
#ifndef DYNAMICS_KERNELS_INSTANCE_H
#define DYNAMICS_KERNELS_INSTANCE_H

#include "joint.h"
#include "kernels.h"
#include "step_parameters.h"

extern const kernel_table KERNEL(kernel_table);

/* Bytes of scratch memory that each algorithm needs. */
size_t KERNEL(placements_memory)(const dyn_model *model);
size_t KERNEL(rnea_memory)(const dyn_model *model);
size_t KERNEL(regressor_memory)(const dyn_model *model);
size_t KERNEL(joint_wrenches_memory)(const dyn_model *model);
size_t KERNEL(minverse_memory)(const dyn_model *model);
size_t KERNEL(energy_memory)(const dyn_model *model);
size_t KERNEL(center_of_mass_memory)(const dyn_model *model);
size_t KERNEL(centroidal_memory)(const dyn_model *model);
size_t KERNEL(coriolis_memory)(const dyn_model *model);
size_t KERNEL(frame_motion_memory)(const dyn_model *model);
size_t KERNEL(gravity_memory)(const dyn_model *model);
size_t KERNEL(crba_memory)(const dyn_model *model);
size_t KERNEL(aba_memory)(const dyn_model *model);
size_t KERNEL(coupled_forward_dynamics_memory)(const dyn_model *model);
size_t KERNEL(frame_memory)(const dyn_model *model);
size_t KERNEL(forward_dynamics_memory)(const dyn_model *model);
size_t KERNEL(rnea_derivatives_memory)(const dyn_model *model);
size_t KERNEL(aba_derivatives_memory)(const dyn_model *model);
size_t KERNEL(gravity_derivatives_memory)(const dyn_model *model);
size_t KERNEL(frame_derivatives_memory)(const dyn_model *model);
size_t KERNEL(centroidal_derivatives_memory)(const dyn_model *model);
size_t KERNEL(rnea_directional_memory)(const dyn_model *model);
size_t KERNEL(aba_directional_memory)(const dyn_model *model);
size_t KERNEL(rnea_second_derivatives_memory)(const dyn_model *model);
size_t KERNEL(aba_second_derivatives_memory)(const dyn_model *model);
size_t KERNEL(operational_space_memory)(const dyn_model *model);
size_t KERNEL(energy_regressor_memory)(const dyn_model *model);

size_t KERNEL(integrate_memory)(const dyn_model *model);
size_t KERNEL(step_memory)(const dyn_model *model);
size_t KERNEL(control_memory)(const dyn_model *model);
size_t KERNEL(resisted_acceleration_memory)(const dyn_model *model);

/* Samples into lanes and back. */
int KERNEL(pack)(const double *rows, size_t stride, size_t width, size_t count, void *packed);
int KERNEL(unpack)(const void *packed, size_t width, size_t count, double *rows);
int KERNEL(all_finite)(const double *x, size_t count);
int KERNEL(all_within)(const double *x, size_t count, double bound);
int KERNEL(all_positive)(const void *packed, size_t count);

void KERNEL(rnea)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                  const void *a, const wrench_set *forces, void *tau);
void KERNEL(gravity)(const dyn_model *model, void *memory, const double gravity[3], const void *q, void *g);
void KERNEL(crba)(const dyn_model *model, void *memory, const void *q, void *M);
int KERNEL(crba_in_row)(const dyn_model *model, void *memory, const void *q, void *M);
/* M_kj = A_j . B_k for `rows` rows k from `row` on and columns j from `from` to `to` - 1 of M, which has `width`
 * columns; A and B are columns of motions (motion_columns.h), `each` numbers a component. One lane gives M as unpack
 * does, and returns what it does; others return true. */
int KERNEL(column_products)(const void *A, const void *B, size_t each, int row, int rows, int from, int to,
                            size_t width, void *M);
void KERNEL(aba)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                 const void *tau, const void *diagonal, const wrench_set *forces, void *pivots, void *a);
void KERNEL(coupled_forward_dynamics)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                      const void *v, const void *tau, const void *diagonal, const wrench_set *forces,
                                      void *pivots, void *a);
void KERNEL(frame_pose)(const dyn_model *model, void *memory, const void *q, int frame, void *position, void *rotation);
void KERNEL(frame_jacobian)(const dyn_model *model, void *memory, const void *q, int frame,
                            dyn_reference_frame reference_frame, void *J);
void KERNEL(place_frame)(const dyn_model *model, int frame, void *position, void *rotation);
void KERNEL(refer_jacobian)(const dyn_model *model, const void *position, const void *rotation,
                            dyn_reference_frame reference_frame, void *J);
void KERNEL(refer_motion)(const dyn_model *model, const void *position, const void *rotation,
                          dyn_reference_frame reference_frame, const void *J, void *twist, void *rate, void *dJ);
int KERNEL(rnea_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                             const void *v, const void *a, const wrench_set *forces, void *dtau_dq, void *dtau_dv,
                             void *dtau_da);
void KERNEL(aba_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                             const void *v, const void *tau, const wrench_set *forces, void *pivots, void *da_dq,
                             void *da_dv, void *da_dtau);
void KERNEL(gravity_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                 void *dg_dq);
void KERNEL(frame_derivatives)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                               int frame, dyn_reference_frame reference_frame, void *dV_dq, void *dA_dq, void *dA_dv,
                               void *J);
void KERNEL(frame_hessian)(const dyn_model *model, void *memory, const void *q, int frame,
                           dyn_reference_frame reference_frame, void *H);
void KERNEL(centroidal_derivatives)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a,
                                    void *dh_dq, void *drate_dq, void *drate_dv, void *A_G);
void KERNEL(rnea_directional)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                              const void *v, const void *a, const wrench_set *forces, const void *dq, const void *dv,
                              const void *da, void *dtau);
void KERNEL(aba_directional)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                             const void *v, const void *tau, const wrench_set *forces, const void *dq, const void *dv,
                             const void *dtau, void *pivots, void *da);
void KERNEL(rnea_second_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                     const void *v, const void *a, void *dqdq, void *dvdv, void *dqdv, void *dM_dq);
void KERNEL(aba_second_derivatives)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                    const void *v, const void *tau, void *pivots, void *da_dq, void *da_dv,
                                    void *da_dtau, void *dqdq, void *dvdv, void *dqdv, void *dtaudq);

/* Where the derivatives of forward dynamics leave the acceleration in their memory. */
real *KERNEL(derived_acceleration)(const dyn_model *model, void *memory);

/* ABA, or what stands for it where mimic joints are coupled. */
void KERNEL(forward_dynamics)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                              const void *v, const void *tau, const wrench_set *forces, void *pivots, void *a);

/* The same where each coordinate is resisted by a number of its own: (M + diag e) a = tau - h; NULL: none. */
void KERNEL(resisted_forward_dynamics)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                                       const void *v, const void *tau, const void *diagonal, const wrench_set *forces,
                                       void *pivots, void *a);

/* The n = nv coordinates above which each one is, */
void KERNEL(coordinate_parents)(const dyn_model *model, int *parent);
/* M = L' D L in place: D on the diagonal, L below it; */
void KERNEL(factorize)(int n, const int *parent, real *M);
/* x = scale M^-1 x, n x m, from the factors; */
void KERNEL(solve)(int n, const int *parent, const real *L, real scale, int m, real *x);
/* the same for two n x n arrays at once, whose entries between branches are zero; */
void KERNEL(solve_both)(int n, const int *parent, const real *L, real scale, real *x, real *y);
/* and M^-1 in their place. */
void KERNEL(invert)(int n, const int *parent, real *M);

void KERNEL(regressor)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                       const void *a, void *regressor);

void KERNEL(minverse)(const dyn_model *model, void *memory, const void *q, void *pivots, void *inverse);
void KERNEL(mass_factors)(const dyn_model *model, void *memory, const void *q, void *pivots, void *factors);
void KERNEL(mass_solve)(const dyn_model *model, void *memory, const void *factors, const void *b, void *x);
void KERNEL(energy)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                    void *energies);
void KERNEL(center_of_mass)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a, int root,
                            void *motion, void *jacobian);
void KERNEL(centroidal)(const dyn_model *model, void *memory, const void *q, const void *v, const void *zero_a,
                        void *inertia, void *A_G, void *dA_G);
void KERNEL(centroidal_momentum)(const dyn_model *model, void *memory, const void *q, const void *v, const void *zero_a,
                                 void *momentum);
void KERNEL(coriolis)(const dyn_model *model, void *memory, const void *q, const void *v, const void *zero_a, void *C);
void KERNEL(frame_motion)(const dyn_model *model, void *memory, const void *q, const void *v, const void *a, int frame,
                          dyn_reference_frame reference_frame, void *twist, void *rate, void *dJ);

void KERNEL(joint_wrenches)(const dyn_model *model, void *memory, const double gravity[3], const void *q, const void *v,
                            const void *a, const wrench_set *forces, void *wrenches);

/* Steps forward in time, and what they are made of. */
void KERNEL(integrate)(const dyn_model *model, void *memory, const void *q, const void *u, double dt, void *q_next);
void KERNEL(step)(const dyn_model *model, void *memory, const step_parameters *p, const void *q, const void *v,
                  const void *tau_begin, const void *tau_end, const wrench_set *forces, void *pivots, void *q_next,
                  void *v_next);
void KERNEL(resisted_acceleration)(const dyn_model *model, void *memory, const step_parameters *p, const void *q,
                                   const void *v, const void *tau, void *pivots, void *a);
void KERNEL(control)(const dyn_model *model, void *memory, const control_parameters *c, const void *q, const void *v,
                     const void *q_r, const void *v_r, const void *a_r, void *tau);

/* du/dt of an increment u that carries the velocity v. */
void KERNEL(increment_rate)(const dyn_model *model, const real *u, const real *v, real *rate);

/* tau += r(q, v), the forces that joints exert by themselves; */
void KERNEL(add_resistance)(const dyn_model *model, const joint_resistance *r, const real *q, const real *v, real *tau);
/* or what a semi-implicit step of dt needs of them: tau += -K v + springs, diagonal = dt K. False: K is zero. */
int KERNEL(resist_implicitly)(const dyn_model *model, const joint_resistance *r, double dt, const real *q,
                              const real *v, real *tau, real *diagonal);

void KERNEL(energy_regressor)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                              const void *v, void *kinetic, void *potential);
void KERNEL(operational_space)(const dyn_model *model, void *memory, const double gravity[3], const void *q,
                               const void *v, const dyn_task *task, void *pivots, void *kept,
                               const task_results *results);

/* Sines and cosines of `count` packed angles; the arrays do not overlap. */
void KERNEL(sines)(const real *angle, int count, real *sine, real *cosine);

/* Sines and cosines of the joints' angles, those of hinges with their turn, at the start of *memory, which moves behind
 * them. */
typedef struct joint_turns {
    const real *sine, *cosine;
} joint_turns;
joint_turns KERNEL(joint_turns)(const dyn_model *model, const real *q, void **memory);

/* Placement of every body in its parent at q, at the start of *memory, which moves behind them. */
placement *KERNEL(placements)(const dyn_model *model, const real *q, void **memory);

/* The same for `count` bodies only, X[k] of body path[k]. */
void KERNEL(path_placements)(const dyn_model *model, const real *q, const int *path, int count, real *angles,
                             placement *X);

/* One external wrench in the axes and about the origin of the body that carries its frame; X are the bodies' placements
 * in their parents. */
force KERNEL(body_wrench)(const dyn_model *model, const placement *X, wrench_frame frame, const real wrench[6]);

#endif
