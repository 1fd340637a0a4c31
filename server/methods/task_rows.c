/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of a task: reads them from a request, and names and orders them. */
#include "methods/task_rows.h"

#include <stdio.h>
#include <string.h>

#include "methods/text.h"

/* Number of rows of a frame, and index of the first linear row. */
enum { FRAME_ROWS = 6, FIRST_LINEAR = 3 };

/* Rows of one frame, in the library's order. */
static const struct {
    Dynamics__V1__TaskAxis axis;
    const char *name;
} frame_rows[FRAME_ROWS] = {
    {DYNAMICS__V1__TASK_AXIS__TASK_AXIS_ANGULAR_X, "angular x"},
    {DYNAMICS__V1__TASK_AXIS__TASK_AXIS_ANGULAR_Y, "angular y"},
    {DYNAMICS__V1__TASK_AXIS__TASK_AXIS_ANGULAR_Z, "angular z"},
    {DYNAMICS__V1__TASK_AXIS__TASK_AXIS_LINEAR_X, "linear x"},
    {DYNAMICS__V1__TASK_AXIS__TASK_AXIS_LINEAR_Y, "linear y"},
    {DYNAMICS__V1__TASK_AXIS__TASK_AXIS_LINEAR_Z, "linear z"},
};

/* Reads the axes of a frame into the library's bits; no axes select all. Returns false when the call has ended. */
static bool read_axes(batch *b, size_t request, size_t frame, const Dynamics__V1__TaskFrame *from, unsigned *bits) {
    *bits = from->n_axes == 0 ? DYN_TASK_ALL : 0;
    for (size_t i = 0; i < from->n_axes; i++) {
        int row = 0;
        while (row < FRAME_ROWS && frame_rows[row].axis != from->axes[i]) {
            row++;
        }
        call_blame(b->call, "quantities[%zu].task[%zu].axes[%zu]", request, frame, i);
        if (row == FRAME_ROWS) {
            call_fail(b->call, REASON_UNKNOWN_VALUE,
                      "%d is no axis of a task; name 1 to 3 (linear x y z) or 4 to 6 (angular x y z)",
                      (int)from->axes[i]);
            return false;
        }
        if (*bits >> row & 1) {
            call_fail(b->call, REASON_DUPLICATE, "the axis %s is named twice", frame_rows[row].name);
            return false;
        }
        *bits |= 1u << row;
    }
    return true;
}

/* Checks that no frame before frame i of the task has a row of it. Returns false when the call has ended. */
static bool check_once(batch *b, size_t i, const task_rows *rows) {
    char quoted[TEXT_QUOTE_SIZE];
    const dyn_task_frame *of = &rows->frames[i];
    for (size_t k = 0; k < i; k++) {
        unsigned common = rows->frames[k].frame == of->frame ? rows->frames[k].rows & of->rows : 0;
        if (common != 0) {
            call_blame(b->call, "quantities[%zu].task[%zu].frame", rows->request, i);
            call_fail(b->call, REASON_DUPLICATE, "the axis %s of frame %s is named twice in the task",
                      frame_rows[__builtin_ctz(common)].name, text_quote(rows->named[i]->frame, quoted));
            return false;
        }
    }
    return true;
}

/* Reads frame i of the task, which must name each row of a frame once. Returns false when the call has ended. */
static bool read_frame(batch *b, size_t i, dyn_reference_frame reference_frame, task_rows *rows) {
    const Dynamics__V1__TaskFrame *from = rows->named[i];
    dyn_task_frame *to = &rows->frames[i];
    to->reference_frame = reference_frame;
    call_blame(b->call, "quantities[%zu].task[%zu].frame", rows->request, i);
    if (!batch_find_frame(b, REASON_FRAME_NOT_FOUND, from->frame, &to->frame)) {
        return false;
    }
    return read_axes(b, rows->request, i, from, &to->rows) && check_once(b, i, rows);
}

/* Fills rows->order: the caller's rows are those of each frame, the linear ones first. */
static void order_rows(task_rows *rows) {
    int before = 0;
    for (size_t f = 0; f < rows->task.count; f++) {
        unsigned bits = rows->frames[f].rows;
        int angular = __builtin_popcount(bits & DYN_TASK_ANGULAR), linear = __builtin_popcount(bits & DYN_TASK_LINEAR);
        for (int i = 0; i < linear; i++) {
            rows->order[rows->count++] = before + angular + i;
        }
        for (int i = 0; i < angular; i++) {
            rows->order[rows->count++] = before + i;
        }
        before += angular + linear;
    }
}

bool task_rows_read(batch *b, size_t request, const Dynamics__V1__QuantityRequest *from,
                    dyn_reference_frame reference_frame, task_rows *rows) {
    *rows = (task_rows){.request = request, .named = from->task, .task = {from->n_task, rows->frames}};
    call_blame(b->call, "quantities[%zu].task", request);
    if (from->n_task == 0) {
        call_fail(b->call, REASON_MISSING_VALUE, "the quantity is of a task; name its frames, 1 to %d",
                  DYN_TASK_FRAMES);
        return false;
    }
    if (from->n_task > DYN_TASK_FRAMES) {
        call_fail(b->call, REASON_TOO_MANY_ENTRIES, "the task has %zu frames; at most %d are allowed", from->n_task,
                  DYN_TASK_FRAMES);
        call_set_limit(b->call, BOUND_TASK_FRAMES, DYN_TASK_FRAMES, from->n_task);
        return false;
    }
    for (size_t i = 0; i < from->n_task; i++) {
        if (!read_frame(b, i, reference_frame, rows)) {
            return false;
        }
    }
    order_rows(rows);
    return true;
}

