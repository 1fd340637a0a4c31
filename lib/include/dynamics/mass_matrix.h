/*
 * The joint-space inertia matrix M(q).
 */
#ifndef DYNAMICS_MASS_MATRIX_H
#define DYNAMICS_MASS_MATRIX_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The composite-rigid-body algorithm: M(q), with kinetic energy = v' M v / 2.
 *
 * q is n x nq; M is n x nv x nv, row-major, both triangles filled, and must not overlap q. Cost O(bodies * depth) per
 * sample. Allocates nothing; safe as long as each thread has its own workspace. Errors as in inverse_dynamics.h.
 * Source: Walker and Orin 1982, method 3; Featherstone 2008, table 6.2. */
DYN_API dyn_status dyn_crba(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                            dyn_error *error, double *M);

/* The inverse M(q)^-1, n x nv x nv, both triangles, from the factors M = L' D L along the branches of the tree. q is n
 * x nq.
 * Cost O(nv * depth^2 + nv^2 * depth) per sample. Threads and errors as above, and DYN_FAILED_PRECONDITION where M is
 * singular, with the joint that no inertia resists and the sample.
 * Source: Featherstone 2005. */
DYN_API dyn_status dyn_minverse(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                dyn_error *error, double *inverse);

#ifdef __cplusplus
}
#endif

#endif
