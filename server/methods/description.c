/* SPDX-License-Identifier: BSD-2-Clause */
/* ModelDescription: converts links, joints, frames, constraints and machine elements to a builder and back. */
#include "methods/description.h"

#include <stdio.h>
#include <string.h>

#include "methods/constraints.h"
#include "methods/contact_surfaces.h"
#include "methods/geometry.h"
#include "methods/joint_motions.h"
#include "methods/machine_elements.h"
#include "methods/text.h"

/* ---- choices ----------------------------------------------------------------------------------------------------- */

bool description_read_base(call *c, const char *path, Dynamics__V1__Base wire, dyn_base *base) {
    switch (wire) {
    case DYNAMICS__V1__BASE__BASE_UNSPECIFIED:
        return true;
    case DYNAMICS__V1__BASE__BASE_FIXED:
        *base = DYN_BASE_FIXED;
        return true;
    case DYNAMICS__V1__BASE__BASE_FLOATING:
        *base = DYN_BASE_FLOATING;
        return true;
    default:
        call_blame(c, "%s", path);
        call_fail(c, REASON_UNKNOWN_VALUE,
                  "base_type is %d; pass FIXED (1), FLOATING (2), or nothing for that of the description", (int)wire);
        return false;
    }
}

bool description_read_mimic(call *c, const char *path, Dynamics__V1__MimicPolicy wire, dyn_mimic_policy *mimic) {
    switch (wire) {
    case DYNAMICS__V1__MIMIC_POLICY__MIMIC_POLICY_UNSPECIFIED:
        return true;
    case DYNAMICS__V1__MIMIC_POLICY__MIMIC_POLICY_COUPLED:
        *mimic = DYN_MIMIC_POLICY_COUPLED;
        return true;
    case DYNAMICS__V1__MIMIC_POLICY__MIMIC_POLICY_INDEPENDENT:
        *mimic = DYN_MIMIC_POLICY_INDEPENDENT;
        return true;
    default:
        call_blame(c, "%s", path);
        call_fail(c, REASON_UNKNOWN_VALUE,
                  "mimic is %d; pass COUPLED (1), INDEPENDENT (2), or nothing for the choice of the description",
                  (int)wire);
        return false;
    }
}

Dynamics__V1__Base description_write_base(dyn_base base) {
    return base == DYN_BASE_FLOATING ? DYNAMICS__V1__BASE__BASE_FLOATING : DYNAMICS__V1__BASE__BASE_FIXED;
}

