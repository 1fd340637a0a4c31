/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constraints of a description: checks of each by itself, and their normal form.
 *
 * Both frames of a loop joint are turned so that the joint's axis is z. The directions that the joint constrains are
 * then axes of the predecessor's frame, as the motion subspaces of the tree's joints are.
 */
#include "constraint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "name_check.h"
#include "placement.h"

/* Traits of a joint that closes a loop: the constrained directions, angular x y z in bits 0 to 2, then linear. */
typedef struct loop_traits {
    bool closes;
    closure_kind kind;
    unsigned axes;
} loop_traits;

static const loop_traits loops[DYN_JOINT_TYPE_COUNT] = {
    [DYN_JOINT_TYPE_FIXED] = {true, CLOSURE_JOINT, 077},
    [DYN_JOINT_TYPE_REVOLUTE] = {true, CLOSURE_JOINT, 073},
    [DYN_JOINT_TYPE_CONTINUOUS] = {true, CLOSURE_JOINT, 073},
    [DYN_JOINT_TYPE_PRISMATIC] = {true, CLOSURE_JOINT, 037},
    [DYN_JOINT_TYPE_HELICAL] = {true, CLOSURE_JOINT, 073},
    [DYN_JOINT_TYPE_CYLINDRICAL] = {true, CLOSURE_JOINT, 033},
    [DYN_JOINT_TYPE_UNIVERSAL] = {true, CLOSURE_UNIVERSAL, 070},
    [DYN_JOINT_TYPE_PLANAR] = {true, CLOSURE_JOINT, 043},
    [DYN_JOINT_TYPE_SPHERICAL] = {true, CLOSURE_JOINT, 070},
    [DYN_JOINT_TYPE_FLOATING] = {false, CLOSURE_JOINT, 0},
    [DYN_JOINT_TYPE_CUSTOM] = {false, CLOSURE_JOINT, 0},
};

static named_element new_constraint(const dyn_builder *builder, const dyn_constraint_description *c) {
    return (named_element){{.kind = DYN_ELEMENT_KIND_CONSTRAINT, .index = builder->constraint_count, .line = c->line},
                           c->name};
}

