/* SPDX-License-Identifier: BSD-2-Clause */
#include "rotor.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "group_inertias.h"
#include "machine_element.h"
#include "merge.h"
#include "placement.h"
#include "round_constants.h"

/* Returns the pose of a rotor, whose z axis is its own, in the frame of its joint. Without an axis it has `axis`. */
static dyn_pose place_in_joint(const dyn_rotor *rotor, const double axis[3]) {
    const double *own = rotor->axis;
    bool is_coaxial = own[0] == 0 && own[1] == 0 && own[2] == 0;
    dyn_pose place = identity_pose;
    memcpy(place.position, rotor->position, sizeof place.position);
    rotation_from_z(is_coaxial ? axis : own, place.rotation);
    return place;
}

bool element_is_rotor(const dyn_machine_element_description *element) {
    const dyn_rotor *rotor = &element->rotor;
    return element->kind == DYN_MACHINE_ELEMENT_KIND_ROTOR ||
           (element->kind == DYN_MACHINE_ELEMENT_KIND_SHAFT && (rotor->axial_inertia != 0 || rotor->mass != 0));
}

dyn_pose rotor_place(const dyn_model *model, const model_rotor *r, const dyn_machine_element_description *element) {
    bool has_joint = element->kind == DYN_MACHINE_ELEMENT_KIND_ROTOR && r->body_count > 0;
    return has_joint ? place_in_joint(&element->rotor, model->joints[model->links[r->link].moving_joint].axis)
                     : r->fixed;
}

/* Joints that turn a shaft: their bodies, and the rate of the shaft over that of each. */
typedef struct turning_joints {
    int count, bodies[DYN_MAX_SHAFT_JOINTS];
    double ratios[DYN_MAX_SHAFT_JOINTS];
} turning_joints;

/* Appends a chain of bodies on the body `carrier` that spin about the z axis of the pose `place`, one for each of the
 * joints, so that the rate of the last one is `sign` times the sum of theirs. */
static void append_chain(dyn_model *model, int carrier, const dyn_pose *place, const turning_joints *joints,
                         double sign) {
    for (int k = 0; k < joints->count; k++) {
        const body *driver = &model->bodies[joints->bodies[k]];
        const dyn_pose *at = k == 0 ? place : &identity_pose;
        int last = model->body_count - 1;
        body *added = &model->bodies[model->body_count++];
        *added = (body){.parent = k == 0 ? carrier : last,
                        .motion = MOTION_REVOLUTE,
                        .q_index = driver->q_index,
                        .v_index = driver->v_index,
                        .nq = 1,
                        .nv = 1,
                        .follows = true,
                        .ratio = sign * joints->ratios[k] * driver->ratio,
                        .joint = driver->joint};
        memcpy(added->rotation, at->rotation, sizeof added->rotation);
        memcpy(added->position, at->position, sizeof added->position);
    }
}

/* Appends the bodies of a rotor on the body `carrier`. */
static void append_spinning(dyn_model *model, int carrier, const dyn_pose *place, const turning_joints *joints,
                            bool is_exact, model_rotor *made) {
    append_chain(model, carrier, place, joints, 1);
    if (!is_exact) {
        append_chain(model, carrier, place, joints, -1);
    }
    made->body_count = model->body_count - made->first_body;
    model->has_coupling = true;
}

/* Returns what is common to the rotors of all kinds of elements. */
static model_rotor rotor_of(const dyn_rotor *own, int first_body) {
    return (model_rotor){.driven = -1,
                         .first_body = first_body,
                         .mass = own->mass,
                         .axial = own->axial_inertia,
                         .transverse = own->transverse_inertia,
                         .carried = own->coupling == DYN_ROTOR_COUPLING_REFLECTED ? own->axial_inertia : 0};
}

