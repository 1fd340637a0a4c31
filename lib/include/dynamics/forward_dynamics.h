/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forward dynamics: a = M(q)^-1 (tau - h(q, v) + sum J' f_ext).
 */
#ifndef DYNAMICS_FORWARD_DYNAMICS_H
#define DYNAMICS_FORWARD_DYNAMICS_H

#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes a for the forces tau at the state (q, v) by the articulated-body algorithm.
 *
 * q is n x nq; v, tau (NULL: zero) and a are n x nv; a may be the same array as tau or v. `gravity` and `forces` as in
 * inverse_dynamics.h. Cost O(bodies) per sample; O(nv^3) for a model with coupled mimic joints, whose coordinates the
 * recursion cannot separate: there M from dyn_crba is factorized. Allocates nothing. Thread-safe as long as each thread
 * has its own workspace.
 * Errors as in inverse_dynamics.h, and DYN_FAILED_PRECONDITION where M is singular, with the joint that no inertia
 * resists and the sample.
 * Source: Featherstone 1983; 2008, table 7.1. */
DYN_API dyn_status dyn_aba(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                           const double *q, const double *v, const double *tau, const dyn_external_forces *forces,
                           double *a, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
