/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts constraints from the public form to the protocol's and back.
 */
#include "constraints.h"

#include <dynamics/v1/description.pb-c.h>
#include <stdlib.h>

#include "error.h"
#include "model_parts.h"
#include "poses.h"

#define KIND(name) DYNAMICS__V1__CONSTRAINT__KIND_##name

/* ---- conversion from the public form to the protocol's ----------------------------------------------------------- */

static Dynamics__V1__ConstraintFrame *from_frame(pool *memory, const dyn_client_constraint_frame *from) {
    Dynamics__V1__ConstraintFrame *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__constraint_frame__init(made);
        made->link = (char *)(from->link ? from->link : "");
        made->pose = from_pose(memory, &from->pose);
    }
    return made;
}

static Dynamics__V1__LoopJoint *from_loop_joint(pool *memory, const dyn_client_constraint *from) {
    Dynamics__V1__LoopJoint *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__loop_joint__init(made);
        made->predecessor = from_frame(memory, &from->predecessor);
        made->successor = from_frame(memory, &from->successor);
        made->type = (Dynamics__V1__JointType)from->type;
        made->axis = from_nonzero(memory, from->axis);
        made->second_axis = from_nonzero(memory, from->second_axis);
        made->pitch = from->pitch;
        made->damping = from->damping;
        made->friction = from->friction;
        made->effort = from->effort;
    }
    return made;
}

static Dynamics__V1__DistanceConstraint *from_distance(pool *memory, const dyn_client_constraint *from) {
    Dynamics__V1__DistanceConstraint *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__distance_constraint__init(made);
        made->predecessor = from_frame(memory, &from->predecessor);
        made->successor = from_frame(memory, &from->successor);
        made->distance = from->distance;
    }
    return made;
}

static Dynamics__V1__PointOnPlaneConstraint *from_plane(pool *memory, const dyn_client_constraint *from) {
    Dynamics__V1__PointOnPlaneConstraint *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__point_on_plane_constraint__init(made);
        made->predecessor = from_frame(memory, &from->predecessor);
        made->successor = from_frame(memory, &from->successor);
        made->normal = from_nonzero(memory, from->axis);
    }
    return made;
}

static Dynamics__V1__CouplingConstraint *from_coupling(pool *memory, const dyn_client_constraint *from) {
    size_t count = from->coupled ? from->coupled_count : 0;
    Dynamics__V1__CouplingConstraint *made = pool_allocate(memory, 1, sizeof *made);
    Dynamics__V1__CoupledCoordinate *coordinates = pool_allocate(memory, count, sizeof *coordinates);
    Dynamics__V1__CoupledCoordinate **list = pool_allocate(memory, count, sizeof *list);
    if (memory->is_exhausted) {
        return NULL;
    }
    dynamics__v1__coupling_constraint__init(made);
    made->offset = from->offset;
    made->n_coordinates = count;
    made->coordinates = list;
    for (size_t i = 0; i < count; i++) {
        dynamics__v1__coupled_coordinate__init(&coordinates[i]);
        coordinates[i].joint = (char *)(from->coupled[i].joint ? from->coupled[i].joint : "");
        coordinates[i].coefficient = from->coupled[i].coefficient;
        list[i] = &coordinates[i];
    }
    return made;
}

/* Returns the name of coupled joint i; empty where there is none. */
static char *joint_of(const dyn_client_constraint *from, size_t i) {
    bool is_there = from->coupled && i < from->coupled_count && from->coupled[i].joint;
    return (char *)(is_there ? from->coupled[i].joint : "");
}

static Dynamics__V1__RollingConstraint *from_rolling(pool *memory, const dyn_client_constraint *from) {
    Dynamics__V1__RollingConstraint *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__rolling_constraint__init(made);
        made->predecessor = from_frame(memory, &from->predecessor);
        made->successor = from_frame(memory, &from->successor);
        made->normal = from_nonzero(memory, from->axis);
        made->wheel_axis = from_nonzero(memory, from->second_axis);
        made->radius = from->distance;
    }
    return made;
}

static Dynamics__V1__PrescribedMotion *from_prescribed(pool *memory, const dyn_client_constraint *from) {
    Dynamics__V1__PrescribedMotion *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__prescribed_motion__init(made);
        made->joint = joint_of(from, 0);
        made->coefficients = (double *)from->coefficients;
        made->n_coefficients = from->coefficients ? from->coefficient_count : 0;
        made->amplitude = from->amplitude;
        made->frequency = from->frequency;
        made->phase = from->phase;
    }
    return made;
}