/* ---- goals ------------------------------------------------------------------------------------------------------- */

/* Copies the accelerations of frame f, whose rows begin at `before`, from the caller's order to the library's. */
static void copy_accelerations(const task_rows *rows, size_t f, size_t before, size_t samples, double *to) {
    const Dynamics__V1__TaskFrame *from = rows->named[f];
    size_t own = (size_t)__builtin_popcount(rows->frames[f].rows);
    for (size_t s = 0; s < samples; s++) {
        const double *row = from->acceleration + (from->n_acceleration > own ? s * own : 0);
        for (size_t i = 0; i < own; i++) {
            to[s * rows->count + (size_t)rows->order[before + i]] = row[i];
        }
    }
}

bool task_rows_read_goal(batch *b, const Dynamics__V1__QuantityRequest *from, task_rows *rows) {
    bool varies = false;
    for (size_t f = 0; f < rows->task.count; f++) {
        size_t own = (size_t)__builtin_popcount(rows->frames[f].rows), count = from->task[f]->n_acceleration;
        if (count != 0 && count != own && count != b->n * own) {
            call_blame(b->call, "quantities[%zu].task[%zu].acceleration", rows->request, f);
            call_fail(b->call, REASON_WRONG_COUNT,
                      "there are %zu values; pass %zu, a number for each row, or %zu for %zu samples", count, own,
                      b->n * own, b->n);
            return false;
        }
        varies = varies || count > own;
        rows->priorities[f] = from->task[f]->priority;
    }
    if (!(from->damping >= 0 && from->damping <= 1)) {
        call_blame(b->call, "quantities[%zu].damping", rows->request);
        call_fail(b->call, REASON_INVALID_VALUE, "the damping is %g; pass a number from 0 to 1", from->damping);
        return false;
    }
    size_t samples = varies ? b->n : 1;
    double *accelerations = call_allocate(b->call, samples * rows->count, sizeof *accelerations);
    for (size_t f = 0, before = 0; accelerations && f < rows->task.count; f++) {
        if (from->task[f]->n_acceleration > 0) {
            copy_accelerations(rows, f, before, samples, accelerations);
        }
        before += (size_t)__builtin_popcount(rows->frames[f].rows);
    }
    rows->goal = (dyn_task_goal){rows->task, rows->priorities, accelerations, varies ? rows->count : 0, from->damping};
    return accelerations != NULL;
}

bool task_rows_check_no_goal(batch *b, const Dynamics__V1__QuantityRequest *from, const task_rows *rows) {
    for (size_t f = 0; f < rows->task.count; f++) {
        bool has_acceleration = from->task[f]->n_acceleration > 0;
        if (has_acceleration || from->task[f]->priority > 0) {
            const char *member = has_acceleration ? "acceleration" : "priority";
            call_blame(b->call, "quantities[%zu].task[%zu].%s", rows->request, f, member);
            call_fail(b->call, REASON_UNUSED_FIELD, "the quantity has no use for the %s of a task; leave it out",
                      member);
            return false;
        }
    }
    return true;
}

/* Returns the frame of row `index` of the library, and sets `row` to the index of that row among the six rows of the
 * frame. */
static size_t find_row(const task_rows *rows, int index, int *row) {
    for (size_t f = 0; f < rows->task.count; f++) {
        for (*row = 0; *row < FRAME_ROWS; ++*row) {
            if (rows->frames[f].rows >> *row & 1 && index-- == 0) {
                return f;
            }
        }
    }
    *row = 0;
    return 0;
}

char *task_rows_name(batch *b, const task_rows *rows, size_t row) {
    int of_frame;
    size_t f = find_row(rows, rows->order[row], &of_frame);
    const char *frame = rows->named[f]->frame, *axis = frame_rows[of_frame].name;
    size_t size = strlen(frame) + 1 + strlen(axis) + 1;
    char *name = call_allocate(b->call, 1, size);
    if (name) {
        snprintf(name, size, "%s %s", frame, axis);
    }
    return name;
}

bool task_rows_is_linear(const task_rows *rows, size_t row) {
    int of_frame;
    find_row(rows, rows->order[row], &of_frame);
    return of_frame >= FIRST_LINEAR;
}

bool task_rows_are_equal(const task_rows *a, const task_rows *b) {
    bool are_equal = a == b || (a->task.count == b->task.count && !a->goal.priorities && !b->goal.priorities);
    for (size_t i = 0; are_equal && i < a->task.count; i++) {
        const dyn_task_frame *x = &a->frames[i], *y = &b->frames[i];
        are_equal = x->frame == y->frame && x->reference_frame == y->reference_frame && x->rows == y->rows;
    }
    return are_equal;
}
