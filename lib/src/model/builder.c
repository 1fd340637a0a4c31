/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builder: stores links and joints, and checks each by itself. tree.c, mimic.c and compile.c check the description as a
 * whole.
 */
#include "description.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact_surface.h"
#include "error.h"
#include "joint_function.h"
#include "name_check.h"
#include "placement.h"

const char *joint_type_name(dyn_joint_type type) {
    return dyn_joint_type_traits(type)->name;
}

bool joint_has_one_coordinate(dyn_joint_type type) {
    return dyn_joint_type_traits(type)->nq == 1;
}

named_element robot_element(const dyn_builder *builder) {
    return (named_element){{.kind = DYN_ELEMENT_KIND_ROBOT, .index = -1, .line = builder->line}, builder->name};
}

named_element link_element(const dyn_builder *builder, const char *name) {
    int i = name ? name_index_find(&builder->link_names, name) : -1;
    const dyn_link_description *link = i >= 0 ? &builder->links[i] : NULL;
    return (named_element){
        {.kind = DYN_ELEMENT_KIND_LINK, .index = i, .line = link ? link->line : 0, .row = link ? link->row : 0}, name};
}

named_element joint_element(const dyn_builder *builder, const char *name) {
    int j = name ? name_index_find(&builder->joint_names, name) : -1;
    const dyn_joint_description *joint = j >= 0 ? &builder->joints[j] : NULL;
    return (named_element){
        {.kind = DYN_ELEMENT_KIND_JOINT, .index = j, .line = joint ? joint->line : 0, .row = joint ? joint->row : 0},
        name};
}

/* Returns the element that a link becomes when it is added. */
static named_element new_link(const dyn_builder *builder, const dyn_link_description *link) {
    return (named_element){{DYN_ELEMENT_KIND_LINK, builder->link_count, link->line, link->row}, link->name};
}

/* Returns the element that a joint becomes when it is added. */
static named_element new_joint(const dyn_builder *builder, const dyn_joint_description *joint) {
    return (named_element){{DYN_ELEMENT_KIND_JOINT, builder->joint_count, joint->line, joint->row}, joint->name};
}

/* Sets an error as builder_fail_at does, with a list of arguments. */
__attribute__((format(printf, 6, 0))) static dyn_status fail_with(const dyn_builder *builder, dyn_error *error,
                                                                  dyn_status status, const dyn_element *element,
                                                                  const char *text, const char *format, va_list list) {
    if (!builder->source || element->line <= 0) {
        dyn_error_set_list(error, status, text, format, list);
    } else {
        char place[64];
        snprintf(place, sizeof place, "%s:%d", builder->source, element->line);
        dyn_error whole;
        dyn_error_set_list(&whole, status, place, format, list);
        dyn_error_set(error, status, place, "%s: %s", text, whole.message);
    }
    if (error && status == DYN_NOT_FOUND) {
        error->site.cause = element->kind == DYN_ELEMENT_KIND_JOINT ? DYN_CAUSE_JOINT : DYN_CAUSE_FRAME;
    }
    return dyn_error_of_element(error, status, element);
}

dyn_status builder_fail_at(const dyn_builder *builder, dyn_error *error, dyn_status status, const dyn_element *element,
                           const char *text, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fail_with(builder, error, status, element, text, format, list);
    va_end(list);
    return status;
}

dyn_status builder_fail(const dyn_builder *builder, dyn_error *error, dyn_status status, named_element at,
                        const char *format, ...) {
    char text[DYN_MAX_NAME + 32];
    snprintf(text, sizeof text, "%s%s%s", element_kind_name(at.element.kind), at.name ? " " : "",
             at.name ? at.name : "");
    va_list list;
    va_start(list, format);
    fail_with(builder, error, status, &at.element, text, format, list);
    va_end(list);
    return status;
}

dyn_status builder_fail_member(const dyn_builder *builder, named_element at, const char *member, dyn_error *error,
                               const char *format, ...) {
    char message[DYN_MESSAGE_SIZE];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    dyn_status status = builder_fail(builder, error, DYN_INVALID_ARGUMENT, at, "%s", message);
    if (error) {
        error->site.part = member;
    }
    return status;
}

