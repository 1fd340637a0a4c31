/*
 * Placement of every body in its parent: (R, r) = (R_T, r_T) o (R_J(q), r_J(q)), tree transform times joint transform.
 *
 * The sines of all joints are evaluated together.
 */
#include "joint_placement.h"

/* Memory: the placements, and the angles with their sines and cosines. */
size_t KERNEL(placements_memory)(const dyn_model *model) {
    return (size_t)model->body_count * (sizeof(placement) + 3 * sizeof(real));
}

placement *KERNEL(placements)(const dyn_model *model, const real *q, void **memory) {
    int count = model->body_count;
    placement *X = (placement *)*memory;
    real *angle = (real *)(X + count), *sine = angle + count, *cosine = sine + count;
    for (int i = 0; i < count; i++) {
        angle[i] = joint_angle(&model->bodies[i], q + model->bodies[i].q_index);
    }
    KERNEL(sines)(angle, count, sine, cosine);
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

joint_turns KERNEL(joint_turns)(const dyn_model *model, const real *q, void **memory) {
    int count = model->body_count;
    real *angle = (real *)*memory, *sine = angle + count, *cosine = sine + count;
    for (int i = 0; i < count; i++) {
        const body *b = &model->bodies[i];
        angle[i] = b->hinge ? q[b->q_index] + real_set(b->turn) : joint_angle(b, q + b->q_index);
    }
    KERNEL(sines)(angle, count, sine, cosine);
    joint_turns turns;
    turns.sine = sine;
    turns.cosine = cosine;
    *memory = cosine + count;
    return turns;
}