/* Appends the rotor of a joint. */
static void append_rotor(const dyn_builder *builder, const dyn_machine_element_description *e, dyn_model *model) {
    int j = name_index_find(&builder->joint_names, e->joint);
    model_rotor *made = &model->rotors[model->rotor_count++];
    *made = rotor_of(&e->rotor, model->body_count);
    made->link = name_index_find(&model->joint_names, e->joint);
    if (builder->joints[j].type == DYN_JOINT_TYPE_FIXED) {
        const double z[3] = {0, 0, 1};
        made->fixed = place_in_joint(&e->rotor, z);
        return;
    }
    const dyn_joint *joint = &model->joints[model->links[made->link].moving_joint];
    dyn_pose at_joint, place, in_joint = place_in_joint(&e->rotor, joint->axis);
    pose_compose(&model->frames[joint->parent_link].pose, &joint->origin, &at_joint);
    pose_compose(&at_joint, &in_joint, &place);
    made->driven = model->frames[made->link].body;
    const turning_joints driven = {1, {made->driven}, {e->rotor.ratio}};
    append_spinning(model, model->bodies[made->driven].parent, &place, &driven,
                    e->rotor.coupling == DYN_ROTOR_COUPLING_EXACT, made);
}

/* Appends the rotor of a shaft. Fixed joints do not turn it. */
static void append_shaft(const dyn_builder *builder, const dyn_machine_element_description *e, dyn_model *model) {
    const double z[3] = {0, 0, 1};
    turning_joints joints = {0};
    for (int k = 0; k < e->shaft.joint_count; k++) {
        int link = name_index_find(&model->joint_names, e->shaft.joints[k]);
        int j = name_index_find(&builder->joint_names, e->shaft.joints[k]);
        if (builder->joints[j].type != DYN_JOINT_TYPE_FIXED) {
            joints.bodies[joints.count] = model->frames[link].body;
            joints.ratios[joints.count++] = e->shaft.ratios[k];
        }
    }
    if (!element_is_rotor(e)) {
        return;
    }
    model_rotor *made = &model->rotors[model->rotor_count++];
    *made = rotor_of(&e->rotor, model->body_count);
    made->link = e->link ? name_index_find(&model->link_names, e->link) : -1;
    made->fixed = place_in_joint(&e->rotor, z);
    if (joints.count > 0 && e->rotor.axial_inertia > 0) {
        int carrier = made->link >= 0 ? model->frames[made->link].body : -1;
        dyn_pose place = made->fixed;
        if (made->link >= 0) {
            pose_compose(&model->frames[made->link].pose, &made->fixed, &place);
        }
        append_spinning(model, carrier, &place, &joints, e->rotor.coupling == DYN_ROTOR_COUPLING_EXACT, made);
        model->has_mimic = true;
    }
}

dyn_status append_rotors(const dyn_builder *builder, dyn_error *error, dyn_model *model) {
    model->link_bodies = model->body_count;
    model->rotors = calloc((size_t)count_rotors(builder) + 1, sizeof *model->rotors);
    if (!model->rotors) {
        return dyn_error_memory(error);
    }
    for (int i = 0; i < builder->machine_element_count; i++) {
        const dyn_machine_element_description *e = &builder->machine_elements[i];
        if (e->kind == DYN_MACHINE_ELEMENT_KIND_ROTOR) {
            append_rotor(builder, e, model);
        } else if (e->kind == DYN_MACHINE_ELEMENT_KIND_SHAFT) {
            append_shaft(builder, e, model);
        }
    }
    return DYN_OK;
}

int rotor_carrier(const dyn_model *model, const model_rotor *r) {
    if (r->body_count > 0) {
        return model->bodies[r->first_body].parent;
    }
    return r->link >= 0 ? model->frames[r->link].body : -1;
}

bool rotor_is_exact(const body *bodies, const model_rotor *r) {
    int chains = 0;
    for (int i = r->first_body; i < r->first_body + r->body_count; i++) {
        chains += rotor_ends_at(bodies, r, i);
    }
    return chains == 1;
}

/* Returns the pose of a rotor in the frame of the body that carries it. */
static dyn_pose place_in_carrier(const dyn_model *model, const model_rotor *r) {
    dyn_pose place;
    if (r->body_count == 0) {
        pose_compose(&model->frames[r->link].pose, &r->fixed, &place);
        return place;
    }
    const body *first = &model->bodies[r->first_body];
    memcpy(place.rotation, first->rotation, sizeof place.rotation);
    memcpy(place.position, first->position, sizeof place.position);
    return place;
}

/* All of a rotor that spins but its axial inertia moves with the body that carries it. The axial inertia of its own
 * bodies moves with it too, and is subtracted where the link of the body includes it. */
