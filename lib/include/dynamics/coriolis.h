/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Coriolis matrix and the Christoffel symbols of the mass matrix.
 *
 * The functions allocate nothing and are thread-safe as long as each thread has its own workspace.
 * Errors as in inverse_dynamics.h.
 */
#ifndef DYNAMICS_CORIOLIS_H
#define DYNAMICS_CORIOLIS_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes C(q, v), n x nv x nv, row-major, with C v = h - g and dM/dt = C + C', so that dM/dt - 2 C is skew. It is the
 * matrix of the Christoffel symbols; for joints whose rates are not derivatives of coordinates, it is the matrix of the
 * same connection. q is n x nq, v (NULL: zero) is n x nv. Cost O(bodies * depth) per sample.
 * Source: Echeandia and Wensing 2021, algorithm 1. */
DYN_API dyn_status dyn_coriolis_matrix(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                       const double *v, double *C, dyn_error *error);

/* Computes the symbols G, n x nv x nv x nv, with C(q, v) = sum over k of v_k G_k, each G_k being nv x nv. q is n x nq.
 * Cost O(nv * bodies * depth) per sample. */
DYN_API dyn_status dyn_christoffel(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                   double *symbols, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
