/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contacts of a model in one block of samples: the impulses of a time step.
 *
 *     v' = v + dt a + M^-1 sum J_i' p_i
 *
 * contacts_apply finds the impulses p_i that let v' obey the contact laws (dynamics/contact.h), and adds M^-1 sum J_i'
 * p_i / dt to a. With the gap g and the normal velocity v_n at the start of the step, a rigid contact requires
 *
 *     v_n' >= -g / dt                       g > 0: it does not penetrate
 *     v_n' >= min(0.2 (-g) / dt, 1 m/s)     g <= 0: a fifth of the penetration ends in each step
 *     v_n' >= -e v_n                        an impact: v_n < -rest_velocity, and g + dt v_n' < 0 without impulses
 *
 * A compliant one lets v_n' act in the linearized law of Hunt and Crossley at the end of the step, which is stable
 * for any stiffness:
 *
 *     p_n / dt = F + F' (x' - x_0'),  x_0' = -v_n,  F = f(x + dt x_0', x_0'),  F' = dF / dx_0'
 *
 * A soft one (dyn_soft_contact) acts where g < 0 at the start of the step, with f = p / dt in the cone of friction K:
 *
 *     a + R f - a_ref in K*,  f' (a + R f - a_ref) = 0,  R = A_nn (1 - d) / d,  a = (v' - v) / dt
 *     a_ref,n = -B v_n - K d g,  a_ref,t = -B v_t
 *
 * with the impedance d(-g) and A_nn, the acceleration of the point along n by a force of 1 N along n. MuJoCo estimates
 * A_nn once, from the inverse inertia of the body at its centre of mass in the neutral configuration.
 *
 * The constraints of the model hold through the impulses: the accelerations satisfy them before (loops.c), and their
 * rows are eliminated from the response of all others (eliminate.h).
 *
 * Each lane is solved by itself, so that its result does not depend on the other lanes.
 *
 * Source: Stewart and Trinkle 1996, "An implicit time-stepping scheme for rigid body dynamics with inelastic collisions
 * and Coulomb friction"; Anitescu and Potra 1997; Hunt and Crossley 1975; Todorov 2014, "Convex and analytically-
 * invertible dynamics with contacts and constraints".
 */
#ifndef DYNAMICS_CONSTRAINT_CONTACTS_H
#define DYNAMICS_CONSTRAINT_CONTACTS_H

#include <dynamics/contact.h>
#include <dynamics/simulation.h>

#include "../dynamics/workspace.h"
#include "contact_geometry.h"
#include "contact_solve.h"
#include "rows.h"

/* Surface and plane that touch, with the law of the two. Links are numbers in contacts.links; -1: the world. */
typedef struct contact_pair {
    int surface, plane; /* contact surfaces of the model */
    int links[2];
    double friction, restitution, stiffness, dissipation;
    dyn_soft_contact soft;
    double axes[9]; /* n, t_1, t_2 of the plane in the world; of a plane that moves, of the lane that is placed */
} contact_pair;

/* Joint of one coordinate with dry friction, limits or both, whose impulses are found with those of the contacts:
 *
 *     |p| <= f dt, p opposes v'              friction
 *     v' >= -(q - lower) / dt, p >= 0        lower limit; at an impact v' >= -e v
 *     v' <= (upper - q) / dt, p <= 0         upper limit; at an impact v' <= -e v */
typedef struct contact_joint {
    int q, v;            /* indices of its coordinate */
    double lower, upper; /* infinite: no limit */
    double restitution;
    double friction; /* f, N m or N */
} contact_joint;

/* Step whose impulses are found. Of an impact, dt is 1, so that accelerations are changes of velocity: rigid contacts
 * and stops that touch, or close within `reach` at the velocities before, strike with v_n' >= -e v_n, v_n' >= 0. All
 * other forces are finite and exert no impulse. */
typedef struct contact_step {
    double dt, rest_velocity;
    int most_sweeps;
    double reach;            /* s; 0: no impact */
    double stop_restitution; /* e of stops in an impact */
} contact_step;

