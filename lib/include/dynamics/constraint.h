/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constraints of a model: loops that the tree of its joints does not contain.
 *
 * A description has links and joints that form a tree, and constraints that tie two links of the tree to each other.
 * The constraints of a model are m rows on its velocities and accelerations, and their multipliers lambda act along
 * the same rows:
 *
 *     M(q) a + h(q, v) = tau + J_ext' f + A(q)' lambda        A v = b        A a + dA/dt v = db/dt
 *
 * b is zero, except for the rate of a prescribed motion. Functions return dA/dt v - db/dt as one number, the bias.
 * The predecessor P and the successor S of a constraint are frames on links. A positive multiplier pushes the successor
 * in the direction of the row, and the predecessor in the opposite one. Rows of a constraint, in their order:
 *
 *     loop joint        the directions that the joint does not allow: angular x y z, then linear x y z, in the axes of
 *                       P turned so that z is the joint's axis by the shortest rotation; N m, N. A universal joint
 *                       has linear x y z, then the couple about the normal of its two axes.
 *     distance          along the line from P to S; N
 *     point on plane    along the axis of P, which is the normal of the plane; N
 *     coupling          sum of coefficient_k q_k = offset over up to 8 coordinates, as of a gear, a differential or a
 *                       tendon; the force in the unit of a coordinate over its coefficient
 *     polynomial        q_0 - p(q_1) = 0; the force at the first coordinate
 *     prescribed        q_0 = r(t); the force of the drive that moves the coordinate so
 *     rolling           velocity of S at the point of contact, relative to P, along x and y of P, and along z, which is
 *                       the normal of the plane; N. The first two rows have no closure error: they do not restrict q
 *
 * Prescribed motions depend on the time of the workspace (dyn_workspace_set_time), or of the simulation. Their drives
 * do work, those of all other kinds do none.
 *
 * Signs of others: Modern Robotics writes tau = M a + h + A' lambda, so that its lambda is -lambda here. Featherstone
 * and Orin (2000, equation 18) write M a + h = tau + A' lambda, as here.
 */
#ifndef DYNAMICS_CONSTRAINT_H
#define DYNAMICS_CONSTRAINT_H

#include <stdbool.h>

#include <dynamics/builder.h>
#include <dynamics/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds on the constraints of a model and on the nv of a model that has any; beyond one the status is
 * DYN_RESOURCE_EXHAUSTED. */
enum { DYN_MAX_CONSTRAINTS = 256, DYN_MAX_CONSTRAINT_ROWS = 600, DYN_MAX_CONSTRAINED_NV = 1000 };

/* Largest number of coefficients of a polynomial: degree 7. */
enum { DYN_MAX_POLYNOMIAL_TERMS = 8 };

/* Largest number of coordinates of a linear coupling. */
enum { DYN_MAX_COUPLED_COORDINATES = 8 };

typedef enum dyn_constraint_kind {
    DYN_CONSTRAINT_KIND_LOOP_JOINT = 1,     /* a joint between P and S; fixed and spherical ones hold pose and point */
    DYN_CONSTRAINT_KIND_DISTANCE = 2,       /* the origins of P and S are `distance` apart */
    DYN_CONSTRAINT_KIND_POINT_ON_PLANE = 3, /* the origin of S stays in the plane through P that is normal to `axis` */
    DYN_CONSTRAINT_KIND_COUPLING = 4,       /* linear equation between coordinates, such as that of a gear */
    DYN_CONSTRAINT_KIND_POLYNOMIAL = 5,     /* one coordinate is a polynomial of another one, as of a cam */
    DYN_CONSTRAINT_KIND_PRESCRIBED = 6,     /* one coordinate is a given function of time */
    DYN_CONSTRAINT_KIND_ROLLING = 7,        /* a ball or a wheel rolls on a plane without slipping */
} dyn_constraint_kind;

/* Frame of a constraint: a pose in the frame of a link. */
typedef struct dyn_constraint_frame {
    const char *link; /* NULL: the world */
    dyn_pose pose;
} dyn_constraint_frame;

