/* SPDX-License-Identifier: BSD-2-Clause */
/* Kinematics: computes poses and Jacobians of named frames, two rows of the table of quantities. */
#include "methods/evaluation.h"
#include "methods/geometry.h"
#include "methods/methods.h"
#include "methods/text.h"

#define QUANTITY(name) DYNAMICS__V1__QUANTITY__QUANTITY_##name

/* Adds the pose and the Jacobian of each frame to the evaluation. Returns false when the call has ended. */
static bool add_frames(batch *b, evaluation *e, const Dynamics__V1__KinematicsRequest *r) {
    quantity_place at = {.subtree = -1};
    if (r->n_frames == 0) {
        call_blame(b->call, "frames");
        call_fail(b->call, REASON_MISSING_VALUE, "name at least one frame");
        return false;
    }
    if (!geometry_read_reference_frame(b->call, "reference_frame", r->reference_frame, &at.reference_frame)) {
        return false;
    }
    for (size_t i = 0; i < r->n_frames; i++) {
        call_blame(b->call, "frames[%zu]", i);
        if (!batch_find_frame(b, REASON_FRAME_NOT_FOUND, r->frames[i], &at.frame)) {
            return false;
        }
        if (!evaluation_add(b, e, QUANTITY(FRAME_POSE), &at) || !evaluation_add(b, e, QUANTITY(FRAME_JACOBIAN), &at)) {
            char quoted[TEXT_QUOTE_SIZE];
            call_fail(b->call, REASON_DUPLICATE, "frame %s is named twice", text_quote(r->frames[i], quoted));
            return false;
        }
    }
    return true;
}

/* Fills the message of a frame with the values of its pose and Jacobian, which it does not copy. */
static void fill(const batch *b, const evaluation_result *pose, const evaluation_result *jacobian,
                 Dynamics__V1__FrameKinematics *frame) {
    frame->n_position = 3 * b->n;
    frame->position = pose->values[0];
    frame->n_quaternion = 4 * b->n;
    frame->quaternion = pose->values[1];
    frame->n_linear = frame->n_angular = 3 * b->nv * b->n;
    frame->linear = jacobian->values[0];
    frame->angular = jacobian->values[1];
}

static void answer(batch *b, const evaluation *e, const Dynamics__V1__KinematicsRequest *r) {
    call *c = b->call;
    Dynamics__V1__KinematicsReply *reply = create_kinematics_reply(c);
    Dynamics__V1__FrameKinematics **frames = call_allocate(c, r->n_frames, sizeof *frames);
    Dynamics__V1__FrameKinematics *all = call_allocate(c, r->n_frames, sizeof *all);
    if (call_has_ended(c)) {
        return;
    }
    reply->samples = b->n;
    reply->nv = (uint32_t)b->nv;
    reply->reference_frame = r->reference_frame;
    reply->n_frames = r->n_frames;
    reply->frames = frames;
    for (size_t i = 0; i < r->n_frames; i++) {
        frames[i] = &all[i];
        dynamics__v1__frame_kinematics__init(frames[i]);
        frames[i]->frame = r->frames[i];
        fill(b, &e->results[2 * i], &e->results[2 * i + 1], frames[i]);
    }
}

void method_kinematics(call *c) {
    const Dynamics__V1__KinematicsRequest *r = c->request->kinematics;
    static const sent_array arrays[STATE_ARRAYS];
    batch b;
    evaluation e;
    if (batch_open(c, &b, r->query, evaluation_parts(0), r->n_q, r->q) && evaluation_open(&b, &e, 2 * r->n_frames) &&
        add_frames(&b, &e, r) && evaluation_run(&b, &e, arrays)) {
        answer(&b, &e, r);
    }
    batch_close(&b);
}
