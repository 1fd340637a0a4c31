/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the placement of every body in its parent: (R, r) = (R_T, r_T) o (R_J(q), r_J(q)), tree transform times
 * joint transform.
 *
 * The sines of all joints are computed in one call. A rotor is axisymmetric, so that its frame need not spin: its angle
 * is zero.
 *
 * Source: Featherstone 2008, section 4.1 and table 4.1.
 */
#include "../model/joint_placement.h"
#include "instance.h"
#include "sines.h"

/* Returns the bytes of scratch memory of the placements, and of the angles with their sines and cosines. */
size_t KERNEL(placements_memory)(const dyn_model *model) {
    return (size_t)model->body_count * (sizeof(placement) + 3 * sizeof(real));
}

/* Sets the turns of the rotors, which follow those of the links. */
static inline void set_rotor_turns(const dyn_model *model, real *sine, real *cosine) {
    for (int i = model->link_bodies; i < model->body_count; i++) {
        sine[i] = real_set(0);
        cosine[i] = real_set(1);
    }
}

placement *KERNEL(placements)(const dyn_model *model, const real *q, void **memory) {
    int count = model->body_count;
    placement *X = (placement *)*memory;
    real *angle = (real *)(X + count), *sine = angle + count, *cosine = sine + count;
    int links = model->link_bodies;
    for (int i = 0; i < links; i++) {
        angle[i] = joint_angle(&model->bodies[i], q + model->bodies[i].q_index);
    }
    KERNEL(sines)(angle, links, sine, cosine);
    set_rotor_turns(model, sine, cosine);
    for (int i = 0; i < count; i++) {
        X[i] = joint_placement(&model->bodies[i], q + model->bodies[i].q_index, sine[i], cosine[i]);
    }
    *memory = cosine + count;
    return X;
}

void KERNEL(path_placements)(const dyn_model *model, const real *q, const int *path, int count, real *angles,
                             placement *X) {
    real *sine = angles + count, *cosine = sine + count;
    for (int k = 0; k < count; k++) {
        angles[k] = joint_angle(&model->bodies[path[k]], q + model->bodies[path[k]].q_index);
    }
    KERNEL(sines)(angles, count, sine, cosine);
    for (int k = 0; k < count; k++) {
        const body *b = &model->bodies[path[k]];
        X[k] = joint_placement(b, q + b->q_index, sine[k], cosine[k]);
    }
}

/* Returns the angle of a joint about its z axis, with the turn of the normal form if it is a hinge. */
static inline real turn_angle(const body *b, const real *q) {
    return b->hinge ? q[b->q_index] + rounded_set(constants_of(b)->turn) : joint_angle(b, q + b->q_index);
}

#if defined DYN_VECTOR_SINES

/* Computes sine and cosine of as many joints as fill a pack, whose angles stay in registers. */
static inline void pack_of_turns(const body *bodies, const real *q, real *sine, real *cosine) {
    real angle[REALS_OF_PACK];
    for (int i = 0; i < REALS_OF_PACK; i++) {
        angle[i] = turn_angle(&bodies[i], q);
    }
    sincos_at((const number *)angle, (number *)sine, (number *)cosine);
}

#endif

joint_turns KERNEL(joint_turns)(const dyn_model *model, const real *q, void **memory) {
    int count = model->link_bodies, i = 0;
    real *angle = (real *)*memory, *sine = angle + model->body_count, *cosine = sine + model->body_count;
#if defined DYN_VECTOR_SINES
    for (; i + REALS_OF_PACK <= count; i += REALS_OF_PACK) {
        pack_of_turns(&model->bodies[i], q, sine + i, cosine + i);
    }
    /* The last pack overlaps the one before. */
    if (i < count && count >= REALS_OF_PACK) {
        i = count - REALS_OF_PACK;
        pack_of_turns(&model->bodies[i], q, sine + i, cosine + i);
        i = count;
    }
#endif
    if (i < count) {
        for (; i < count; i++) {
            angle[i] = turn_angle(&model->bodies[i], q);
        }
        KERNEL(sines)(angle, count, sine, cosine);
    }
    set_rotor_turns(model, sine, cosine);
    joint_turns turns;
    turns.sine = sine;
    turns.cosine = cosine;
    *memory = cosine + model->body_count;
    return turns;
}
