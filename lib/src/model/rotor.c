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

/* Appends a body that spins about the z axis of the pose `place` on the parent of body `driven`. */
static void append_body(dyn_model *model, int driven, const dyn_pose *place, double ratio) {
    const body *link = &model->bodies[driven];
    body *added = &model->bodies[model->body_count++];
    *added = (body){.parent = link->parent,
                    .motion = MOTION_REVOLUTE,
                    .q_index = link->q_index,
                    .v_index = link->v_index,
                    .nq = 1,
                    .nv = 1,
                    .follows = true,
                    .ratio = ratio * link->ratio,
                    .joint = link->joint};
    memcpy(added->rotation, place->rotation, sizeof added->rotation);
    memcpy(added->position, place->position, sizeof added->position);
}

/* Appends the bodies of a rotor of a moving joint. */
static void append_spinning(dyn_model *model, const dyn_rotor *own, model_rotor *made) {
    const dyn_joint *joint = &model->joints[model->links[made->link].moving_joint];
    dyn_pose at_joint, place, in_joint = place_in_joint(own, joint->axis);
    pose_compose(&model->frames[joint->parent_link].pose, &joint->origin, &at_joint);
    pose_compose(&at_joint, &in_joint, &place);
    bool is_exact = own->coupling == DYN_ROTOR_COUPLING_EXACT;
    made->body_count = is_exact ? 1 : 2;
    append_body(model, made->driven, &place, own->ratio);
    if (!is_exact) {
        append_body(model, made->driven, &place, -own->ratio);
    }
    model->has_coupling = true;
}

dyn_status append_rotors(const dyn_builder *builder, dyn_error *error, dyn_model *model) {
    model->link_bodies = model->body_count;
    model->rotors = calloc((size_t)count_rotors(builder) + 1, sizeof *model->rotors);
    if (!model->rotors) {
        return dyn_error_memory(error);
    }
    for (int i = 0; i < builder->machine_element_count; i++) {
        const dyn_machine_element_description *e = &builder->machine_elements[i];
        if (e->kind != DYN_MACHINE_ELEMENT_KIND_ROTOR) {
            continue;
        }
        int j = name_index_find(&builder->joint_names, e->joint);
        model_rotor *made = &model->rotors[model->rotor_count++];
        *made =
            (model_rotor){.link = name_index_find(&model->joint_names, e->joint),
                          .driven = -1,
                          .first_body = model->body_count,
                          .mass = e->rotor.mass,
                          .axial = e->rotor.axial_inertia,
                          .transverse = e->rotor.transverse_inertia,
                          .carried = e->rotor.coupling == DYN_ROTOR_COUPLING_REFLECTED ? e->rotor.axial_inertia : 0};
        if (builder->joints[j].type == DYN_JOINT_TYPE_FIXED) {
            const double z[3] = {0, 0, 1};
            made->fixed = place_in_joint(&e->rotor, z);
        } else {
            made->driven = model->frames[made->link].body;
            append_spinning(model, &e->rotor, made);
        }
    }
    return DYN_OK;
}

int rotor_carrier(const dyn_model *model, const model_rotor *r) {
    return r->driven < 0 ? model->frames[r->link].body : model->bodies[r->first_body].parent;
}

/* Returns the pose of a rotor in the frame of the body that carries it. */
static dyn_pose place_in_carrier(const dyn_model *model, const model_rotor *r) {
    dyn_pose place;
    if (r->driven < 0) {
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
    double along = (r->driven < 0 ? r->axial : 0) - r->carried;
    const dyn_inertia inertia = {.mass = r->mass, .rotational = {r->transverse, 0, 0, r->transverse, 0, along}};
    dyn_pose place = place_in_carrier(model, r);
    body_merge(carrier, &inertia, &place);
}

/* Sets the inertias of the bodies of a rotor, `axial` in all about its axis. */
static void set_spinning(const model_rotor *r, double axial, body *bodies) {
    const dyn_inertia spinning = {.rotational = {0, 0, 0, 0, 0, axial / r->body_count}};
    for (int i = r->first_body; i < r->first_body + r->body_count; i++) {
        body_clear_inertia(&bodies[i]);
        body_merge(&bodies[i], &spinning, &identity_pose);
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

void merge_rotors(const dyn_model *model, body *bodies) {
    for (int i = 0; i < model->rotor_count; i++) {
        const model_rotor *r = &model->rotors[i];
        int carrier = rotor_carrier(model, r);
        if (carrier >= 0) {
            merge_carried(model, r, &bodies[carrier]);
        }
        if (r->driven >= 0) {
            set_spinning(r, r->axial, bodies);
        }
    }
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
    group_inertias(bodies, model->body_count);
    round_constants(bodies, model->body_count);
}

void rotor_coupling_alone(const dyn_model *model, body *bodies) {
    copy_massless(model, bodies);
    for (int i = 0; i < model->rotor_count; i++) {
        const model_rotor *r = &model->rotors[i];
        const dyn_inertia less = {.rotational = {0, 0, 0, 0, 0, -r->axial}};
        bool is_exact = r->driven >= 0 && r->body_count == 1;
        int carrier = rotor_carrier(model, r);
        if (is_exact) {
            set_spinning(r, r->axial, bodies);
        }
        if (is_exact && carrier >= 0) {
            dyn_pose place = place_in_carrier(model, r);
            body_merge(&bodies[carrier], &less, &place);
        }
    }
    group_inertias(bodies, model->body_count);
    round_constants(bodies, model->body_count);
}