static named_element element_of(const dyn_builder *builder, int i) {
    const dyn_constraint_description *c = &builder->constraints[i];
    return (named_element){{.kind = DYN_ELEMENT_KIND_CONSTRAINT, .index = i, .line = c->line}, c->name};
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* Sides of a constraint, and the names of their members in errors. */
static const struct {
    const char *name, *link, *pose;
} sides[] = {{"predecessor", "predecessor.link", "predecessor.pose"},
             {"successor", "successor.link", "successor.pose"}};

static dyn_status check_frame(const dyn_builder *builder, const dyn_constraint_description *c, int side,
                              dyn_error *error) {
    const dyn_constraint_frame *frame = side == 0 ? &c->predecessor : &c->successor;
    const char *name = sides[side].name;
    named_element at = new_constraint(builder, c);
    dyn_error bad;
    if (frame->link && name_check(frame->link, &bad, name, "link") != DYN_OK) {
        return builder_fail_member(builder, at, sides[side].link, error, "the link of its %s: %s", name, bad.message);
    }
    if (!builder_all_finite(frame->pose.position, 3)) {
        return builder_fail_member(builder, at, sides[side].pose, error,
                                   "the position of its %s is (%g, %g, %g); state finite numbers", name,
                                   frame->pose.position[0], frame->pose.position[1], frame->pose.position[2]);
    }
    if (!is_rotation(frame->pose.rotation)) {
        return builder_fail_member(
            builder, at, sides[side].pose, error,
            "the rotation of its %s is none: its columns must be orthonormal and right-handed to 1e-9", name);
    }
    return DYN_OK;
}

/* Checks and normalizes the axes of a loop joint or a plane; sets unused ones to zero. */
static dyn_status check_axes(const dyn_builder *builder, dyn_constraint_description *c, dyn_error *error) {
    bool is_loop = c->kind == DYN_CONSTRAINT_KIND_LOOP_JOINT, rolls = c->kind == DYN_CONSTRAINT_KIND_ROLLING;
    bool is_wheel = rolls && (c->second_axis[0] != 0 || c->second_axis[1] != 0 || c->second_axis[2] != 0);
    int axes = is_loop                                         ? dyn_joint_type_traits(c->type)->axes
               : c->kind == DYN_CONSTRAINT_KIND_POINT_ON_PLANE ? 1
               : rolls                                         ? 1 + is_wheel
                                                               : 0;
    double *each[2] = {c->axis, c->second_axis};
    for (int i = 0; i < 2; i++) {
        if (i >= axes) {
            memset(each[i], 0, sizeof c->axis);
        } else if (!builder_normalize_axis(each[i])) {
            return builder_fail_member(builder, new_constraint(builder, c), i == 0 ? "axis" : "second_axis", error,
                                       "the %saxis is (%g, %g, %g); state a finite vector that is not zero",
                                       i == 0 ? "" : "second ", each[i][0], each[i][1], each[i][2]);
        }
    }
    return DYN_OK;
}

/* Checks the damping, the friction and the effort of a loop joint. */
static dyn_status check_forces(const dyn_builder *builder, const dyn_constraint_description *c, dyn_error *error) {
    const struct {
        const char *name;
        double value;
        bool may_be_negative;
    } numbers[] = {{"damping", c->damping, false}, {"friction", c->friction, false}, {"effort", c->effort, true}};
    for (int i = 0; i < 3; i++) {
        if (!isfinite(numbers[i].value) || (numbers[i].value < 0 && !numbers[i].may_be_negative)) {
            return builder_fail_member(builder, new_constraint(builder, c), numbers[i].name, error,
                                       "the %s is %g; state a finite number%s", numbers[i].name, numbers[i].value,
                                       numbers[i].may_be_negative ? "" : " that is not negative");
        }
    }
    bool has_forces = c->damping > 0 || c->friction > 0 || c->effort != 0;
    if (has_forces && (c->type == DYN_JOINT_TYPE_UNIVERSAL || c->type == DYN_JOINT_TYPE_FIXED)) {
        return builder_fail_member(builder, new_constraint(builder, c),
                                   c->damping > 0    ? "damping"
                                   : c->friction > 0 ? "friction"
                                                     : "effort",
                                   error, "a %s loop joint has no axis for it; leave it out", joint_type_name(c->type));
    }
    return DYN_OK;
}

static dyn_status check_kind(const dyn_builder *builder, const dyn_constraint_description *c, dyn_error *error) {
    named_element at = new_constraint(builder, c);
    switch (c->kind) {
    case DYN_CONSTRAINT_KIND_LOOP_JOINT:
        if (!dyn_joint_type_traits(c->type)) {
            return builder_fail_member(builder, at, "type", error, "%d is no type of joint", (int)c->type);
        }
        if (!loops[c->type].closes) {
            return builder_fail_member(builder, at, "type", error, "a %s joint cannot close a loop",
                                       joint_type_name(c->type));
        }
        if (!isfinite(c->pitch)) {
            return builder_fail_member(builder, at, "pitch", error, "the pitch is %g; state a finite number", c->pitch);
        }
        return check_forces(builder, c, error);
    case DYN_CONSTRAINT_KIND_DISTANCE:
        if (!(c->distance > 0) || !isfinite(c->distance)) {
            return builder_fail_member(
                builder, at, "distance", error,
                "the distance is %g m; state a positive number, or let a spherical loop joint hold the points "
                "together",
                c->distance);
        }
        return DYN_OK;
    case DYN_CONSTRAINT_KIND_ROLLING:
        if (!(c->distance > 0) || !isfinite(c->distance)) {
            return builder_fail_member(builder, at, "radius", error, "the radius is %g m; state a positive number",
                                       c->distance);
        }
        return DYN_OK;
    case DYN_CONSTRAINT_KIND_POINT_ON_PLANE:
    case DYN_CONSTRAINT_KIND_COUPLING:
    case DYN_CONSTRAINT_KIND_POLYNOMIAL:
    case DYN_CONSTRAINT_KIND_PRESCRIBED:
        return DYN_OK;
    }
    return builder_fail_member(builder, at, NULL, error, "%d is no kind of constraint", (int)c->kind);
}

/* Names, in errors, of the members of a coupling's coordinates. */
#define COUPLED(k)                                                                                                     \
    { "coupled[" #k "].joint", "coupled[" #k "].coefficient" }
static const struct {
    const char *joint, *coefficient;
} coupled[DYN_MAX_COUPLED_COORDINATES] = {COUPLED(0), COUPLED(1), COUPLED(2), COUPLED(3),
                                          COUPLED(4), COUPLED(5), COUPLED(6), COUPLED(7)};
#undef COUPLED

/* Checks the joint number i that a constraint couples. */
static dyn_status check_coupled_joint(const dyn_builder *builder, const dyn_constraint_description *c, int i,
                                      dyn_error *error) {
    dyn_error bad;
    return name_check(c->coupled[i].joint, &bad, "joint", "joint") == DYN_OK
               ? DYN_OK
               : builder_fail_member(builder, new_constraint(builder, c), coupled[i].joint, error, "joint %d: %s",
                                     i + 1, bad.message);
}

static dyn_status check_coupling(const dyn_builder *builder, const dyn_constraint_description *c, dyn_error *error) {
    named_element at = new_constraint(builder, c);
    if (!c->coupled[0].joint) {
        return builder_fail_member(builder, at, "coupled", error, "it couples no joint; name 1 to %d",
                                   DYN_MAX_COUPLED_COORDINATES);
    }
    for (int i = 0; i < DYN_MAX_COUPLED_COORDINATES && c->coupled[i].joint; i++) {
        dyn_status status = check_coupled_joint(builder, c, i, error);
        if (status != DYN_OK) {
            return status;
        }
        if (!isfinite(c->coupled[i].coefficient) || c->coupled[i].coefficient == 0) {
            return builder_fail_member(builder, at, coupled[i].coefficient, error,
                                       "the coefficient of joint %s is %g; state a finite number that is not zero",
                                       c->coupled[i].joint, c->coupled[i].coefficient);
        }
    }
    return isfinite(c->offset) ? DYN_OK
                               : builder_fail_member(builder, at, "offset", error,
                                                     "the offset is %g; state a finite number", c->offset);
}

/* Checks the joints of a polynomial coupling or a prescribed motion, and their law. */
static dyn_status check_law(const dyn_builder *builder, const dyn_constraint_description *c, dyn_error *error) {
    named_element at = new_constraint(builder, c);
    int count = c->kind == DYN_CONSTRAINT_KIND_POLYNOMIAL ? 2 : 1;
    for (int i = 0; i < count; i++) {
        dyn_status status = c->coupled[i].joint ? check_coupled_joint(builder, c, i, error)
                                                : builder_fail_member(builder, at, coupled[i].joint, error,
                                                                      "it names no joint; name one");
        if (status != DYN_OK) {
            return status;
        }
    }
    if (c->term_count < 0 || c->term_count > DYN_MAX_POLYNOMIAL_TERMS) {
        return builder_fail_member(builder, at, "polynomial", error,
                                   "the polynomial has %d coefficients; state up to %d", c->term_count,
                                   DYN_MAX_POLYNOMIAL_TERMS);
    }
    if (!builder_all_finite(c->polynomial, c->term_count)) {
        return builder_fail_member(builder, at, "polynomial", error,
                                   "a coefficient of the polynomial is not finite; state finite numbers");
    }
    const double law[] = {c->law.amplitude, c->law.frequency, c->law.phase};
    if (count == 1 && !builder_all_finite(law, 3)) {
        return builder_fail_member(builder, at, "law", error,
                                   "amplitude, frequency and phase are %g, %g and %g; state finite numbers", law[0],
                                   law[1], law[2]);
    }
    return DYN_OK;
}

/* Returns the largest number of joints that a constraint of a kind names. */
static int most_joints(dyn_constraint_kind kind) {
    return kind == DYN_CONSTRAINT_KIND_COUPLING     ? DYN_MAX_COUPLED_COORDINATES
           : kind == DYN_CONSTRAINT_KIND_POLYNOMIAL ? 2
           : kind == DYN_CONSTRAINT_KIND_PRESCRIBED ? 1
                                                    : 0;
}

bool ties_coordinates(dyn_constraint_kind kind) {
    return most_joints(kind) > 0;
}

/* Checks and normalizes a constraint, except for its name. */
static dyn_status check(const dyn_builder *builder, dyn_constraint_description *c, dyn_error *error) {
    dyn_status status = check_kind(builder, c, error);
    if (status != DYN_OK || ties_coordinates(c->kind)) {
        return status != DYN_OK                          ? status
               : c->kind == DYN_CONSTRAINT_KIND_COUPLING ? check_coupling(builder, c, error)
                                                         : check_law(builder, c, error);
    }
    status = check_frame(builder, c, 0, error);
    if (status == DYN_OK) {
        status = check_frame(builder, c, 1, error);
    }
    return status == DYN_OK ? check_axes(builder, c, error) : status;
}

/* ---- Storage ----------------------------------------------------------------------------------------------------- */

/* Number of strings that a constraint may own: the names of two links, then those of joints. */
enum { SIDES = 2, STRINGS = SIDES + DYN_MAX_COUPLED_COORDINATES };

/* Returns the addresses of the strings that a constraint owns. */
static void find_strings(dyn_constraint_description *c, const char **strings[STRINGS]) {
    strings[0] = &c->predecessor.link;
    strings[1] = &c->successor.link;
    for (int k = 0; k < DYN_MAX_COUPLED_COORDINATES; k++) {
        strings[SIDES + k] = &c->coupled[k].joint;
    }
}

static void free_strings(dyn_constraint_description *c) {
    const char **strings[STRINGS];
    find_strings(c, strings);
    for (int i = 0; i < STRINGS; i++) {
        free((char *)*strings[i]);
    }
}

static dyn_status append(dyn_builder *builder, const dyn_constraint_description *c, dyn_error *error) {
    if (!builder_grow((void **)&builder->constraints, builder->constraint_count, &builder->constraint_capacity,
                      sizeof *builder->constraints)) {
        return dyn_error_memory(error);
    }
    dyn_constraint_description added = *c;
    const char **strings[STRINGS];
    const int joints = most_joints(c->kind);
    bool is_complete = true, is_open = true;
    find_strings(&added, strings);
    for (int i = 0; i < STRINGS; i++) {
        is_open &= i < SIDES || *strings[i];
        bool is_used = *strings[i] && (i < SIDES ? joints == 0 : is_open && i < SIDES + joints);
        *strings[i] = is_used ? strdup(*strings[i]) : NULL;
        is_complete &= !is_used || *strings[i];
    }
    added.name = is_complete ? name_index_add(&builder->constraint_names, c->name, builder->constraint_count) : NULL;
    if (!added.name) {
        free_strings(&added);
        return dyn_error_memory(error);
    }
    builder->constraints[builder->constraint_count++] = added;
    return DYN_OK;
}

dyn_status dyn_builder_add_constraint(dyn_builder *builder, const dyn_constraint_description *constraint,
                                      dyn_error *error) {
    dyn_constraint_description checked = *constraint;
    dyn_status status = builder_check_new_name(builder, &builder->constraint_names, DYN_MAX_CONSTRAINTS,
                                               new_constraint(builder, constraint), error);
    if (status == DYN_OK) {
        status = check(builder, &checked, error);
    }
    return status == DYN_OK ? append(builder, &checked, error) : status;
}

void builder_clear_constraints(dyn_builder *builder) {
    for (int i = 0; i < builder->constraint_count; i++) {
        free_strings(&builder->constraints[i]);
    }
    name_index_clear(&builder->constraint_names);
    free(builder->constraints);
}

dyn_status builder_copy_constraints(const dyn_builder *from, dyn_error *error, dyn_builder *to) {
    dyn_status status = DYN_OK;
    for (int i = 0; i < from->constraint_count && status == DYN_OK; i++) {
        dyn_constraint_description constraint = from->constraints[i];
        constraint.line = 0;
        status = append(to, &constraint, error);
    }
    return status;
}

/* ---- Normal form ------------------------------------------------------------------------------------------------- */

/* Sets one side of a closure: its link, and the frame of the description turned so that z is `axis`, unless that is
 * NULL. */
static dyn_status place_side(const dyn_builder *builder, const dyn_model *model, int i, int side, const double *axis,
                             dyn_error *error) {
    const dyn_constraint_description *c = &builder->constraints[i];
    const dyn_constraint_frame *frame = side == 0 ? &c->predecessor : &c->successor;
    closure *to = &model->closures[i];
    dyn_pose turned = identity_pose;
    to->links[side] = frame->link ? name_index_find(&model->link_names, frame->link) : DYN_WORLD_FRAME;
    if (frame->link && to->links[side] < 0) {
        return builder_fail_member(builder, element_of(builder, i), sides[side].link, error,
                                   "there is no link %s, which its %s names", frame->link, sides[side].name);
    }
    if (axis) {
        rotation_from_z(axis, turned.rotation);
    }
    pose_compose(&frame->pose, &turned, &to->poses[side]);
    return DYN_OK;
}

static double scalar_product(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Sets the closure of a constraint that ties coordinates. */
static dyn_status couple(const dyn_builder *builder, const dyn_model *model, int i, dyn_error *error) {
    const dyn_constraint_description *c = &builder->constraints[i];
    bool is_linear = c->kind == DYN_CONSTRAINT_KIND_COUPLING;
    closure *to = &model->closures[i];
    *to = (closure){.kind = is_linear                                   ? CLOSURE_COUPLING
                            : c->kind == DYN_CONSTRAINT_KIND_POLYNOMIAL ? CLOSURE_POLYNOMIAL
                                                                        : CLOSURE_PRESCRIBED,
                    .count = 1,
                    .links = {-1, -1},
                    .distance = is_linear ? c->offset : 0};
    if (!is_linear) {
        to->degree = c->term_count > 0 ? c->term_count - 1 : 0;
        memcpy(to->polynomial, c->polynomial, (size_t)c->term_count * sizeof *c->polynomial);
        to->law = c->law;
    }
    for (int k = 0; k < DYN_MAX_COUPLED_COORDINATES && c->coupled[k].joint; k++) {
        int j = dyn_model_find_joint(model, c->coupled[k].joint);
        const dyn_joint *joint = dyn_model_joint(model, j);
        if (!joint || joint->nv != 1 || joint->nq != 1) {
            return builder_fail_member(builder, element_of(builder, i), coupled[k].joint, error,
                                       !joint ? "there is no moving joint %s"
                                              : "joint %s has not one coordinate of its own; couple one that has",
                                       c->coupled[k].joint);
        }
        to->q_index[k] = joint->q_index;
        to->v_index[k] = joint->v_index;
        to->coefficients[k] = is_linear ? c->coupled[k].coefficient : 1;
        to->coordinate_count = k + 1;
        for (int earlier = 0; earlier < k; earlier++) {
            if (to->v_index[earlier] == to->v_index[k]) {
                return builder_fail_member(builder, element_of(builder, i), coupled[k].joint, error,
                                           "two of its coordinates are that of joint %s; state each joint once",
                                           c->coupled[k].joint);
            }
        }
    }
    return DYN_OK;
}

/* Returns the kind and the numbers of the closure of a constraint that ties frames. */
static closure frame_closure(const dyn_constraint_description *c) {
    bool is_loop = c->kind == DYN_CONSTRAINT_KIND_LOOP_JOINT;
    bool is_universal = is_loop && c->type == DYN_JOINT_TYPE_UNIVERSAL;
    closure made = {.count = 1, .distance = c->distance};
    switch (c->kind) {
    case DYN_CONSTRAINT_KIND_LOOP_JOINT:
        made.kind = loops[c->type].kind;
        made.axes = loops[c->type].axes;
        made.count = __builtin_popcount(made.axes) + is_universal;
        made.pitch = c->type == DYN_JOINT_TYPE_HELICAL ? c->pitch : 0;
        made.distance = is_universal ? scalar_product(c->axis, c->second_axis) : c->distance;
        made.forces = (loop_forces){c->damping, c->friction, c->effort};
        break;
    case DYN_CONSTRAINT_KIND_ROLLING:
        made.kind = scalar_product(c->second_axis, c->second_axis) > 0 ? CLOSURE_WHEEL : CLOSURE_BALL;
        made.count = 3;
        break;
    case DYN_CONSTRAINT_KIND_DISTANCE:
        made.kind = CLOSURE_DISTANCE;
        break;
    case DYN_CONSTRAINT_KIND_POINT_ON_PLANE:
    case DYN_CONSTRAINT_KIND_COUPLING:
    case DYN_CONSTRAINT_KIND_POLYNOMIAL:
    case DYN_CONSTRAINT_KIND_PRESCRIBED:
        made.kind = CLOSURE_PLANE;
        break;
    }
    return made;
}

/* Returns the joint that moves a link, or -1 for the world and what is fixed to it. */
static int mover_of(const dyn_model *model, int link) {
    return link < 0 ? -1 : model->links[link].moving_joint;
}

/* Refuses a constraint between links that are fixed to each other, whose rows would be zeros. */
static dyn_status check_sides(const dyn_builder *builder, const dyn_model *model, int i, dyn_error *error) {
    const int *links = model->closures[i].links;
    const int mover = mover_of(model, links[0]);
    if (links[0] == links[1]) {
        return builder_fail_member(builder, element_of(builder, i), NULL, error,
                                   "both of its sides are on the same link; tie two links");
    }
    if (mover == mover_of(model, links[1])) {
        return builder_fail_member(builder, element_of(builder, i), NULL, error,
                                   "both of its sides are fixed to %s%s; tie links that move relative to each other",
                                   mover < 0 ? "the world" : "the child of joint ",
                                   mover < 0 ? "" : model->joints[mover].name);
    }
    return DYN_OK;
}

static dyn_status compile_one(const dyn_builder *builder, const dyn_model *model, int i, dyn_error *error) {
    const dyn_constraint_description *c = &builder->constraints[i];
    closure *to = &model->closures[i];
    if (ties_coordinates(c->kind)) {
        return couple(builder, model, i, error);
    }
    *to = frame_closure(c);
    bool has_axis = c->kind == DYN_CONSTRAINT_KIND_POINT_ON_PLANE || c->kind == DYN_CONSTRAINT_KIND_ROLLING ||
                    (c->kind == DYN_CONSTRAINT_KIND_LOOP_JOINT && dyn_joint_type_traits(c->type)->axes);
    bool has_second = to->kind == CLOSURE_UNIVERSAL || to->kind == CLOSURE_WHEEL;
    dyn_status status = place_side(builder, model, i, 0, has_axis ? c->axis : NULL, error);
    const double *successor_axis = has_second ? c->second_axis : has_axis && to->kind != CLOSURE_BALL ? c->axis : NULL;
    if (status == DYN_OK) {
        status = place_side(builder, model, i, 1, successor_axis, error);
    }
    return status == DYN_OK ? check_sides(builder, model, i, error) : status;
}

/* Returns the closure of the directions that a loop joint allows and along which forces act; without rows where there
 * are none. */
static closure free_directions(const closure *c) {
    closure made = *c;
    bool has_forces = c->forces.damping > 0 || c->forces.friction > 0 || c->forces.effort != 0;
    made.axes = c->kind == CLOSURE_JOINT && has_forces ? 077 & ~c->axes : 0;
    made.count = __builtin_popcount(made.axes);
    made.pitch = 0;
    return made;
}

int constraint_force_rows(const dyn_model *model) {
    int count = 0;
    for (int i = 0; i < model->constraint_count; i++) {
        count += model->closures[model->constraint_count + i].count;
    }
    return count;
}

dyn_status compile_constraints(const dyn_builder *builder, dyn_error *error, dyn_model *model) {
    int count = builder->constraint_count;
    if (count == 0) {
        return DYN_OK;
    }
    model->closures = calloc(2 * (size_t)count, sizeof *model->closures);
    model->constraints = calloc((size_t)count, sizeof *model->constraints);
    if (!model->closures || !model->constraints) {
        return dyn_error_memory(error);
    }
    for (int i = 0; i < count; i++) {
        dyn_status status = compile_one(builder, model, i, error);
        if (status != DYN_OK) {
            return status;
        }
        model->closures[count + i] = free_directions(&model->closures[i]);
        dyn_constraint *made = &model->constraints[i];
        made->name = strdup(builder->constraints[i].name);
        made->kind = builder->constraints[i].kind;
        made->first_row = model->constraint_rows;
        made->row_count = model->closures[i].count;
        model->constraint_count = i + 1;
        model->constraint_rows += made->row_count;
        if (!made->name) {
            return dyn_error_memory(error);
        }
    }
    if (model->constraint_rows > DYN_MAX_CONSTRAINT_ROWS || model->nv > DYN_MAX_CONSTRAINED_NV) {
        return builder_fail(builder, error, DYN_RESOURCE_EXHAUSTED, robot_element(builder),
                            "it has constraints of %d rows and nv = %d; a robot with constraints has at most %d rows "
                            "and nv = %d",
                            model->constraint_rows, model->nv, DYN_MAX_CONSTRAINT_ROWS, DYN_MAX_CONSTRAINED_NV);
    }
    return DYN_OK;
}

void free_constraints(dyn_model *model) {
    for (int i = 0; i < model->constraint_count; i++) {
        free((char *)model->constraints[i].name);
    }
    free(model->constraints);
    free(model->closures);
}

int dyn_model_constraint_count(const dyn_model *model) {
    return model->constraint_count;
}

const dyn_constraint *dyn_model_constraint(const dyn_model *model, int constraint) {
    return constraint >= 0 && constraint < model->constraint_count ? &model->constraints[constraint] : NULL;
}

int dyn_model_constraint_rows(const dyn_model *model) {
    return model->constraint_rows;
}

/* Returns whether the first coordinate of a coupling is an angle. */
static bool couples_angle(const dyn_model *model, const closure *c) {
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        if (joint->nv > 0 && joint->v_index == c->v_index[0]) {
            return dyn_joint_type_traits(joint->type)->v_kinds[0] != DYN_COORDINATE_KIND_LENGTH;
        }
    }
    return false;
}

/* Returns row k of a loop joint: one of its constrained directions, or the additional row of a universal joint. */
static dyn_constraint_row joint_row(const closure *c, int k) {
    static const char *const names[] = {"angular x", "angular y", "angular z", "linear x", "linear y", "linear z"};
    for (int axis = 0; axis < 6; axis++) {
        if ((c->axes >> axis & 1) && k-- == 0) {
            return (dyn_constraint_row){names[axis], axis < 3};
        }
    }
    return (dyn_constraint_row){"angular", true};
}

dyn_constraint_row dyn_model_constraint_row(const dyn_model *model, int constraint, int k) {
    const closure *c = &model->closures[constraint];
    switch (c->kind) {
    case CLOSURE_JOINT:
    case CLOSURE_UNIVERSAL:
        break;
    case CLOSURE_DISTANCE:
        return (dyn_constraint_row){"distance", false};
    case CLOSURE_PLANE:
        return (dyn_constraint_row){"normal", false};
    case CLOSURE_COUPLING:
        return (dyn_constraint_row){"coupling", couples_angle(model, c)};
    case CLOSURE_POLYNOMIAL:
        return (dyn_constraint_row){"polynomial", couples_angle(model, c)};
    case CLOSURE_PRESCRIBED:
        return (dyn_constraint_row){"drive", couples_angle(model, c)};
    case CLOSURE_BALL:
    case CLOSURE_WHEEL:
        return (dyn_constraint_row){k == 0 ? "rolling x" : k == 1 ? "rolling y" : "normal", false};
    }
    return joint_row(c, k);
}
