/* SPDX-License-Identifier: BSD-2-Clause */
/* Kinematics: poses and Jacobians of named frames. */
#include <dynamics/dynamics.h>

#include "methods/batch.h"
#include "methods/methods.h"

/* ns for one frame of one sample, and for one coordinate of its Jacobian, roughly. */
static const double FRAME_COST = 80;
static const double COLUMN_COST = 15;

/* Computation for one frame. */
typedef struct frame_task {
    int frame;
    dyn_reference_frame reference_frame;
    double *position, *quaternion; /* n x 3, n x 4; NULL: no poses */
    double *linear, *angular;      /* n x 3 x nv; NULL: no Jacobians */
} frame_task;

/* Splits J (angular rows first) into its blocks. */
static void split_jacobian(const batch *b, const frame_task *task, const double *jacobian, size_t first, size_t count) {
    size_t half = 3 * b->nv;
    for (size_t s = 0; s < count; s++) {
        const double *J = jacobian + s * 2 * half;
        for (size_t k = 0; k < half; k++) {
            task->angular[(first + s) * half + k] = J[k];
            task->linear[(first + s) * half + k] = J[half + k];
        }
    }
}

static dyn_status kinematics_step(const batch *b, const batch_worker *w, const void *context, size_t first,
                                  size_t count, dyn_error *error) {
    const frame_task *task = context;
    const double *q = b->q + first * b->nq;
    double *scratch = w->scratch; /* block x 9 rotations, or block x 6 x nv Jacobians */
    dyn_status status = DYN_OK;
    if (task->position) {
        status =
            dyn_frame_pose(b->model, w->workspace, count, q, task->frame, error, task->position + first * 3, scratch);
        for (size_t s = 0; status == DYN_OK && s < count; s++) {
            dyn_rotation_to_quaternion(scratch + s * 9, task->quaternion + (first + s) * 4);
        }
    }
    if (status == DYN_OK && task->linear) {
        status =
            dyn_frame_jacobian(b->model, w->workspace, count, q, task->frame, task->reference_frame, error, scratch);
        if (status == DYN_OK) {
            split_jacobian(b, task, scratch, first, count);
        }
    }
    return status;
}

/* Bytes that a thread needs for one block. */
static size_t scratch_size(const batch *b, const Dynamics__V1__KinematicsRequest *r) {
    size_t samples = b->n < BLOCK_SAMPLES ? b->n : BLOCK_SAMPLES;
    size_t values = r->jacobians && 6 * b->nv > 9 ? 6 * b->nv : 9;
    return samples * values * sizeof(double);
}

/* Finds all frames before anything is computed. */
static int *find_frames(batch *b, size_t count, char *const *names) {
    int *frames = call_allocate(b->call, count, sizeof *frames);
    for (size_t i = 0; frames && i < count; i++) {
        call_blame(b->call, "frames[%zu]", i);
        if (!batch_find_frame(b, REASON_FRAME_NOT_FOUND, names[i], &frames[i])) {
            return NULL;
        }
    }
    return frames;
}

/* Checks what is asked for; `frame` receives the reference frame. */
static bool check_request(batch *b, const Dynamics__V1__KinematicsRequest *r, dyn_reference_frame *frame) {
    if (r->n_frames == 0) {
        call_blame(b->call, "frames");
        call_fail(b->call, REASON_MISSING_VALUE, "name at least one frame");
    } else if (!r->poses && !r->jacobians) {
        call_blame(b->call, "poses");
        call_fail(b->call, REASON_MISSING_VALUE, "ask for poses, for jacobians or for both");
    }
    if (!call_has_ended(b->call)) {
        call_blame(b->call, "reference_frame");
        batch_reference_frame(b, r->reference_frame, frame);
    }
    return !call_has_ended(b->call);
}

/* Memory for one frame's results. */
static bool allocate(batch *b, const Dynamics__V1__KinematicsRequest *r, frame_task *task) {
    if (r->poses) {
        task->position = batch_output(b, 3);
        task->quaternion = batch_output(b, 4);
    }
    if (r->jacobians) {
        task->linear = batch_output(b, 3 * b->nv);
        task->angular = batch_output(b, 3 * b->nv);
    }
    return !call_has_ended(b->call);
}

/* Writes one frame's results into the reply. */
static Dynamics__V1__FrameKinematics *fill(batch *b, const char *name, const frame_task *task) {
    Dynamics__V1__FrameKinematics *frame = call_allocate(b->call, 1, sizeof *frame);
    if (!frame) {
        return NULL;
    }
    dynamics__v1__frame_kinematics__init(frame);
    frame->frame = (char *)(uintptr_t)name;
    if (task->position) {
        frame->n_position = 3 * b->n;
        frame->position = task->position;
        frame->n_quaternion = 4 * b->n;
        frame->quaternion = task->quaternion;
    }
    if (task->linear) {
        frame->n_linear = frame->n_angular = 3 * b->nv * b->n;
        frame->linear = batch_columns(b, 3, task->linear);
        frame->angular = batch_columns(b, 3, task->angular);
    }
    return frame;
}

/* Computes all frames. */
static void compute(batch *b, const Dynamics__V1__KinematicsRequest *r, dyn_reference_frame reference_frame,
                    const int *frames) {
    call *c = b->call;
    Dynamics__V1__KinematicsReply *reply = call_allocate(c, 1, sizeof *reply);
    Dynamics__V1__FrameKinematics **results = call_allocate(c, r->n_frames, sizeof *results);
    frame_task task = {.reference_frame = reference_frame};
    for (size_t i = 0; !call_has_ended(c) && i < r->n_frames; i++) {
        task.frame = frames[i];
        if (allocate(b, r, &task) && batch_run(b, kinematics_step, &task, scratch_size(b, r))) {
            results[i] = fill(b, r->frames[i], &task);
        }
    }
    if (call_has_ended(c)) {
        return;
    }
    dynamics__v1__kinematics_reply__init(reply);
    reply->samples = b->n;
    reply->nv = (uint32_t)b->nv;
    reply->reference_frame = r->reference_frame;
    reply->n_frames = r->n_frames;
    reply->frames = results;
    c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_KINEMATICS;
    c->reply.kinematics = reply;
}

void method_kinematics(call *c) {
    const Dynamics__V1__KinematicsRequest *r = c->request->kinematics;
    batch b;
    int *frames = NULL;
    dyn_reference_frame reference_frame = DYN_LOCAL;
    if (batch_open(c, &b, r->query, QUERY_JOINT_NAMES | QUERY_PRECISION, r->n_q, r->q) &&
        check_request(&b, r, &reference_frame)) {
        frames = find_frames(&b, r->n_frames, r->frames);
    }
    if (frames) {
        double cost = 0;
        if (r->poses) {
            batch_expect(&b, 7 * r->n_frames);
            cost += FRAME_COST;
        }
        if (r->jacobians) {
            batch_expect(&b, 6 * b.nv * r->n_frames);
            cost += FRAME_COST + COLUMN_COST * (double)b.nv;
        }
        if (batch_begin(&b, cost * (double)r->n_frames)) {
            compute(&b, r, reference_frame, frames);
        }
    }
    batch_close(&b);
}