static Dynamics__V1__PolynomialCoupling *from_polynomial(pool *memory, const dyn_client_constraint *from) {
    Dynamics__V1__PolynomialCoupling *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__polynomial_coupling__init(made);
        made->joint = joint_of(from, 0);
        made->of = joint_of(from, 1);
        made->coefficients = (double *)from->coefficients;
        made->n_coefficients = from->coefficients ? from->coefficient_count : 0;
    }
    return made;
}

Dynamics__V1__Constraint *from_constraint(pool *memory, const dyn_client_constraint *from) {
    Dynamics__V1__Constraint *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__constraint__init(made);
    made->name = (char *)(from->name ? from->name : "");
    switch (from->kind) {
    case DYN_CLIENT_CONSTRAINT_KIND_LOOP_JOINT:
        made->kind_case = KIND(LOOP_JOINT);
        made->loop_joint = from_loop_joint(memory, from);
        break;
    case DYN_CLIENT_CONSTRAINT_KIND_DISTANCE:
        made->kind_case = KIND(DISTANCE);
        made->distance = from_distance(memory, from);
        break;
    case DYN_CLIENT_CONSTRAINT_KIND_POINT_ON_PLANE:
        made->kind_case = KIND(POINT_ON_PLANE);
        made->point_on_plane = from_plane(memory, from);
        break;
    case DYN_CLIENT_CONSTRAINT_KIND_COUPLING:
        made->kind_case = KIND(COUPLING);
        made->coupling = from_coupling(memory, from);
        break;
    case DYN_CLIENT_CONSTRAINT_KIND_ROLLING:
        made->kind_case = KIND(ROLLING);
        made->rolling = from_rolling(memory, from);
        break;
    case DYN_CLIENT_CONSTRAINT_KIND_PRESCRIBED:
        made->kind_case = KIND(PRESCRIBED);
        made->prescribed = from_prescribed(memory, from);
        break;
    case DYN_CLIENT_CONSTRAINT_KIND_POLYNOMIAL:
        made->kind_case = KIND(POLYNOMIAL);
        made->polynomial = from_polynomial(memory, from);
        break;
    case DYN_CLIENT_CONSTRAINT_KIND_UNSPECIFIED:
        break;
    }
    return made;
}

/* ---- conversion from the protocol's form to the public one ------------------------------------------------------- */

static dyn_client_constraint_frame to_frame(const Dynamics__V1__ConstraintFrame *from) {
    return (dyn_client_constraint_frame){.link = from ? from->link : "", .pose = to_pose(from ? from->pose : NULL)};
}

static void set_coupling(pool *memory, const Dynamics__V1__CouplingConstraint *from, dyn_client_constraint *made) {
    dyn_client_coupled_coordinate *coupled = pool_allocate(memory, from->n_coordinates, sizeof *coupled);
    made->kind = DYN_CLIENT_CONSTRAINT_KIND_COUPLING;
    made->offset = from->offset;
    made->coupled = coupled;
    for (size_t i = 0; coupled && i < from->n_coordinates; i++) {
        coupled[i] = (dyn_client_coupled_coordinate){from->coordinates[i]->joint, from->coordinates[i]->coefficient};
        made->coupled_count = i + 1;
    }
}

static void set_rolling(const Dynamics__V1__RollingConstraint *from, dyn_client_constraint *made) {
    made->kind = DYN_CLIENT_CONSTRAINT_KIND_ROLLING;
    made->predecessor = to_frame(from->predecessor);
    made->successor = to_frame(from->successor);
    made->distance = from->radius;
    to_vector3(from->normal, made->axis);
    to_vector3(from->wheel_axis, made->second_axis);
}

/* Sets the joints of a constraint; `of` NULL: it has one. */
static void set_joints(pool *memory, const char *joint, const char *of, dyn_client_constraint *made) {
    dyn_client_coupled_coordinate *coupled = pool_allocate(memory, 2, sizeof *coupled);
    made->coupled = coupled;
    if (coupled) {
        coupled[0].joint = joint;
        coupled[1].joint = of;
        made->coupled_count = of ? 2 : 1;
    }
}

static void set_prescribed(pool *memory, const Dynamics__V1__PrescribedMotion *from, dyn_client_constraint *made) {
    made->kind = DYN_CLIENT_CONSTRAINT_KIND_PRESCRIBED;
    set_joints(memory, from->joint, NULL, made);
    made->coefficient_count = from->n_coefficients;
    made->coefficients = from->coefficients;
    made->amplitude = from->amplitude;
    made->frequency = from->frequency;
    made->phase = from->phase;
}

