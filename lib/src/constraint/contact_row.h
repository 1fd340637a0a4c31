/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contacts of one sample as rows of a problem for the twists of their links (contact_solve.h).
 */
#ifndef DYNAMICS_CONSTRAINT_CONTACT_ROW_H
#define DYNAMICS_CONSTRAINT_CONTACT_ROW_H

#include <stdbool.h>
#include <stddef.h>

/* Contact at a point between a link and the link of a plane. Links are numbers of blocks of six rows; -1: the world. */
typedef struct contact_row {
    int links[2];      /* link of the surface, link of the plane */
    double axes[9];    /* rows n, t_1, t_2 */
    double E[2][3][6]; /* rows of E for the twists of both links: moment of the axis about the origin, and the axis */
    double friction;
    double compliance[3], required[3]; /* c and b along the axes; along t_1 and t_2 only of a soft contact */
    double softness;                   /* (1 - d) / d of a soft contact; 0: another law */
    double impulse[3];                 /* p_n, p_t1, p_t2 */
    double *response;                  /* R E', 3 x rows, row by row of E */
    double block[9];                   /* W = E R E' */
    double L[3], D[3];                 /* factors of W + diag c = L D L' */
    bool is_regular;                   /* D is positive beyond rounding */
} contact_row;

/* Row u_r of the problem whose impulse has bounds: a stop or the dry friction of a joint. */
typedef struct bounded_row {
    int row;
    double lower, upper, required, impulse;
    const double *response; /* row r of R */
} bounded_row;

/* Problem of one sample. `u` is u_0 before, and u after. */
typedef struct contact_problem {
    int rows, count, bounded_count, most_sweeps;
    double *u;
    contact_row *contacts;
    bounded_row *bounded;
    double *memory; /* contact_memory(count, bounded_count) numbers */
} contact_problem;

/* Returns the number of impulses of a problem. */
static inline int contact_impulses(const contact_problem *problem) {
    return 3 * problem->count + problem->bounded_count;
}

/* Computes E from the axes. `arm` is the contact point less the origin of the frame of a link, in world axes. */
void contact_lever(contact_row *contact, int side, const double arm[3]);

/* Computes the velocity of a contact along its axes. */
void contact_velocity(const contact_row *contact, const double *u, double v[3]);

/* Adds the wrench impulses E' p of a contact to w. */
void contact_add_wrench(const contact_row *contact, const double p[3], double *w);

/* Computes response, block and factors of a contact for the symmetric response R of `rows` rows, and the compliance of
 * a soft contact: its softness times the first entry of the block. */
void contact_respond(contact_row *contact, int rows, const double *R);

/* Projects an impulse on the cone |x_t| <= mu x_n. */
void contact_project(double mu, double x[3]);

#endif