dyn_status dyn_builder_create(const char *name, dyn_builder **builder, dyn_error *error) {
    *builder = NULL;
    dyn_status status = name_check(name, error, "name", "robot");
    if (status != DYN_OK) {
        return dyn_error_of_argument(error, status, "name");
    }
    dyn_builder *created = calloc(1, sizeof *created);
    char *copy = strdup(name);
    if (!created || !copy) {
        free(created);
        free(copy);
        return dyn_error_memory(error);
    }
    created->name = copy;
    created->gravity[2] = -9.81;
    *builder = created;
    return DYN_OK;
}

void dyn_builder_free(dyn_builder *builder) {
    if (!builder) {
        return;
    }
    for (int i = 0; i < builder->joint_count; i++) {
        free((char *)builder->joints[i].parent_link);
        free((char *)builder->joints[i].child_link);
        free((char *)builder->joints[i].mimic_joint);
        free((dyn_joint_motion *)builder->joints[i].motions);
    }
    name_index_clear(&builder->link_names);
    name_index_clear(&builder->joint_names);
    name_index_clear(&builder->passive_joints);
    builder_clear_constraints(builder);
    builder_clear_machine_elements(builder);
    builder_clear_contact_surfaces(builder);
    builder_clear_notes(builder);
    free(builder->links);
    free(builder->joints);
    free(builder->name);
    free(builder);
}

bool builder_all_finite(const double *values, int count) {
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

dyn_status dyn_builder_set_gravity(dyn_builder *builder, const double gravity[3], dyn_error *error) {
    if (!builder_all_finite(gravity, 3)) {
        const dyn_error_site site = {.cause = DYN_CAUSE_NOT_FINITE, .argument = "gravity"};
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "gravity is (%g, %g, %g); set finite numbers",
                            gravity[0], gravity[1], gravity[2]);
    }
    memcpy(builder->gravity, gravity, sizeof builder->gravity);
    return DYN_OK;
}

bool builder_grow(void **array, int count, int *capacity, size_t size) {
    if (count < *capacity) {
        return true;
    }
    int larger = *capacity > 0 ? 2 * *capacity : 16;
    void *grown = realloc(*array, (size_t)larger * size);
    if (!grown) {
        return false;
    }
    *array = grown;
    *capacity = larger;
    return true;
}

dyn_status builder_check_new_name(const dyn_builder *builder, const name_index *names, int bound, named_element at,
                                  dyn_error *error) {
    const char *kind = element_kind_name(at.element.kind);
    char place[64];
    snprintf(place, sizeof place, "%s", kind);
    if (builder->source && at.element.line > 0) {
        snprintf(place, sizeof place, "%s:%d", builder->source, at.element.line);
    }
    dyn_status status = name_check(at.name, error, place, kind);
    if (status != DYN_OK) {
        return dyn_error_of_element(error, status, &at.element);
    }
    if (name_index_find(names, at.name) >= 0) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, at,
                            "there are two %ss of this name; rename one of them", kind);
    }
    if (at.element.index >= bound) {
        return builder_fail(builder, error, DYN_RESOURCE_EXHAUSTED, at,
                            "a robot has at most %d %ss, and this is one more", bound, kind);
    }
    return DYN_OK;
}

dyn_status builder_check_inertia(const dyn_builder *builder, named_element at, const dyn_inertia *inertia,
                                 dyn_error *error) {
    if (!isfinite(inertia->mass) || inertia->mass < 0) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, at,
                            "the mass is %g kg; set a finite mass that is not negative", inertia->mass);
    }
    if (!builder_all_finite(inertia->center_of_mass, 3)) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, at,
                            "the centre of mass is (%g, %g, %g); set finite numbers", inertia->center_of_mass[0],
                            inertia->center_of_mass[1], inertia->center_of_mass[2]);
    }
    double moments[3] = {0};
    if (builder_all_finite(inertia->rotational, 6)) {
        symmetric_eigenvalues(inertia->rotational, moments);
    } else {
        moments[0] = NAN;
    }
    if (!builder_all_finite(moments, 3)) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, at,
                            "the inertia holds a value that is not finite or too large");
    }
    return DYN_OK;
}

/* Appends a link whose name and values have been checked. Errors: out of memory. */
static dyn_status append_link(dyn_builder *builder, const dyn_link_description *link, dyn_error *error) {
    if (!builder_grow((void **)&builder->links, builder->link_count, &builder->link_capacity, sizeof *builder->links)) {
        return dyn_error_memory(error);
    }
    dyn_link_description added = *link;
    added.name = name_index_add(&builder->link_names, link->name, builder->link_count);
    if (!added.name) {
        return dyn_error_memory(error);
    }
    builder->links[builder->link_count++] = added;
    return DYN_OK;
}

