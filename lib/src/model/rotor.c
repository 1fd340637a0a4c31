/* SPDX-License-Identifier: BSD-2-Clause */
#include "rotor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "machine_element.h"
#include "merge.h"
#include "placement.h"

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

/* Adds a rotor that does not spin to the body that carries it. */
static void merge_fixed(const dyn_model *model, const model_rotor *r, body *bodies) {
    const dyn_inertia inertia = {.mass = r->mass,
                                 .rotational = {r->transverse, 0, 0, r->transverse, 0, r->axial - r->carried}};
    const body_frame *frame = &model->frames[r->link];
    dyn_pose place;
    pose_compose(&frame->pose, &r->fixed, &place);
    if (frame->body >= 0) {
        body_merge(&bodies[frame->body], &inertia, &place);
    }
}

/* Adds all of a rotor but its axial inertia to the body that carries it, and the axial inertia to its own bodies. Their
 * inertia moves with the carrying body too, and is subtracted from it where its link includes it. */
static void merge_spinning(const model_rotor *r, body *bodies) {
    const dyn_inertia inertia = {.mass = r->mass, .rotational = {r->transverse, 0, 0, r->transverse, 0, -r->carried}};
    const body *first = &bodies[r->first_body];
    dyn_pose place;
    memcpy(place.rotation, first->rotation, sizeof place.rotation);
    memcpy(place.position, first->position, sizeof place.position);
    if (first->parent >= 0) {
        body_merge(&bodies[first->parent], &inertia, &place);
    }
    const dyn_inertia spinning = {.rotational = {0, 0, 0, 0, 0, r->axial / r->body_count}};
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
        if (model->rotors[i].driven < 0) {
            merge_fixed(model, &model->rotors[i], bodies);
        } else {
            merge_spinning(&model->rotors[i], bodies);
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

dyn_status refuse_rotors(const dyn_model *model, const char *function, dyn_error *error) {
    const dyn_machine_element_description *e = model->description->machine_elements;
    if (model->rotor_count == 0) {
        return DYN_OK;
    }
    while (e->kind != DYN_MACHINE_ELEMENT_KIND_ROTOR) {
        e++;
    }
    char place[DYN_PLACE_SIZE];
    snprintf(place, sizeof place, "machine element %s", e->name);
    return dyn_error_set(error, DYN_FAILED_PRECONDITION, place,
                         "%s considers the inertias of links alone, without the rotor \"%s\"; use a model without "
                         "rotors",
                         function, e->name);
}