Dynamics__V1__MimicPolicy description_write_mimic(dyn_mimic_policy mimic) {
    return mimic == DYN_MIMIC_POLICY_INDEPENDENT ? DYNAMICS__V1__MIMIC_POLICY__MIMIC_POLICY_INDEPENDENT
                                                 : DYNAMICS__V1__MIMIC_POLICY__MIMIC_POLICY_COUPLED;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool read_link(call *c, size_t i, const Dynamics__V1__Link *from, dyn_builder *builder) {
    char path[PATH_SIZE], member[PATH_SIZE];
    dyn_error error;
    dyn_link_description link = {.name = from->name};
    snprintf(path, sizeof path, "description.links[%zu]", i);
    if (!description_refuse_derived(c, path, "joints", from->joints) ||
        !geometry_read_inertia(c, path_join(member, path, "inertia"), from->inertia, &link.inertia)) {
        return false;
    }
    dyn_status status = dyn_builder_add_link(builder, &link, &error);
    call_blame(c, "%s", path);
    return status == DYN_OK || description_fail_element(c, &error);
}

/* Reads an axis. An absent one is zero, and an error if `is_needed`. */
static bool read_axis(call *c, const char *path, const Dynamics__V1__Vector3 *from, bool is_needed, double axis[3]) {
    if (from || !is_needed) {
        return geometry_read_vector(c, path, from, axis);
    }
    call_blame(c, "%s", path);
    call_fail(c, REASON_MISSING_VALUE, "a joint of this type needs an axis; pass one, such as 0 0 1");
    return false;
}

static bool read_axes(call *c, const char *path, const Dynamics__V1__Joint *from, dyn_joint_description *joint) {
    char member[PATH_SIZE];
    const dyn_joint_traits *traits = dyn_joint_type_traits(joint->type);
    if (!traits) {
        call_blame(c, "%s.type", path);
        call_fail(c, REASON_UNKNOWN_VALUE, "the type is %d; pass one from FIXED (1) to CUSTOM (11)", (int)from->type);
        return false;
    }
    return read_axis(c, path_join(member, path, "axis"), from->axis, traits->axes > 0, joint->axis) &&
           read_axis(c, path_join(member, path, "second_axis"), from->second_axis, traits->axes == 2,
                     joint->second_axis);
}

void description_read_limits(const Dynamics__V1__JointLimits *from, bool *has_limits, dyn_joint_limits *limits) {
    *has_limits = from != NULL;
    *limits = (dyn_joint_limits){0};
    if (from) {
        *limits = (dyn_joint_limits){
            .lower = from->lower, .upper = from->upper, .velocity = from->velocity, .effort = from->effort};
    }
}

static bool read_joint(call *c, size_t i, const Dynamics__V1__Joint *from, dyn_builder *builder) {
    char path[PATH_SIZE], member[PATH_SIZE];
    dyn_error error;
    dyn_pose origin;
    dyn_joint_description joint = {.name = from->name,
                                   .type = description_joint_type(from->type),
                                   .parent_link = from->parent_link,
                                   .child_link = from->child_link,
                                   .pitch = from->pitch,
                                   .damping = from->damping,
                                   .friction = from->friction};
    snprintf(path, sizeof path, "description.joints[%zu]", i);
    if (!description_refuse_derived(c, path, "coordinates", from->coordinates) || !read_axes(c, path, from, &joint) ||
        !joint_motions_read(c, path, from, joint.type, &joint.motion_count, &joint.motions) ||
        !geometry_read_placement(c, path_join(member, path, "origin"), from->origin, &origin)) {
        return false;
    }
    memcpy(joint.position, origin.position, sizeof joint.position);
    memcpy(joint.rotation, origin.rotation, sizeof joint.rotation);
    description_read_limits(from->limits, &joint.has_limits, &joint.limits);
    if (from->mimic) {
        joint.mimic_joint = from->mimic->joint;
        joint.mimic_multiplier = from->mimic->optional_multiplier_case ? from->mimic->multiplier : 1;
        joint.mimic_offset = from->mimic->offset;
    }
    dyn_status status = dyn_builder_add_joint(builder, &joint, &error);
    const char *part = status != DYN_OK && error.site.part ? error.site.part : NULL;
    call_blame(c, "%s%s%s", path, part ? "." : "", part ? part : "");
    return status == DYN_OK || description_fail_element(c, &error);
}

/* Adds a frame to the builder, as a massless link on a fixed joint. Returns false when the call has ended. */
static bool read_frame(call *c, size_t i, const Dynamics__V1__Frame *from, dyn_builder *builder) {
    char path[PATH_SIZE], member[PATH_SIZE], name[DYN_MAX_NAME + 8];
    dyn_error error;
    dyn_pose pose;
    snprintf(path, sizeof path, "description.frames[%zu]", i);
    if (!description_refuse_derived(c, path, "moving_joint", from->moving_joint[0] != '\0') ||
        !geometry_read_placement(c, path_join(member, path, "pose"), from->pose, &pose)) {
        return false;
    }
    snprintf(name, sizeof name, "%s:fixed", from->name);
    const dyn_link_description link = {.name = from->name};
    dyn_joint_description joint = {.name = name, .parent_link = from->link, .child_link = from->name};
    memcpy(joint.position, pose.position, sizeof joint.position);
    memcpy(joint.rotation, pose.rotation, sizeof joint.rotation);
    dyn_status status = dyn_builder_add_link(builder, &link, &error);
    if (status == DYN_OK) {
        status = dyn_builder_add_joint(builder, &joint, &error);
    }
    call_blame(c, "%s", path);
    return status == DYN_OK || description_fail_element(c, &error);
}

static bool read_passive_joints(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder *builder) {
    dyn_error error;
    for (size_t i = 0; i < from->n_passive_joints; i++) {
        if (dyn_builder_set_passive(builder, from->passive_joints[i], &error) != DYN_OK) {
            call_blame(c, "description.passive_joints[%zu]", i);
            call_fail(c, error.status == DYN_NOT_FOUND ? REASON_INVALID_VALUE : reason_of_error(&error), "%s",
                      error.message);
            return false;
        }
    }
    return true;
}

static bool read_notes(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder *builder) {
    dyn_error error;
    for (size_t i = 0; i < from->n_notes; i++) {
        if (dyn_builder_add_note(builder, from->notes[i], &error) != DYN_OK) {
            call_blame(c, "description.notes[%zu]", i);
            return description_fail_element(c, &error);
        }
    }
    return true;
}

/* Adds gravity and all elements of a description to a builder. Returns false on an error. */
static bool read_elements(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder *builder) {
    dyn_error error;
    double gravity[3];
    bool is_read = true;
    if (from->gravity) {
        is_read = geometry_read_vector(c, "description.gravity", from->gravity, gravity) &&
                  dyn_builder_set_gravity(builder, gravity, &error) == DYN_OK;
    }
    for (size_t i = 0; is_read && i < from->n_links; i++) {
        is_read = read_link(c, i, from->links[i], builder);
    }
    for (size_t i = 0; is_read && i < from->n_joints; i++) {
        is_read = read_joint(c, i, from->joints[i], builder);
    }
    for (size_t i = 0; is_read && i < from->n_frames; i++) {
        is_read = read_frame(c, i, from->frames[i], builder);
    }
    return is_read && constraints_read(c, from, builder) && machine_elements_read(c, from, builder) &&
           contact_surfaces_read(c, from, builder) && read_passive_joints(c, from, builder) &&
           read_notes(c, from, builder);
}

bool description_read(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder **builder) {
    dyn_error error;
    dyn_status status = dyn_builder_create(from->name, builder, &error);
    if (status != DYN_OK) {
        *builder = NULL;
        call_blame(c, "description.name");
        return description_fail_element(c, &error);
    }
    if (read_elements(c, from, *builder)) {
        return true;
    }
    dyn_builder_free(*builder);
    *builder = NULL;
    return false;
}

/* ---- errors of the whole ----------------------------------------------------------------------------------------- */

/* Sets the field of an error of the builder. The builder has each frame as a link on a fixed joint, after the links and
 * the joints of the description, and then the links and joints of flexible beams. */
static void blame_element(call *c, const Dynamics__V1__ModelDescription *from, const dyn_error_site *site) {
    const dyn_element *at = &site->element;
    bool is_link = at->kind == DYN_ELEMENT_KIND_LINK;
    size_t count = is_link ? from->n_links : from->n_joints, i = (size_t)at->index;
    if (at->kind == DYN_ELEMENT_KIND_CONSTRAINT && at->index >= 0) {
        constraints_blame(c, from, i, site);
    } else if (at->kind == DYN_ELEMENT_KIND_MACHINE_ELEMENT && at->index >= 0) {
        machine_elements_blame(c, from, i, site);
    } else if (at->index < 0 || (!is_link && at->kind != DYN_ELEMENT_KIND_JOINT)) {
        call_blame(c, "description");
    } else if (i < count) {
        call_blame(c, "description.%s[%zu]", is_link ? "links" : "joints", i);
    } else if (i < count + from->n_frames) {
        call_blame(c, "description.frames[%zu]", i - count);
    } else {
        call_blame(c, "description.machine_elements");
    }
}

void description_fail(call *c, const Dynamics__V1__ModelDescription *from, const dyn_error *error) {
    blame_element(c, from, &error->site);
    description_fail_element(c, error);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static Dynamics__V1__Link *write_link(call *c, const dyn_link_description *from) {
    Dynamics__V1__Link *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__link__init(to);
        to->name = call_string(c, from->name);
        to->inertia = geometry_write_inertia(c, &from->inertia);
    }
    return to;
}

Dynamics__V1__JointLimits *description_write_limits(call *c, const dyn_joint_limits *from) {
    Dynamics__V1__JointLimits *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__joint_limits__init(to);
        to->lower = from->lower;
        to->upper = from->upper;
        to->velocity = from->velocity;
        to->effort = from->effort;
    }
    return to;
}

