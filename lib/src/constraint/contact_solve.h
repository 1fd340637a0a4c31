/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The solver of contacts of one sample: impulses at contact points that obey Coulomb's law, by projected Gauss-Seidel.
 *
 * The twists of the links that touch are u, 6 rows each, and respond to wrench impulses w at the links as u = u_0 + R
 * w. The velocity of contact i is v_i = E_i u along its axes n, t_1, t_2, and its impulse p_i acts as E_i' p_i. The
 * solver finds impulses with
 *
 *     p_n >= 0        v_n + c p_n - b >= 0        p_n (v_n + c p_n - b) = 0
 *     |p_t| <= mu p_n        p_t = -mu p_n v_t / |v_t| where v_t is not zero
 *
 * c is the compliance of the contact and b the required normal velocity. A soft contact has compliances and required
 * velocities along all axes, and its impulses minimize a convex function:
 *
 *     p in K        v + c p - b in K*        p' (v + c p - b) = 0        K: |p_t| <= mu p_n
 *
 * Bounded rows, of joints, obey
 *
 *     lower <= p <= upper        u_r = b inside        u_r >= b at the lower bound        u_r <= b at the upper one
 *
 * Up to eight contacts first try to stick together: where the impulses that end all their velocities are unique and lie
 * in the cones of friction, they are the solution, unless there are bounded rows. It counts as one sweep.
 *
 * Otherwise each sweep visits the contacts in their order. A contact takes the impulse that sticks, where that is in
 * the cone of friction. Otherwise its normal impulse is projected on p_n >= 0, and its tangential one, after a step of
 * 1 / W_t, on the disc of radius mu p_n. A soft contact takes projected steps on its cone instead. The sweeps end early
 * where no contact changes its velocity by more than 1e-10 m/s.
 *
 * Where at least 20 sweeps end with a larger change, at most 32 contacts take the impulses of the accurate method
 * (contact_cone.h), with ten times as many iterations, where these obey the law better.
 *
 * Source: Jourdan, Alart and Jean 1998, "A Gauss-Seidel like algorithm to solve frictional contact problems"; Moreau
 * 1988, "Unilateral contact and dry friction in finite freedom dynamics".
 */
#ifndef DYNAMICS_CONSTRAINT_CONTACT_SOLVE_H
#define DYNAMICS_CONSTRAINT_CONTACT_SOLVE_H

#include <stddef.h>

#include "contact_row.h"

/* Course of a solution: number of sweeps and iterations, and the largest violation of the law, m/s. */
typedef struct contact_course {
    int sweeps;
    double residual;
} contact_course;

/* Returns the number of doubles of scratch memory for problems of up to `count` contacts and `bounded` bounded rows. */
size_t contact_memory(size_t count, size_t bounded);

/* Solves a problem whose contacts have zero impulses. Allocates nothing. Cost O(count rows) for each sweep. */
contact_course contact_solve(const contact_problem *problem);

#endif
