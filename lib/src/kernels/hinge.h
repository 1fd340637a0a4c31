/*
 * Hinges: R = Rx(tilt) Rz(angle), the placement of a revolute joint's body in its parent (model/normal_form.h). A vector
 * passes by two plane rotations, 8 multiplications with R's 9, and R is never formed.
 */
#ifndef DYNAMICS_KERNELS_HINGE_H
#define DYNAMICS_KERNELS_HINGE_H

#include "instance.h"

typedef struct hinge {
    real s, c;           /* of the angle */
    real tilt_s, tilt_c; /* of the tilt */
    vec3 r;              /* the body's origin in its parent */
} hinge;

static inline hinge hinge_at(const body *b, joint_turns turns, int i) {
    hinge h;
    h.s = turns.sine[i], h.c = turns.cosine[i];
    h.tilt_c = real_set(b->tilt[0]), h.tilt_s = real_set(b->tilt[1]);
    h.r = vec3_constant(b->position);
    return h;
}

/* R' v */
static inline vec3 hinge_to_child(hinge h, vec3 v) {
    real y = real_fma(h.tilt_c, v.y, h.tilt_s * v.z);
    real z = real_fma(h.tilt_c, v.z, -(h.tilt_s * v.y));
    return vec3_set(real_fma(h.s, y, h.c * v.x), real_fma(h.c, y, -(h.s * v.x)), z);
}

/* R v */
static inline vec3 hinge_to_parent(hinge h, vec3 v) {
    real x = real_fma(h.c, v.x, -(h.s * v.y)), y = real_fma(h.s, v.x, h.c * v.y);
    return vec3_set(x, real_fma(h.tilt_c, y, -(h.tilt_s * v.z)), real_fma(h.tilt_s, y, h.tilt_c * v.z));
}

#endif