Dynamics__V1__Mimic *description_write_coupling(call *c, const char *master, double multiplier, double offset) {
    Dynamics__V1__Mimic *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__mimic__init(to);
        to->joint = call_string(c, master);
        to->optional_multiplier_case = DYNAMICS__V1__MIMIC__OPTIONAL_MULTIPLIER_MULTIPLIER;
        to->multiplier = multiplier;
        to->offset = offset;
    }
    return to;
}

static Dynamics__V1__Joint *write_joint(call *c, const dyn_joint_description *from) {
    Dynamics__V1__Joint *to = call_allocate(c, 1, sizeof *to);
    if (!to) {
        return NULL;
    }
    dyn_pose origin;
    int axes = dyn_joint_type_traits(from->type)->axes;
    memcpy(origin.position, from->position, sizeof origin.position);
    memcpy(origin.rotation, from->rotation, sizeof origin.rotation);
    dynamics__v1__joint__init(to);
    to->name = call_string(c, from->name);
    to->type = description_write_joint_type(from->type);
    to->parent_link = call_string(c, from->parent_link);
    to->child_link = call_string(c, from->child_link);
    to->origin = geometry_write_placement(c, &origin);
    to->axis = axes > 0 ? geometry_write_vector(c, from->axis) : NULL;
    to->second_axis = axes == 2 ? geometry_write_vector(c, from->second_axis) : NULL;
    to->pitch = from->pitch;
    joint_motions_write(c, from->motion_count, from->motions, to);
    to->limits = from->has_limits ? description_write_limits(c, &from->limits) : NULL;
    to->damping = from->damping;
    to->friction = from->friction;
    to->mimic = from->mimic_joint
                    ? description_write_coupling(c, from->mimic_joint, from->mimic_multiplier, from->mimic_offset)
                    : NULL;
    return to;
}