dyn_status dyn_builder_add_link(dyn_builder *builder, const dyn_link_description *link, dyn_error *error) {
    dyn_status status =
        builder_check_new_name(builder, &builder->link_names, DYN_MAX_LINKS, new_link(builder, link), error);
    if (status == DYN_OK) {
        status = builder_check_inertia(builder, new_link(builder, link), &link->inertia, error);
    }
    return status == DYN_OK ? append_link(builder, link, error) : status;
}

dyn_status builder_append_link(dyn_builder *builder, const dyn_link_description *link, dyn_error *error) {
    dyn_link_description added = *link;
    added.line = added.row = 0;
    dyn_status status =
        builder_check_new_name(builder, &builder->link_names, DYN_MAX_LINKS, new_link(builder, &added), error);
    return status == DYN_OK ? append_link(builder, &added, error) : status;
}

bool builder_normalize_axis(double axis[3]) {
    if (fabs(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2] - 1) <= 8 * DBL_EPSILON) {
        return true;
    }
    double largest = fmax(fabs(axis[0]), fmax(fabs(axis[1]), fabs(axis[2])));
    if (!builder_all_finite(axis, 3) || largest == 0) {
        return false;
    }
    double x = axis[0] / largest, y = axis[1] / largest, z = axis[2] / largest;
    double length = sqrt(x * x + y * y + z * z);
    axis[0] = x / length;
    axis[1] = y / length;
    axis[2] = z / length;
    return true;
}

/* Checks the axes of a joint and scales them to unit length. Sets axes that the type does not have to zero. */
static dyn_status check_axes(const dyn_builder *builder, dyn_joint_description *joint, dyn_error *error) {
    double *a = joint->axis, *b = joint->second_axis;
    int axes = dyn_joint_type_traits(joint->type)->axes;
    if (axes == 0) {
        memset(a, 0, sizeof joint->axis);
    } else if (!builder_normalize_axis(a)) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, new_joint(builder, joint),
                            "the axis is (%g, %g, %g); set a finite vector that is not zero", a[0], a[1], a[2]);
    }
    if (axes < 2) {
        memset(b, 0, sizeof joint->second_axis);
        return DYN_OK;
    }
    if (!builder_normalize_axis(b)) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, new_joint(builder, joint),
                            "the second axis is (%g, %g, %g); set a finite vector that is not zero", b[0], b[1], b[2]);
    }
    double normal[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    if (fabs(normal[0]) + fabs(normal[1]) + fabs(normal[2]) < 1e-6) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, new_joint(builder, joint),
                            "the two axes of the universal joint are parallel; use a revolute joint instead");
    }
    return DYN_OK;
}

/* Checks the numbers of a joint other than its axes. */
static dyn_status check_joint_values(const dyn_builder *builder, const dyn_joint_description *joint, dyn_error *error) {
    const dyn_joint_limits *limits = &joint->limits;
    const struct {
        const char *name;
        double value;
    } scalars[] = {
        {"position x", joint->position[0]},
        {"position y", joint->position[1]},
        {"position z", joint->position[2]},
        {"pitch", joint->pitch},
        {"damping", joint->damping},
        {"friction", joint->friction},
        {"lower limit", limits->lower},
        {"upper limit", limits->upper},
        {"velocity limit", limits->velocity},
        {"effort limit", limits->effort},
        {"multiplier", joint->mimic_multiplier},
        {"offset", joint->mimic_offset},
    };
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (!isfinite(scalars[i].value)) {
            return builder_fail(builder, error, DYN_INVALID_ARGUMENT, new_joint(builder, joint),
                                "the %s is %g; set a finite number", scalars[i].name, scalars[i].value);
        }
    }
    if (joint->damping < 0 || joint->friction < 0) {
        bool is_damping = joint->damping < 0;
        const char *member = is_damping ? "damping" : "friction";
        return builder_fail_member(builder, new_joint(builder, joint), member, error,
                                   "the %s is %g; set a number that is not negative", member,
                                   is_damping ? joint->damping : joint->friction);
    }
    if (!is_rotation(joint->rotation)) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, new_joint(builder, joint),
                            "the rotation is none: its columns must be orthonormal and right-handed to 1e-9");
    }
    return DYN_OK;
}