void merge_carried(const dyn_model *model, const model_rotor *r, body *carrier) {
    double along = (r->body_count == 0 ? r->axial : 0) - r->carried;
    const dyn_inertia inertia = {.mass = r->mass, .rotational = {r->transverse, 0, 0, r->transverse, 0, along}};
    dyn_pose place = place_in_carrier(model, r);
    body_merge(carrier, &inertia, &place);
}

/* Sets the inertias of the bodies of a rotor: its axial inertia at the ends of its chains, in equal parts. */
static void set_spinning(const model_rotor *r, body *bodies) {
    double parts = rotor_is_exact(bodies, r) ? 1 : 2;
    const dyn_inertia spinning = {.rotational = {0, 0, 0, 0, 0, r->axial / parts}};
    for (int i = r->first_body; i < r->first_body + r->body_count; i++) {
        body_clear_inertia(&bodies[i]);
        if (rotor_ends_at(bodies, r, i)) {
            body_merge(&bodies[i], &spinning, &identity_pose);
        }
    }
}

/* Adds body i, which spins, to the constants of the joint that it drives and of the body that carries it. */
static void add_to_driven(const body *spinning, body *driven, body *carrier) {
    const double *R = spinning->rotation, u[3] = {R[2], R[5], R[8]};
    double I = spinning->inertia[5], G = spinning->ratio;
    driven->is_driven = true;
    driven->reflected_inertia += G * G * I;
    for (int i = 0, k = 0; i < 3; i++) {
        driven->rotor_couple[i] += G * I * u[i];
        for (int j = i; j < 3 && carrier; j++, k++) {
            carrier->carried_inertia[k] += I * u[i] * u[j];
        }
    }
}

/* Finds the constants of driven joints and of the bodies that carry their rotors. */
static void find_driven(const dyn_model *model, body *bodies) {
    for (int i = 0; i < model->body_count; i++) {
        memcpy(bodies[i].carried_inertia, bodies[i].inertia, sizeof bodies[i].carried_inertia);
        memset(bodies[i].rotor_couple, 0, sizeof bodies[i].rotor_couple);
        bodies[i].reflected_inertia = 0;
    }
    for (int k = 0; k < model->rotor_count; k++) {
        const model_rotor *r = &model->rotors[k];
        for (int i = r->first_body; r->driven >= 0 && i < r->first_body + r->body_count; i++) {
            int carrier = bodies[i].parent;
            add_to_driven(&bodies[i], &bodies[r->driven], carrier >= 0 ? &bodies[carrier] : NULL);
        }
    }
}

void merge_rotors(const dyn_model *model, body *bodies) {
    for (int i = 0; i < model->rotor_count; i++) {
        const model_rotor *r = &model->rotors[i];
        int carrier = rotor_carrier(model, r);
        if (carrier >= 0) {
            merge_carried(model, r, &bodies[carrier]);
        }
        set_spinning(r, bodies);
    }
    find_driven(model, bodies);
}

/* Copies the bodies of a model without their inertias. */
static void copy_massless(const dyn_model *model, body *bodies) {
    memcpy(bodies, model->bodies, (size_t)model->body_count * sizeof *bodies);
    for (int i = 0; i < model->body_count; i++) {
        body_clear_inertia(&bodies[i]);
    }
}

void rotors_alone(const dyn_model *model, body *bodies) {
    copy_massless(model, bodies);
    merge_rotors(model, bodies);
    group_inertias(model, bodies);
    round_constants(bodies, model->body_count);
}

void rotor_coupling_alone(const dyn_model *model, body *bodies) {
    copy_massless(model, bodies);
    for (int i = 0; i < model->rotor_count; i++) {
        const model_rotor *r = &model->rotors[i];
        const dyn_inertia less = {.rotational = {0, 0, 0, 0, 0, -r->axial}};
        bool is_exact = rotor_is_exact(bodies, r);
        int carrier = rotor_carrier(model, r);
        if (is_exact) {
            set_spinning(r, bodies);
        }
        if (is_exact && carrier >= 0) {
            dyn_pose place = place_in_carrier(model, r);
            body_merge(&bodies[carrier], &less, &place);
        }
    }
    find_driven(model, bodies);
    group_inertias(model, bodies);
    round_constants(bodies, model->body_count);
}
