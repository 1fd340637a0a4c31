/* SPDX-License-Identifier: BSD-2-Clause */
/* Wrenches that rotors exert on the links that carry them (rotor_force.h). Source: Modern Robotics (Lynch and Park
 * 2017), equations 8.103 to 8.111. */
#include <string.h>

#include <dynamics/frame_motion.h>
#include <dynamics/kinematics.h>
#include <dynamics/rotor_force.h>

#include "../model/description.h"
#include "../model/placement.h"
#include "../model/rotor.h"
#include "../model/vector3.h"
#include "arguments.h"
#include "base_motion.h"

/* Samples whose motion is computed together. */
enum { CHUNK = 16 };

/* Rotor with the frame of its element: the link in which the frame is fixed, and its pose there. */
typedef struct carried_rotor {
    const model_rotor *rotor;
    const body *bodies;
    int frame;
    dyn_pose at;          /* of the frame in the link */
    double position[3];   /* of the centre, in the frame */
    double axis[3];       /* unit vector, in the frame */
    double axial, across; /* moments of inertia that move with the link */
} carried_rotor;

/* Motion of the frame of a rotor: its axes in the world, and its velocities and accelerations along them. */
typedef struct carrier_motion {
    double w[3], dw[3], a[3]; /* angular velocity and its rate; acceleration of the origin less gravity */
    double spin, rise;        /* rate of the rotor relative to the link, and its rate; 0 unless the coupling is exact */
} carrier_motion;

/* Returns the machine element of a rotor, or NULL for an index that is out of range. */
static const dyn_machine_element_description *element_of(const dyn_model *model, int rotor) {
    const dyn_builder *described = model->description;
    for (int i = 0; rotor >= 0 && i < described->machine_element_count; i++) {
        const dyn_machine_element_description *element = &described->machine_elements[i];
        if (element_is_rotor(element) && rotor-- == 0) {
            return element;
        }
    }
    return NULL;
}

const char *dyn_model_rotor_name(const dyn_model *model, int rotor) {
    const dyn_machine_element_description *element = element_of(model, rotor);
    return element ? element->name : NULL;
}

static carried_rotor find_rotor(const dyn_model *model, int k) {
    const dyn_machine_element_description *element = element_of(model, k);
    const model_rotor *r = &model->rotors[k];
    const dyn_pose place = rotor_place(model, r, element);
    const double *R = place.rotation;
    carried_rotor found = {.rotor = r,
                           .bodies = model->bodies,
                           .frame = r->link,
                           .at = identity_pose,
                           .axis = {R[2], R[5], R[8]},
                           .axial = r->axial - r->carried,
                           .across = r->transverse};
    memcpy(found.position, place.position, sizeof found.position);
    if (r->driven >= 0) {
        const dyn_joint *joint = &model->joints[model->links[r->link].moving_joint];
        found.frame = joint->parent_link;
        found.at = joint->origin;
    }
    return found;
}

/* out += a x b */
static void add_cross(const double a[3], const double b[3], double out[3]) {
    double product[3];
    vector3_cross(a, b, product);
    for (int i = 0; i < 3; i++) {
        out[i] += product[i];
    }
}

/* Adds dw x p + w x (w x p), the acceleration of the point p relative to the origin, to a. */
static void add_turning(const double w[3], const double dw[3], const double p[3], double a[3]) {
    double speed[3];
    vector3_cross(w, p, speed);
    add_cross(dw, p, a);
    add_cross(w, speed, a);
}

/* Sums the rate of an exact rotor relative to its link over the joints that turn it; v may be NULL: zero. */
static double relative_rate(const carried_rotor *x, const double *v) {
    const body *first = &x->bodies[x->rotor->first_body];
    double sum = 0;
    for (int i = 0; v && rotor_is_exact(x->bodies, x->rotor) && i < x->rotor->body_count; i++) {
        sum += first[i].ratio * v[first[i].v_index];
    }
    return sum;
}

/* Transforms the motion of the link, in the world, to the axes and the origin of the rotor's frame. R is the rotation
 * of the link, `twist` and `rate` are about its origin and along the axes of the world. */
