/* SPDX-License-Identifier: BSD-2-Clause */
/* DescribeModel: describes one model in full. */
#include <dynamics/dynamics.h>

#include "methods/constraints.h"
#include "methods/contact_surfaces.h"
#include "methods/machine_elements.h"
#include "methods/coordinates.h"
#include "methods/description.h"
#include "methods/geometry.h"
#include "methods/joint_motions.h"
#include "methods/methods.h"
#include "methods/summary.h"

/* Copies the names of `count` units to the call's memory. */
static char **names(call *c, const char *const *from, int count) {
    char **to = call_allocate(c, (size_t)count, sizeof *to);
    for (int i = 0; to && i < count; i++) {
        to[i] = call_string(c, from[i]);
    }
    return to;
}

/* Returns the name of a moving joint, or "" for a negative number. */
static char *joint_name(call *c, const dyn_model *model, int joint) {
    return call_string(c, joint >= 0 ? dyn_model_joint(model, joint)->name : "");
}

static char *link_name(call *c, const dyn_model *model, int link) {
    return call_string(c, link >= 0 ? dyn_model_link(model, link)->name : "");
}

static Dynamics__V1__JointCoordinates *describe_coordinates(call *c, const dyn_joint *from) {
    Dynamics__V1__JointCoordinates *to = call_allocate(c, 1, sizeof *to);
    const joint_units u = joint_units_of(from->type);
    if (to) {
        dynamics__v1__joint_coordinates__init(to);
        to->q_index = (uint32_t)from->q_index;
        to->v_index = (uint32_t)from->v_index;
        to->nq = (uint32_t)from->nq;
        to->nv = (uint32_t)from->nv;
        to->n_q_units = (size_t)from->nq;
        to->q_units = names(c, u.q, from->nq);
        to->n_v_units = (size_t)from->nv;
        to->v_units = names(c, u.v, from->nv);
        to->n_tau_units = (size_t)from->nv;
        to->tau_units = names(c, u.tau, from->nv);
    }
    return to;
}

static Dynamics__V1__Joint *describe_joint(call *c, const dyn_model *model, const dyn_joint *from) {
    Dynamics__V1__Joint *to = call_allocate(c, 1, sizeof *to);
    if (!to) {
        return NULL;
    }
    const dyn_joint_traits *traits = dyn_joint_type_traits(from->type);
    dynamics__v1__joint__init(to);
    to->name = call_string(c, from->name);
    to->type = description_write_joint_type(from->type);
    to->parent_link = link_name(c, model, from->parent_link);
    to->child_link = link_name(c, model, from->child_link);
    to->origin = geometry_write_oriented(c, &from->origin);
    to->axis = traits->axes > 0 ? geometry_write_vector(c, from->axis) : NULL;
    to->second_axis = traits->axes == 2 ? geometry_write_vector(c, from->second_axis) : NULL;
    to->pitch = from->pitch;
    joint_motions_write(c, from->motion_count, from->motions, to);
    to->limits = from->has_limits ? description_write_limits(c, &from->limits) : NULL;
    to->damping = from->damping;
    to->friction = from->friction;
    if (from->master >= 0) {
        const char *master = dyn_model_joint(model, from->master)->name;
        to->mimic = description_write_coupling(c, master, from->multiplier, from->offset);
    }
    to->coordinates = describe_coordinates(c, from);
    return to;
}

static Dynamics__V1__Link *describe_link(call *c, const dyn_model *model, const dyn_link *from) {
    Dynamics__V1__Link *to = call_allocate(c, 1, sizeof *to);
    Dynamics__V1__LinkJoints *joints = call_allocate(c, 1, sizeof *joints);
    if (!to || !joints) {
        return NULL;
    }
    dynamics__v1__link_joints__init(joints);
    joints->parent_joint = call_string(c, from->parent_joint ? from->parent_joint : "");
    joints->moving_joint = joint_name(c, model, from->moving_joint);
    dynamics__v1__link__init(to);
    to->name = call_string(c, from->name);
    to->inertia = geometry_write_inertia(c, &from->inertia);
    to->joints = joints;
    return to;
}

/* Describes a frame that moves with a joint; NULL: it is fixed to the world. `place` is its pose relative to the
 * joint's child link, or to the world. */
static Dynamics__V1__Frame *describe_frame(call *c, const dyn_model *model, const char *name, const dyn_joint *joint,
                                           const dyn_pose *place) {
    Dynamics__V1__Frame *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__frame__init(to);
        to->name = call_string(c, name);
        to->link = joint ? link_name(c, model, joint->child_link) : call_string(c, "world");
        to->pose = geometry_write_oriented(c, place);
        to->moving_joint = call_string(c, joint ? joint->name : "");
    }
    return to;
}

