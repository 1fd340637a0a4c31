/* SPDX-License-Identifier: BSD-2-Clause */
/* Kinematics: poses and Jacobians of named frames, two rows of the table of quantities. */
#include "methods/evaluation.h"
#include "methods/methods.h"

#define QUANTITY(name) DYNAMICS__V1__QUANTITY__QUANTITY_##name

/* Adds what is asked for of each frame. */
static bool add_frames(batch *b, evaluation *e, const Dynamics__V1__KinematicsRequest *r) {
    quantity_place at = {.subtree = -1};
    call_blame(b->call, "reference_frame");
    bool may_lack = !r->jacobians && r->reference_frame == 0;
    if (!may_lack && !batch_reference_frame(b, r->reference_frame, &at.reference_frame)) {
        return false;
    }
    for (size_t i = 0; i < r->n_frames; i++) {
        call_blame(b->call, "frames[%zu]", i);
        if (!batch_find_frame(b, REASON_FRAME_NOT_FOUND, r->frames[i], &at.frame)) {
            return false;
        }
        if ((r->poses && !evaluation_add(b, e, QUANTITY(FRAME_POSE), &at)) ||
            (r->jacobians && !evaluation_add(b, e, QUANTITY(FRAME_JACOBIAN), &at))) {
            return evaluation_fail_twice(b, r->frames[i]);
        }
    }
    return true;
}

/* Checks what is asked for. */
static bool check_request(batch *b, const Dynamics__V1__KinematicsRequest *r) {
    if (r->n_frames == 0) {
        call_blame(b->call, "frames");
        call_fail(b->call, REASON_MISSING_VALUE, "name at least one frame");
    } else if (!r->poses && !r->jacobians) {
        call_blame(b->call, "poses");
        call_fail(b->call, REASON_MISSING_VALUE, "ask for poses, for jacobians or for both");
    }
    return !call_has_ended(b->call);
}

/* Writes the results of one frame into the reply; returns the result behind them. */
static const evaluation_result *fill(const batch *b, const Dynamics__V1__KinematicsRequest *r,
                                     const evaluation_result *next, Dynamics__V1__FrameKinematics *frame) {
    if (r->poses) {
        frame->n_position = 3 * b->n;
        frame->position = next->values[0];
        frame->n_quaternion = 4 * b->n;
        frame->quaternion = next->values[1];
        next++;
    }
    if (r->jacobians) {
        frame->n_linear = frame->n_angular = 3 * b->nv * b->n;
        frame->linear = next->values[0];
        frame->angular = next->values[1];
        next++;
    }
    return next;
}

static void answer(batch *b, const evaluation *e, const Dynamics__V1__KinematicsRequest *r) {
    call *c = b->call;
    Dynamics__V1__KinematicsReply *reply = call_allocate(c, 1, sizeof *reply);
    Dynamics__V1__FrameKinematics **frames = call_allocate(c, r->n_frames, sizeof *frames);
    Dynamics__V1__FrameKinematics *all = call_allocate(c, r->n_frames, sizeof *all);
    if (call_has_ended(c)) {
        return;
    }
    dynamics__v1__kinematics_reply__init(reply);
    reply->samples = b->n;
    reply->nv = (uint32_t)b->nv;
    reply->reference_frame = r->reference_frame;
    reply->n_frames = r->n_frames;
    reply->frames = frames;
    const evaluation_result *next = e->results;
    for (size_t i = 0; i < r->n_frames; i++) {
        frames[i] = &all[i];
        dynamics__v1__frame_kinematics__init(frames[i]);
        frames[i]->frame = r->frames[i];
        next = fill(b, r, next, frames[i]);
    }
    c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_KINEMATICS;
    c->reply.kinematics = reply;
}

void method_kinematics(call *c) {
    const Dynamics__V1__KinematicsRequest *r = c->request->kinematics;
    static const sent_array arrays[STATE_ARRAYS];
    batch b;
    evaluation e;
    if (batch_open(c, &b, r->query, evaluation_parts(0), r->n_q, r->q) && check_request(&b, r) &&
        evaluation_open(&b, &e, 2 * r->n_frames) && add_frames(&b, &e, r) && evaluation_run(&b, &e, arrays)) {
        answer(&b, &e, r);
    }
    batch_close(&b);
}