static void set_polynomial(pool *memory, const Dynamics__V1__PolynomialCoupling *from, dyn_client_constraint *made) {
    made->kind = DYN_CLIENT_CONSTRAINT_KIND_POLYNOMIAL;
    set_joints(memory, from->joint, from->of, made);
    made->coefficient_count = from->n_coefficients;
    made->coefficients = from->coefficients;
}

/* Sets the kind of a constraint and the members that belong to this kind. */
static void set_kind(pool *memory, const Dynamics__V1__Constraint *from, dyn_client_constraint *made) {
    if (from->kind_case == KIND(LOOP_JOINT)) {
        made->kind = DYN_CLIENT_CONSTRAINT_KIND_LOOP_JOINT;
        made->predecessor = to_frame(from->loop_joint->predecessor);
        made->successor = to_frame(from->loop_joint->successor);
        made->type = (dyn_client_joint_type)from->loop_joint->type;
        made->pitch = from->loop_joint->pitch;
        made->damping = from->loop_joint->damping;
        made->friction = from->loop_joint->friction;
        made->effort = from->loop_joint->effort;
        to_vector3(from->loop_joint->axis, made->axis);
        to_vector3(from->loop_joint->second_axis, made->second_axis);
    } else if (from->kind_case == KIND(DISTANCE)) {
        made->kind = DYN_CLIENT_CONSTRAINT_KIND_DISTANCE;
        made->predecessor = to_frame(from->distance->predecessor);
        made->successor = to_frame(from->distance->successor);
        made->distance = from->distance->distance;
    } else if (from->kind_case == KIND(POINT_ON_PLANE)) {
        made->kind = DYN_CLIENT_CONSTRAINT_KIND_POINT_ON_PLANE;
        made->predecessor = to_frame(from->point_on_plane->predecessor);
        made->successor = to_frame(from->point_on_plane->successor);
        to_vector3(from->point_on_plane->normal, made->axis);
    } else if (from->kind_case == KIND(COUPLING)) {
        set_coupling(memory, from->coupling, made);
    } else if (from->kind_case == KIND(ROLLING)) {
        set_rolling(from->rolling, made);
    } else if (from->kind_case == KIND(PRESCRIBED)) {
        set_prescribed(memory, from->prescribed, made);
    } else if (from->kind_case == KIND(POLYNOMIAL)) {
        set_polynomial(memory, from->polynomial, made);
    }
}

/* Sets the rows of a constraint. Leaves them empty if the reply has none, or if the lists of the rows differ in
 * length. */
static void set_rows(const Dynamics__V1__ConstraintRows *from, dyn_client_constraint *made) {
    if (!from || from->n_directions != from->n_names || from->n_error_units != from->n_names ||
        from->n_multiplier_units != from->n_names) {
        return;
    }
    made->first_row = from->first;
    made->row_count = from->n_names;
    made->row_names = (const char *const *)from->names;
    made->directions = (const char *const *)from->directions;
    made->error_units = (const char *const *)from->error_units;
    made->multiplier_units = (const char *const *)from->multiplier_units;
}

const dyn_client_constraint *to_constraints(pool *memory, size_t count, Dynamics__V1__Constraint *const *from) {
    dyn_client_constraint *made = pool_allocate(memory, count, sizeof *made);
    for (size_t i = 0; made && i < count; i++) {
        made[i].name = from[i]->name;
        set_kind(memory, from[i], &made[i]);
        set_rows(from[i]->rows, &made[i]);
    }
    return memory->is_exhausted ? NULL : made;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* A list with the message that its strings and numbers belong to. */
typedef struct read_list {
    dyn_client_constraint_list list;
    Dynamics__V1__ModelDescription *description;
    pool memory;
} read_list;

dyn_client_status dyn_client_read_constraints(const void *description, size_t size, dyn_client_constraint_list **list,
                                              dyn_client_error *error) {
    read_list *made = calloc(1, sizeof *made);
    *list = NULL;
    if (!made) {
        return fail_memory(error);
    }
    made->description = dynamics__v1__model_description__unpack(NULL, size, description);
    if (!made->description) {
        free(made);
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "description",
                    "the bytes are no serialized dynamics.v1.ModelDescription");
    }
    made->list.count = made->description->n_constraints;
    made->list.constraints = to_constraints(&made->memory, made->list.count, made->description->constraints);
    if (!made->list.constraints) {
        dyn_client_constraint_list_free(&made->list);
        return fail_memory(error);
    }
    *list = &made->list;
    return DYN_CLIENT_OK;
}

void dyn_client_constraint_list_free(dyn_client_constraint_list *list) {
    read_list *freed = (read_list *)list;
    if (freed) {
        dynamics__v1__model_description__free_unpacked(freed->description, NULL);
        pool_free(&freed->memory);
        free(freed);
    }
}