static void add_joints(call *c, const dyn_model *model, Dynamics__V1__DescribeModelReply *reply) {
    size_t count = (size_t)dyn_model_joint_count(model);
    reply->joints = call_allocate(c, count, sizeof *reply->joints);
    for (size_t i = 0; !call_has_ended(c) && i < count; i++) {
        reply->joints[i] = describe_joint(c, model, dyn_model_joint(model, (int)i));
        reply->n_joints = i + 1;
    }
}

static void add_passive_joints(call *c, const dyn_model *model, Dynamics__V1__DescribeModelReply *reply) {
    size_t count = (size_t)dyn_model_joint_count(model);
    reply->passive_joints = call_allocate(c, count, sizeof *reply->passive_joints);
    for (size_t j = 0; !call_has_ended(c) && j < count; j++) {
        if (dyn_model_joint_is_passive(model, (int)j)) {
            reply->passive_joints[reply->n_passive_joints++] = call_string(c, dyn_model_joint(model, (int)j)->name);
        }
    }
}

/* Adds the links; and the frames: one for each link, then the world. */
static void add_links(call *c, const dyn_model *model, Dynamics__V1__DescribeModelReply *reply) {
    static const dyn_pose identity = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    size_t count = (size_t)dyn_model_link_count(model);
    reply->links = call_allocate(c, count, sizeof *reply->links);
    reply->frames = call_allocate(c, count + 1, sizeof *reply->frames);
    for (size_t i = 0; !call_has_ended(c) && i < count; i++) {
        const dyn_link *link = dyn_model_link(model, (int)i);
        const dyn_joint *joint = link->moving_joint >= 0 ? dyn_model_joint(model, link->moving_joint) : NULL;
        reply->links[i] = describe_link(c, model, link);
        reply->frames[i] = describe_frame(c, model, link->name, joint, &link->pose);
        reply->n_links = reply->n_frames = i + 1;
    }
    if (!call_has_ended(c)) {
        reply->frames[reply->n_frames++] = describe_frame(c, model, "world", NULL, &identity);
    }
}

static void add_configurations(call *c, const dyn_model *model, Dynamics__V1__DescribeModelReply *reply) {
    size_t nq = (size_t)dyn_model_nq(model);
    double *zero = call_allocate(c, nq, sizeof *zero), *home = call_allocate(c, nq, sizeof *home);
    if (!zero || !home) {
        return;
    }
    dyn_zero_configuration(model, zero);
    dyn_home_configuration(model, home);
    reply->n_zero_q = reply->n_home_q = nq;
    reply->zero_q = zero;
    reply->home_q = home;
}

static Dynamics__V1__CompilationState wire_compilation(model_compilation state) {
    switch (state) {
    case MODEL_COMPILATION_WAITS:
        return DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_WAITING;
    case MODEL_COMPILING:
        return DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_RUNNING;
    case MODEL_COMPILED:
        return DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_DONE;
    case MODEL_NOT_COMPILED:
        return DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_FAILED;
    }
    return DYNAMICS__V1__COMPILATION_STATE__COMPILATION_STATE_UNSPECIFIED;
}

static Dynamics__V1__Compilation *describe_compilation(call *c, model_entry *entry) {
    Dynamics__V1__Compilation *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        char reason[COMPILATION_REASON_SIZE];
        dynamics__v1__compilation__init(to);
        to->state = wire_compilation(model_entry_compilation(entry, reason));
        to->instruction_set = call_string(c, dyn_instruction_set());
        to->reason = call_string(c, reason);
    }
    return to;
}

void method_describe_model(call *c) {
    model_entry *entry = call_find_model(c, c->request->describe_model->model);
    if (!entry) {
        return;
    }
    const dyn_model *model = entry->model;
    Dynamics__V1__DescribeModelReply *reply = create_describe_model_reply(c);
    if (reply) {
        double gravity[3];
        dyn_model_gravity(model, gravity);
        call_set_model(c, entry);
        reply->model = summary_create(c, entry);
        reply->gravity = geometry_write_vector(c, gravity);
        add_joints(c, model, reply);
        add_passive_joints(c, model, reply);
        add_links(c, model, reply);
        reply->report = summary_report(c, entry, &reply->n_report);
        add_configurations(c, model, reply);
        reply->mimic = description_write_mimic(entry->options.mimic);
        reply->compilation = describe_compilation(c, entry);
        reply->n_q_names = (size_t)dyn_model_nq(model);
        reply->q_names = coordinates_spell(c, model, false);
        reply->n_v_names = (size_t)dyn_model_nv(model);
        reply->v_names = coordinates_spell(c, model, true);
        reply->constraints = constraints_describe(c, model, &reply->n_constraints);
        reply->machine_elements = machine_elements_describe(c, model, &reply->n_machine_elements);
        reply->contact_surfaces = contact_surfaces_describe(c, model, &reply->n_contact_surfaces);
    }
    model_entry_release(entry);
}