/* Coordinate of a coupling: a joint with one coordinate. A joint of NULL ends the list early. */
typedef struct dyn_coupled_coordinate {
    const char *joint;
    double coefficient;
} dyn_coupled_coordinate;

/* Motion of a coordinate in time: r(t) = p(t) + amplitude sin(frequency t + phase), t in s. */
typedef struct dyn_motion_law {
    double amplitude, frequency, phase; /* the unit of the coordinate, rad/s, rad */
} dyn_motion_law;

/* Constraint of a description. Members that its kind does not name are not read. */
typedef struct dyn_constraint_description {
    const char *name;
    dyn_constraint_kind kind;
    dyn_constraint_frame predecessor, successor; /* sides of the constraint; a coupling has none */
    dyn_joint_type type;                         /* type of a loop joint: every type except floating */
    double axis[3]; /* of a loop joint or a plane, in P, of any length but zero; as in a joint's description */
    /* Of a universal joint: in S, which coincides with P where the joint is at zero. Of a wheel that rolls: its axis in
     * S, through the origin of S; zero: a ball with its centre there. */
    double second_axis[3];
    double pitch;    /* of a helical joint, m/rad */
    double distance; /* m, positive; of a rolling body: its radius */
    /* One to all of a linear coupling, two of a polynomial and one of a prescribed motion, which have no coefficients
     * here. */
    dyn_coupled_coordinate coupled[DYN_MAX_COUPLED_COORDINATES];
    double offset;                               /* right side of the equation of a coupling */
    int term_count;                              /* of p; up to DYN_MAX_POLYNOMIAL_TERMS */
    double polynomial[DYN_MAX_POLYNOMIAL_TERMS]; /* coefficients c_k of p(x) = sum c_k x^k, in rad or m, and s */
    dyn_motion_law law;                          /* of a prescribed motion, beside p(t) */
    /* Of a loop joint, along each direction that it allows: damping (N m s/rad or N s/m) and Coulomb friction (N m or
     * N), not negative, and the constant force of its motor on S (N m or N). */
    double damping, friction, effort;
    int line; /* line in a file, for errors; 0: none */
} dyn_constraint_description;

/* Adds a constraint. Its links and joints may be added later.
 * Errors, with place "constraint NAME" and the member, such as "predecessor.link" or "coupled[1].coefficient", as part
 * of the site: DYN_INVALID_ARGUMENT for an invalid or repeated name, an unknown kind, a type that cannot close a loop,
 * a zero axis, a matrix that is no rotation (to 1e-9), a distance that is not positive, a coupling without a joint or
 * with a coefficient of zero, negative damping or friction, more terms of a polynomial than there is room for, a value
 * that is not finite; DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_builder_add_constraint(dyn_builder *builder, const dyn_constraint_description *constraint,
                                              dyn_error *error);

/* Constraint of a model. Strings live as long as the model. */
typedef struct dyn_constraint {
    const char *name;
    dyn_constraint_kind kind;
    int first_row, row_count; /* rows first_row .. first_row + row_count - 1 of the m rows */
} dyn_constraint;

/* Returns the number of constraints of a model. */
DYN_API int dyn_model_constraint_count(const dyn_model *model);

/* Returns a constraint, which lives as long as the model; NULL for an index that is out of range. */
DYN_API const dyn_constraint *dyn_model_constraint(const dyn_model *model, int constraint);

/* Returns the number m of rows of all constraints of a model. */
DYN_API int dyn_model_constraint_rows(const dyn_model *model);

/* Row of a constraint. The closure errors of an angular row are in rad and its multipliers in N m, those of any other
 * row in m and N. */
typedef struct dyn_constraint_row {
    /* "angular x" .. "linear z", "angular", "distance", "normal", "coupling", "polynomial", "drive", "rolling x" or
     * "rolling y" */
    const char *direction;
    bool is_angular;
} dyn_constraint_row;

/* Returns row k < row_count of constraint 0 <= constraint < dyn_model_constraint_count(model). */
DYN_API dyn_constraint_row dyn_model_constraint_row(const dyn_model *model, int constraint, int k);

#ifdef __cplusplus
}
#endif

#endif
