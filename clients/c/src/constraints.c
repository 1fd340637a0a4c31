/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts constraints from the public form to the protocol's and back.
 */
#include "constraints.h"

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

/* Sets the kind of a constraint and the members that belong to this kind. */
static void set_kind(pool *memory, const Dynamics__V1__Constraint *from, dyn_client_constraint *made) {
    if (from->kind_case == KIND(LOOP_JOINT)) {
        made->kind = DYN_CLIENT_CONSTRAINT_KIND_LOOP_JOINT;
        made->predecessor = to_frame(from->loop_joint->predecessor);
        made->successor = to_frame(from->loop_joint->successor);
        made->type = (dyn_client_joint_type)from->loop_joint->type;
        made->pitch = from->loop_joint->pitch;
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