/* Returns the name of a motion's member in errors. */
static const char *motion_part(int motion, bool is_axis) {
    static const char *const axes[DYN_MAX_JOINT_MOTIONS] = {"motions[0].axis", "motions[1].axis",  "motions[2].axis",
                                                            "motions[3].axis", "motions[4].axis",  "motions[5].axis",
                                                            "motions[6].axis", "motions[7].axis",  "motions[8].axis",
                                                            "motions[9].axis", "motions[10].axis", "motions[11].axis"};
    static const char *const functions[DYN_MAX_JOINT_MOTIONS] = {
        "motions[0].function", "motions[1].function", "motions[2].function",  "motions[3].function",
        "motions[4].function", "motions[5].function", "motions[6].function",  "motions[7].function",
        "motions[8].function", "motions[9].function", "motions[10].function", "motions[11].function"};
    return is_axis ? axes[motion] : functions[motion];
}

/* Checks one motion of a custom joint. */
static dyn_status check_motion(const dyn_builder *builder, const dyn_joint_description *joint, int k,
                               dyn_error *error) {
    const dyn_joint_motion *m = &joint->motions[k];
    const named_element at = new_joint(builder, joint);
    double axis[3] = {m->axis[0], m->axis[1], m->axis[2]};
    dyn_error bad;
    if (m->kind != DYN_JOINT_MOTION_KIND_ROTATION && m->kind != DYN_JOINT_MOTION_KIND_TRANSLATION) {
        return builder_fail_member(builder, at, motion_part(k, true), error, "motion %d: %d is no kind of motion", k,
                                   (int)m->kind);
    }
    if (!builder_normalize_axis(axis)) {
        return builder_fail_member(builder, at, motion_part(k, true), error,
                                   "motion %d: the axis is (%g, %g, %g); set a finite vector that is not zero", k,
                                   axis[0], axis[1], axis[2]);
    }
    if (dyn_joint_function_check(&m->function, &bad) != DYN_OK) {
        return builder_fail_member(builder, at, motion_part(k, false), error, "motion %d: %s", k, bad.message);
    }
    return DYN_OK;
}

/* Checks the motions of a custom joint. */
static dyn_status check_motions(const dyn_builder *builder, const dyn_joint_description *joint, dyn_error *error) {
    const named_element at = new_joint(builder, joint);
    bool moves = false;
    dyn_status status = DYN_OK;
    if (joint->type != DYN_JOINT_TYPE_CUSTOM) {
        return DYN_OK;
    }
    if (joint->motion_count < 1 || joint->motion_count > DYN_MAX_JOINT_MOTIONS) {
        return builder_fail_member(builder, at, "motions", error, "the custom joint has %d motions; state 1 to %d",
                                   joint->motion_count, DYN_MAX_JOINT_MOTIONS);
    }
    for (int k = 0; k < joint->motion_count && status == DYN_OK; k++) {
        status = check_motion(builder, joint, k, error);
        moves = moves || (status == DYN_OK && !function_is_constant(&joint->motions[k].function));
    }
    return status != DYN_OK || moves
               ? status
               : builder_fail_member(builder, at, "motions", error,
                                     "all functions of the custom joint are constant, so that its coordinate moves "
                                     "nothing; use a fixed joint instead");
}

/* Checks a joint except for its name, and normalizes its axes. */
static dyn_status check_joint(const dyn_builder *builder, dyn_joint_description *joint, dyn_error *error) {
    if (!dyn_joint_type_traits(joint->type)) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, new_joint(builder, joint), "%d is no joint type",
                            (int)joint->type);
    }
    const char *const others[] = {joint->parent_link, joint->child_link, joint->mimic_joint};
    const char *const what[] = {"parent link", "child link", "mimic joint"};
    for (int i = 0; i < 3; i++) {
        if (i < 2 && (!others[i] || others[i][0] == '\0')) {
            return builder_fail(builder, error, DYN_INVALID_ARGUMENT, new_joint(builder, joint),
                                "it has no %s; name one", what[i]);
        }
        dyn_error bad;
        if (others[i] && name_check(others[i], &bad, what[i], what[i]) != DYN_OK) {
            return builder_fail(builder, error, bad.status, new_joint(builder, joint), "%s", bad.message);
        }
    }
    dyn_status status = check_joint_values(builder, joint, error);
    if (status == DYN_OK) {
        status = check_motions(builder, joint, error);
    }
    return status == DYN_OK ? check_axes(builder, joint, error) : status;
}

