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
 * c is the compliance of the contact and b the required normal velocity.
 *
 * Up to eight contacts first try to stick together: where the impulses that end all their velocities are unique and lie
 * in the cones of friction, they are the solution. It counts as one sweep.
 *
 * Otherwise each sweep visits the contacts in their order. A contact takes the impulse that sticks, where that is in
 * the cone of friction. Otherwise its normal impulse is projected on p_n >= 0, and its tangential one, after a step of
 * 1 / W_t, on the disc of radius mu p_n. The sweeps end early where no contact changes its velocity by more than 1e-10
 * m/s.
 *
 * Source: Jourdan, Alart and Jean 1998, "A Gauss-Seidel like algorithm to solve frictional contact problems"; Moreau
 * 1988, "Unilateral contact and dry friction in finite freedom dynamics".
 */
#ifndef DYNAMICS_CONSTRAINT_CONTACT_SOLVE_H
#define DYNAMICS_CONSTRAINT_CONTACT_SOLVE_H

#include <stdbool.h>

/* Contact at a point between a link and the link of a plane. Links are numbers of blocks of six rows; -1: the world. */
typedef struct contact_row {
    int links[2];      /* link of the surface, link of the plane */
    double axes[9];    /* rows n, t_1, t_2 */
    double E[2][3][6]; /* rows of E for the twists of both links: moment of the axis about the origin, and the axis */
    double friction, compliance, required;
    double impulse[3]; /* p_n, p_t1, p_t2 */
    double *response;  /* R E', 3 x rows, row by row of E */
    double block[9];   /* W = E R E' */
    double L[3], D[3]; /* factors of W + c e_n e_n' = L D L' */
    bool is_regular;   /* D is positive beyond rounding */
} contact_row;

/* Problem of one sample. `u` is u_0 before, and u after. */
typedef struct contact_problem {
    int rows, count, most_sweeps;
    double *u;
    contact_row *contacts;
} contact_problem;

/* Course of a solution: number of sweeps, and the largest violation of the law, m/s. */
typedef struct contact_course {
    int sweeps;
    double residual;
} contact_course;

/* Computes E from the axes. `arm` is the contact point less the origin of the frame of a link, in world axes. */
void contact_lever(contact_row *contact, int side, const double arm[3]);

/* Computes the velocity of a contact along its axes. */
void contact_velocity(const contact_row *contact, const double *u, double v[3]);

/* Adds the wrench impulses E' p of a contact to w. */
void contact_add_wrench(const contact_row *contact, const double p[3], double *w);

/* Computes response, block and factors of a contact for the symmetric response R of `rows` rows. */
void contact_respond(contact_row *contact, int rows, const double *R);

/* Solves a problem whose contacts have zero impulses. Allocates nothing. Cost O(count rows) for each sweep. */
contact_course contact_solve(const contact_problem *problem);

#endif