static carrier_motion turn_motion(const carried_rotor *x, const double R[9], const double gravity[3],
                                  const double twist[6], const double rate[6]) {
    double axes[9], back[9], arm[3], a[3];
    carrier_motion m = {.spin = 0};
    rotation_multiply(R, x->at.rotation, axes);
    rotation_transpose(axes, back);
    rotation_apply(R, x->at.position, arm);
    for (int i = 0; i < 3; i++) {
        a[i] = rate[3 + i] - gravity[i];
    }
    add_turning(twist, rate, arm, a);
    rotation_apply(back, twist, m.w);
    rotation_apply(back, rate, m.dw);
    rotation_apply(back, a, m.a);
    return m;
}

/* Computes the wrench of a rotor on its link: torque about the origin of its frame, then force. */
static void compute_wrench(const carried_rotor *x, const carrier_motion *m, double wrench[6]) {
    double *torque = wrench, *force = wrench + 3, a[3] = {m->a[0], m->a[1], m->a[2]}, momentum[3], rate[3];
    const double along = vector3_dot(x->axis, m->w), turning = vector3_dot(x->axis, m->dw);
    const double excess = x->axial - x->across, I = x->rotor->axial;
    add_turning(m->w, m->dw, x->position, a);
    for (int i = 0; i < 3; i++) {
        momentum[i] = x->across * m->w[i] + (excess * along + I * m->spin) * x->axis[i];
        rate[i] = x->across * m->dw[i] + (excess * turning + I * m->rise) * x->axis[i];
        force[i] = -x->rotor->mass * a[i];
    }
    add_cross(m->w, momentum, rate);
    for (int i = 0; i < 3; i++) {
        torque[i] = -rate[i];
    }
    add_cross(x->position, force, torque);
}

/* Computes the wrenches of one rotor in the samples of a block. */
static dyn_status compute_chunk(const dyn_model *model, dyn_workspace *w, const dyn_rotor_states *s,
                                const carried_rotor *x, sample_block block, double *wrenches, dyn_error *error) {
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv, first = block.first, count = block.count;
    const double *q = s->q + first * nq, *v = s->v ? s->v + first * nv : NULL, *a = s->a ? s->a + first * nv : NULL;
    const double *gravity = s->gravity ? s->gravity : model->gravity;
    const dyn_reference_frame aligned = DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED;
    double twist[CHUNK * 6], rate[CHUNK * 6], R[CHUNK * 9];
    dyn_status status;
    if (s->base) {
        const size_t skipped = first * s->base->stride;
        const dyn_base_motion base = {s->base->twist + skipped, s->base->acceleration + skipped, s->base->stride};
        status = dyn_frame_motion_on_base(model, w, count, q, v, a, x->frame, aligned, &base, twist, rate, error);
    } else {
        status = dyn_frame_motion(model, w, count, q, v, a, x->frame, aligned, twist, rate, NULL, error);
    }
    if (status == DYN_OK) {
        status = dyn_frame_pose(model, w, count, q, x->frame, NULL, R, error);
    }
    for (size_t i = 0; status == DYN_OK && i < count; i++) {
        carrier_motion m = turn_motion(x, R + 9 * i, gravity, twist + 6 * i, rate + 6 * i);
        m.spin = relative_rate(x, v ? v + i * nv : NULL);
        m.rise = relative_rate(x, a ? a + i * nv : NULL);
        compute_wrench(x, &m, wrenches + (first + i) * 6 * (size_t)model->rotor_count);
    }
    return status;
}

dyn_status dyn_housing_wrenches(const dyn_model *model, dyn_workspace *workspace, const dyn_rotor_states *states,
                                double *wrenches, dyn_error *error) {
    const dynamics_inputs in = {states->gravity, states->q, states->v, "a", states->a, NULL};
    dyn_status status = dyn_check_inputs(model, workspace, states->n, &in, error);
    if (status == DYN_OK && states->base) {
        status = dyn_check_base_motion(states->n, states->base, error);
    }
    for (int k = 0; status == DYN_OK && k < model->rotor_count; k++) {
        const carried_rotor x = find_rotor(model, k);
        for (size_t first = 0; status == DYN_OK && first < states->n; first += CHUNK) {
            const size_t left = states->n - first;
            const sample_block block = {.first = first, .count = left < CHUNK ? left : CHUNK};
            status = compute_chunk(model, workspace, states, &x, block, wrenches + 6 * k, error);
        }
    }
    return status == DYN_OK
               ? dyn_check_result(workspace, "wrenches", states->n, 6 * (size_t)model->rotor_count, wrenches, error)
               : status;
}