/* Copies the motions of a custom joint, with axes of unit length. Returns false when out of memory. */
static bool copy_motions(const dyn_joint_description *joint, dyn_joint_description *copy) {
    copy->motions = NULL;
    copy->motion_count = joint->type == DYN_JOINT_TYPE_CUSTOM ? joint->motion_count : 0;
    if (copy->motion_count == 0) {
        return true;
    }
    size_t size = (size_t)joint->motion_count * sizeof *joint->motions;
    dyn_joint_motion *motions = malloc(size);
    if (!motions) {
        return false;
    }
    memcpy(motions, joint->motions, size);
    for (int k = 0; k < joint->motion_count; k++) {
        builder_normalize_axis(motions[k].axis);
    }
    copy->motions = motions;
    return true;
}

/* Appends a joint whose name and values have been checked, with copies of its strings. Returns false when out of
 * memory. */
static bool append_joint(dyn_builder *builder, const dyn_joint_description *joint) {
    if (!builder_grow((void **)&builder->joints, builder->joint_count, &builder->joint_capacity,
                      sizeof *builder->joints)) {
        return false;
    }
    dyn_joint_description added = *joint;
    added.parent_link = strdup(joint->parent_link);
    added.child_link = strdup(joint->child_link);
    added.mimic_joint = joint->mimic_joint ? strdup(joint->mimic_joint) : NULL;
    bool has_motions = copy_motions(joint, &added);
    bool complete = has_motions && added.parent_link && added.child_link &&
                    (added.mimic_joint != NULL) == (joint->mimic_joint != NULL);
    if (complete) {
        added.name = name_index_add(&builder->joint_names, joint->name, builder->joint_count);
    }
    if (!complete || !added.name) {
        free((char *)added.parent_link);
        free((char *)added.child_link);
        free((char *)added.mimic_joint);
        free((dyn_joint_motion *)added.motions);
        return false;
    }
    builder->joints[builder->joint_count++] = added;
    return true;
}

dyn_status dyn_builder_add_joint(dyn_builder *builder, const dyn_joint_description *joint, dyn_error *error) {
    dyn_status status =
        builder_check_new_name(builder, &builder->joint_names, DYN_MAX_LINKS, new_joint(builder, joint), error);
    if (status != DYN_OK) {
        return status;
    }
    dyn_joint_description checked = *joint;
    status = check_joint(builder, &checked, error);
    if (status != DYN_OK) {
        return status;
    }
    return append_joint(builder, &checked) ? DYN_OK : dyn_error_memory(error);
}

dyn_status builder_append_joint(dyn_builder *builder, const dyn_joint_description *joint, dyn_error *error) {
    dyn_joint_description added = *joint;
    added.line = added.row = 0;
    dyn_status status =
        builder_check_new_name(builder, &builder->joint_names, DYN_MAX_LINKS, new_joint(builder, &added), error);
    if (status != DYN_OK) {
        return status;
    }
    return append_joint(builder, &added) ? DYN_OK : dyn_error_memory(error);
}

dyn_status builder_copy(const dyn_builder *from, dyn_error *error, dyn_builder **copy) {
    dyn_status status = dyn_builder_create(from->name, copy, error);
    if (status != DYN_OK) {
        return status;
    }
    memcpy((*copy)->gravity, from->gravity, sizeof from->gravity);
    /* Names and values were checked when they were added. */
    for (int i = 0; i < from->link_count && status == DYN_OK; i++) {
        dyn_link_description link = from->links[i];
        link.line = link.row = 0;
        status = append_link(*copy, &link, error);
    }
    for (int j = 0; j < from->joint_count && status == DYN_OK; j++) {
        dyn_joint_description joint = from->joints[j];
        joint.line = joint.row = 0;
        status = append_joint(*copy, &joint) ? DYN_OK : dyn_error_memory(error);
    }
    if (status == DYN_OK) {
        status = builder_copy_constraints(from, error, *copy);
    }
    if (status == DYN_OK) {
        status = builder_copy_machine_elements(from, error, *copy);
    }
    if (status == DYN_OK) {
        status = builder_copy_contact_surfaces(from, error, *copy);
    }
    if (status == DYN_OK) {
        status = builder_copy_passive(from, error, *copy);
    }
    if (status == DYN_OK) {
        status = builder_copy_notes(from, error, *copy);
    }
    if (status != DYN_OK) {
        dyn_builder_free(*copy);
        *copy = NULL;
    }
    return status;
}
