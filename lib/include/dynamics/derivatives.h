/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First derivatives of the dynamics, analytic.
 *
 * Common to all functions here
 *   increments  a derivative with respect to q is taken along the tangent increments that v integrates to, in the order
 *               of v: column k is d/dt at t = 0 of the result at the configuration that the joint motion e_k reaches in
 *               time t. For a joint with one coordinate this is the partial derivative; planar: x, y of the moved
 *               frame, then the angle; spherical: turns about the child link's axes; floating: shifts along, then turns
 *               about, the child link's axes (right increments q exp(e_k t), Pinocchio's). v, a and tau are held
 *               constant as numbers.
 *   mimic       a coordinate that coupled mimic joints share has one column, with all that moves with it.
 *   matrices    n x nv x nv, row-major: row i is the derivative of number i of the result.
 *   n, gravity, threads, allocation, errors as in inverse_dynamics.h. Outputs overlap neither inputs nor each other.
 *
 * Sources: Carpentier and Mansard 2018, "Analytical derivatives of rigid body dynamics algorithms"; Singh, Russell and
 * Wensing 2022, "Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra".
 */
#ifndef DYNAMICS_DERIVATIVES_H
#define DYNAMICS_DERIVATIVES_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the derivatives of dyn_rnea, tau(q, v, a), with respect to its three arguments; dtau_da = M(q).
 *
 * q is n x nq; v, a (NULL: zero) are n x nv. `forces` may be NULL; each wrench is held constant in its own reference
 * frame: one in DYN_REFERENCE_FRAME_LOCAL turns with the link, one in DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED keeps its
 * direction and moves with the frame's origin, one in DYN_REFERENCE_FRAME_WORLD keeps its line of action. Cost
 * O(bodies * depth) per sample. */
DYN_API dyn_status dyn_rnea_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                        const double *gravity, const double *q, const double *v, const double *a,
                                        const dyn_external_forces *forces, double *dtau_dq, double *dtau_dv,
                                        double *dtau_da, dyn_error *error);

/* Computes the derivatives of dyn_aba, a(q, v, tau), with respect to its three arguments; da_dtau = M(q)^-1.
 *
 * q is n x nq; v, tau (NULL: zero) are n x nv. `forces` as in dyn_rnea_derivatives. Cost O(bodies * depth + nv^2 *
 * depth) per sample, O(nv^3) with coupled mimic joints. Returns DYN_FAILED_PRECONDITION where M is singular, as dyn_aba
 * does. */
DYN_API dyn_status dyn_aba_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                       const double *gravity, const double *q, const double *v, const double *tau,
                                       const dyn_external_forces *forces, double *da_dq, double *da_dv, double *da_dtau,
                                       dyn_error *error);

/* Computes the derivative of dyn_gravity, g(q), n x nv x nv. q is n x nq. Cost O(bodies * depth) per sample. */
DYN_API dyn_status dyn_gravity_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                           const double *gravity, const double *q, double *dg_dq, dyn_error *error);

/* Computes the derivatives of the motion of a frame: of its twist V(q, v) = J v and of the twist's rate, A(q, v, a) = J
 * a + dJ/dt v, in the reference frame of J. Each is n x 6 x nv, angular rows first.
 *
 * In DYN_REFERENCE_FRAME_LOCAL and DYN_REFERENCE_FRAME_WORLD, A is the spatial acceleration; in
 * DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED its linear part is the second derivative of the frame's position. Gravity has
 * no influence. dV/dv = dA/da = J, as in dyn_frame_jacobian; the derivative of the frame's pose is J itself. q is n x
 * nq; v, a (NULL: zero) are n x nv. Cost O(nv) per sample. Returns DYN_NOT_FOUND for a frame index that is out of
 * range. */
DYN_API dyn_status dyn_frame_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                         const double *v, const double *a, int frame,
                                         dyn_reference_frame reference_frame, double *dV_dq, double *dA_dq,
                                         double *dA_dv, double *J, dyn_error *error);

/* Computes the Hessian of a frame: H(i, j, k) = dJ_ij / dq_k, n x 6 x nv x nv, with J in the reference frame and
 * angular rows first; so dJ/dt = H v, summed over k. q is n x nq. Cost O(nv^2) per sample. Returns DYN_NOT_FOUND for a
 * frame index that is out of range. */
DYN_API dyn_status dyn_frame_hessian(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                                     int frame, dyn_reference_frame reference_frame, double *H, dyn_error *error);

/* Computes the derivatives of the centroidal momentum h_G(q, v) = A_G v and of its rate A_G a + dA_G/dt v, as in
 * centroidal.h: about the centre of mass, in world axes, n x 6 x nv each, angular rows first. dh_G/dv and the
 * derivative of the rate with respect to a are A_G. q is n x nq; v, a (NULL: zero) are n x nv. Cost O(bodies) per
 * sample. Returns DYN_FAILED_PRECONDITION for a robot without mass. */
DYN_API dyn_status dyn_centroidal_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                              const double *q, const double *v, const double *a, double *dh_dq,
                                              double *drate_dq, double *drate_dv, double *A_G, dyn_error *error);

/* Computes the change of tau = dyn_rnea(q, v, a) along a direction: dtau = dtau/dq dq + dtau/dv dv + M da, without
 * forming the matrices.
 *
 * q is n x nq; v, a, the increments dq, dv, da (NULL: zero) and dtau are n x nv. `forces` as in dyn_rnea_derivatives.
 * Cost O(bodies) per sample. */
DYN_API dyn_status dyn_rnea_directional_derivative(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                                   const double *gravity, const double *q, const double *v,
                                                   const double *a, const dyn_external_forces *forces, const double *dq,
                                                   const double *dv, const double *da, double *dtau, dyn_error *error);

/* Computes the change of a = dyn_aba(q, v, tau) along a direction: da = da/dq dq + da/dv dv + M^-1 dtau, without
 * forming the matrices.
 *
 * q is n x nq; v, tau, the increments dq, dv, dtau (NULL: zero) and da are n x nv. Cost O(bodies) per sample, O(nv^3)
 * with coupled mimic joints. Returns DYN_FAILED_PRECONDITION where M is singular, as dyn_aba does. */
DYN_API dyn_status dyn_aba_directional_derivative(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                                  const double *gravity, const double *q, const double *v,
                                                  const double *tau, const dyn_external_forces *forces,
                                                  const double *dq, const double *dv, const double *dtau, double *da,
                                                  dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
