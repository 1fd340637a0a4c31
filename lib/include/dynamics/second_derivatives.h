/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Second derivatives of the dynamics, analytic.
 *
 * The conventions of derivatives.h on increments, mimic joints, threads and errors apply here. A second derivative is n
 * x nv x nv x nv, row-major: entry (i, j, k) is the derivative along number k of the second variable of the first
 * derivative of result i along number j of the first variable. Increments of different joints commute, so that entries
 * (i, j, k) and (i, k, j) are equal; those of one spherical, planar or floating joint need not.
 *
 * Outputs must not be NULL, and overlap neither inputs nor each other. The functions allocate nothing.
 *
 * Source: Singh, Russell and Wensing 2023, "On second-order derivatives of rigid-body dynamics: theory and
 * implementation".
 */
#ifndef DYNAMICS_SECOND_DERIVATIVES_H
#define DYNAMICS_SECOND_DERIVATIVES_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the second derivatives of dyn_rnea without external forces, tau(q, v, a):
 *
 *     d2tau_dqdq (i, j, k)   along q_j, then q_k
 *     d2tau_dvdv (i, j, k)   along v_j and v_k
 *     d2tau_dqdv (i, j, k)   along q_j and v_k
 *     dM_dq      (i, j, k)   of the mass matrix M_ij along q_k, which is that of tau_i along a_j and q_k
 *
 * All others are zero. q is n x nq; v, a (NULL: zero) are n x nv. Cost O(bodies * depth^2 + nv^3) per sample. */
DYN_API dyn_status dyn_rnea_second_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                               const double *gravity, const double *q, const double *v, const double *a,
                                               double *d2tau_dqdq, double *d2tau_dvdv, double *d2tau_dqdv,
                                               double *dM_dq, dyn_error *error);

/* Computes the first and second derivatives of dyn_aba without external forces, a(q, v, tau). `first` receives da/dq,
 * da/dv and da/dtau as dyn_aba_derivatives computes them. `second` receives
 *
 *     [0] (i, j, k)   along q_j, then q_k
 *     [1] (i, j, k)   along v_j and v_k
 *     [2] (i, j, k)   along q_j and v_k
 *     [3] (i, j, k)   along tau_j and q_k: the derivative of M^-1 along q_k
 *
 * All others are zero. q is n x nq; v, tau (NULL: zero) are n x nv. Cost O(nv^4) per sample. Returns
 * DYN_FAILED_PRECONDITION where M is singular, as dyn_aba does. */
DYN_API dyn_status dyn_aba_second_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                              const double *gravity, const double *q, const double *v,
                                              const double *tau, double *const first[3], double *const second[4],
                                              dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
