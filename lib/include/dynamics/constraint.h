/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constraints of a model: loops that the tree of its joints does not contain.
 *
 * A description has links and joints that form a tree, and constraints that tie two links of the tree to each other.
 * The constraints of a model are m rows on its velocities and accelerations, and their multipliers lambda act along
 * the same rows:
 *
 *     M(q) a + h(q, v) = tau + J_ext' f + A(q)' lambda        A v = 0        A a + dA/dt v = 0
 *
 * The predecessor P and the successor S of a constraint are frames on links. A positive multiplier pushes the successor
 * in the direction of the row, and the predecessor in the opposite one. Rows of a constraint, in their order:
 *
 *     loop joint        the directions that the joint does not allow: angular x y z, then linear x y z, in the axes of
 *                       P turned so that z is the joint's axis by the shortest rotation; N m, N. A universal joint
 *                       has linear x y z, then the couple about the normal of its two axes.
 *     distance          along the line from P to S; N
 *     point on plane    along the axis of P, which is the normal of the plane; N
 *     coupling          sum of coefficient_k q_k = offset; the force in the unit of a coordinate over its coefficient
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

typedef enum dyn_constraint_kind {
    DYN_CONSTRAINT_KIND_LOOP_JOINT = 1,     /* a joint between P and S; fixed and spherical ones hold pose and point */
    DYN_CONSTRAINT_KIND_DISTANCE = 2,       /* the origins of P and S are `distance` apart */
    DYN_CONSTRAINT_KIND_POINT_ON_PLANE = 3, /* the origin of S stays in the plane through P that is normal to `axis` */
    DYN_CONSTRAINT_KIND_COUPLING = 4,       /* linear equation between two coordinates, such as that of a gear */
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

/* Constraint of a description. Members that its kind does not name are not read. */
typedef struct dyn_constraint_description {
    const char *name;
    dyn_constraint_kind kind;
    dyn_constraint_frame predecessor, successor; /* sides of the constraint; a coupling has none */
    dyn_joint_type type;                         /* type of a loop joint: every type except floating */
    double axis[3];        /* of a loop joint or a plane, in P, of any length but zero; as in a joint's description */
    double second_axis[3]; /* of a universal joint, in S, which coincides with P where the joint is at zero */
    double pitch;          /* of a helical joint, m/rad */
    double distance;       /* m, positive */
    dyn_coupled_coordinate coupled[2];
    double offset; /* right side of the equation of a coupling */
    int line;      /* line in a file, for errors; 0: none */
} dyn_constraint_description;

/* Adds a constraint. Its links and joints may be added later.
 * Errors, with place "constraint NAME" and the member, such as "predecessor.link" or "coupled[1].coefficient", as part
 * of the site: DYN_INVALID_ARGUMENT for an invalid or repeated name, an unknown kind, a type that cannot close a loop,
 * a zero axis, a matrix that is no rotation (to 1e-9), a distance that is not positive, a coupling without a joint or
 * with a coefficient of zero, a value that is not finite; DYN_RESOURCE_EXHAUSTED. */
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
    const char *direction; /* "angular x" .. "linear z", "angular", "distance", "normal" or "coupling" */
    bool is_angular;
} dyn_constraint_row;

/* Returns row k < row_count of constraint 0 <= constraint < dyn_model_constraint_count(model). */
DYN_API dyn_constraint_row dyn_model_constraint_row(const dyn_model *model, int constraint, int k);

#ifdef __cplusplus
}
#endif

#endif