static void write_elements(call *c, const dyn_builder *from, Dynamics__V1__ModelDescription *to) {
    size_t links = (size_t)dyn_builder_link_count(from), joints = (size_t)dyn_builder_joint_count(from);
    to->links = call_allocate(c, links, sizeof *to->links);
    to->joints = call_allocate(c, joints, sizeof *to->joints);
    for (size_t i = 0; !call_has_ended(c) && i < links; i++) {
        to->links[to->n_links++] = write_link(c, dyn_builder_link(from, (int)i));
    }
    for (size_t i = 0; !call_has_ended(c) && i < joints; i++) {
        to->joints[to->n_joints++] = write_joint(c, dyn_builder_joint(from, (int)i));
    }
    to->passive_joints = call_allocate(c, joints, sizeof *to->passive_joints);
    for (int j = 0; !call_has_ended(c) && (size_t)j < joints; j++) {
        if (dyn_builder_joint_is_passive(from, j)) {
            to->passive_joints[to->n_passive_joints++] = call_string(c, dyn_builder_joint(from, j)->name);
        }
    }
    to->constraints = constraints_write(c, from, &to->n_constraints);
    to->machine_elements = machine_elements_write(c, from, &to->n_machine_elements);
    to->contact_surfaces = contact_surfaces_write(c, from, &to->n_contact_surfaces);
    to->notes = call_allocate(c, (size_t)dyn_builder_note_count(from), sizeof *to->notes);
    for (int i = 0; !call_has_ended(c) && i < dyn_builder_note_count(from); i++) {
        to->notes[to->n_notes++] = call_string(c, dyn_builder_note(from, i));
    }
}

Dynamics__V1__ModelDescription *description_write(call *c, const dyn_model *model) {
    dyn_builder *builder;
    dyn_error error;
    double gravity[3];
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    Dynamics__V1__ModelDescription *to = call_allocate(c, 1, sizeof *to);
    if (!to || dyn_model_build_options(model, &options, &error) != DYN_OK ||
        dyn_model_describe(model, &builder, &error) != DYN_OK) {
        call_fail_memory(c);
        return NULL;
    }
    dynamics__v1__model_description__init(to);
    dyn_builder_gravity(builder, gravity);
    to->name = call_string(c, dyn_builder_name(builder));
    to->gravity = geometry_write_vector(c, gravity);
    to->base_type = description_write_base(options.base);
    to->mimic = description_write_mimic(options.mimic);
    write_elements(c, builder, to);
    dyn_builder_free(builder);
    return call_has_ended(c) ? NULL : to;
}