/* State of the surfaces of one lane after a step. */
typedef struct contact_lane {
    double *force; /* surfaces x 3: on the link of the surface, in the world, N */
    double *gap;   /* surfaces: smallest gap at the start of the step, m; infinite without a pair */
    double *slip;  /* surfaces: largest tangential velocity of a point with a force, m/s */
    /* Surfaces x 3 each: of the point with the smallest gap, the normal in the direction in which it pushes the link of
     * the surface, and the place in the world, m; zeros without a pair. */
    double *normal, *point;
    contact_course course;
} contact_lane;

typedef struct contacts {
    const dyn_model *model;
    dyn_contact_law law;            /* of all pairs; set before contacts_choose */
    const dyn_workspace *workspace; /* kernels run in its memory */
    int surface_count, pair_count, link_count;
    contact_pair *pairs;
    int *links;           /* links of the model that have surfaces and move; link_count of them */
    int *supports;        /* nv for each link: the coordinates that move it, in ascending order */
    int *support_counts;  /* number of these, for each link */
    int *link_of_surface; /* index in `links`; -1: it is fixed to the world */
    dyn_pose *poses;      /* of each surface, in its link or in the world */
    int joint_count, most_joints;
    const contact_joint *joints;
    int closure_rows;     /* rows of the constraints of the model */
    constraint_rows rows; /* six for each link: world axes about its origin; one for each joint; those of constraints */
    double *pose;         /* 12 for each link, packed */
    const double *q;      /* packed, of the step */

    /* Links that touch in some lane, whose rows alone respond. */
    row_group *groups;
    int active_count;
    int *active; /* index of each link among those that touch; -1: it does not */

    /* Packed numbers: twists of all links at the start of the step and without impulses, and wrench impulses at the
     * links that touch, and the accelerations that they cause. */
    double *u_before, *u_free, *w, *accelerations;

    /* Numbers of the lane whose problem is stated or solved. */
    dyn_pose *placed;  /* of each surface, in the world */
    double *responses; /* of all points */
    double *memory;    /* of the solver */
    double *u;         /* twists: two of all links, then those of the links that touch; with those of the joints */
    double *reduced;   /* response without the rows of the constraints */
    double *w_lane;    /* impulses of all rows that respond */
    double *origins;   /* 3 for each link */

    /* Numbers of all lanes, one lane after the other. */
    contact_row *points;
    int *pair_of_point;
    int *point_counts; /* one for each lane */
    bounded_row *bounded;
    int *bounded_counts; /* one for each lane */
    size_t most_points;
    double *R; /* response of the links that touch */

    size_t lane_count;
    contact_lane *lanes; /* results of each lane */
    double *results;     /* RESULT_NUMBERS for each surface of each lane */
} contacts;

/* Lays out the memory for the contacts of a model and up to `joints` joints in up to `lanes` lanes from `base` on;
 * returns its size (carve.h), which is 0 for a model without pairs and joints. */
size_t contacts_lay_out(const dyn_model *model, int joints, size_t lanes, uintptr_t base, contacts *c);

/* Chooses pairs and rows, and `count` joints, which must outlive `c`. `model` may have payloads that that of
 * the workspace has not. */
void contacts_choose(const dyn_model *model, const dyn_workspace *workspace, int count, const contact_joint *joints,
                     contacts *c);

/* Most bounded rows of a joint. */
enum { MOST_JOINT_ROWS = 3 };

/* Returns whether a contact or a stop with this gap strikes in an impact, at the velocity v before it. */
bool contacts_strike(const contact_step *step, double gap, double v);

/* Returns the least velocity after an impact of a contact with the restitution e, at the velocity v before it. */
double contacts_rebound(const contact_step *step, double e, double v);

/* Stores the impulses of the stops of a lane after contacts_apply, one for each coordinate of the model. */
void contacts_stop_impulses(const contacts *c, size_t lane, double *impulses);

/* Adds the bounded rows of the joints of one lane, which have their rows from `first` on in u_before and u_free, the
 * velocities before the step and without impulses. */
void contacts_add_joints(contacts *c, sample_block block, const contact_step *step, size_t lane, int first);

/* Adds the response of the contacts to the packed accelerations `a` of the state (q, v), in all lanes. `diagonal`
 * (packed nv numbers; NULL: zeros) is added to the diagonal of M. */
void contacts_apply(contacts *c, sample_block block, const contact_step *step, const void *q, const void *v,
                    const void *diagonal, void *a);

#endif
