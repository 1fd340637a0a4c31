/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of a task. */
#include "methods/task_rows.h"

#include <stdio.h>
#include <string.h>

/* The library's rows in words. */
static const char *const ROW_NAMES[6] = {"angular x", "angular y", "angular z", "linear x", "linear y", "linear z"};

/* The library's row of an axis; -1 for none. */
static int row_of(Dynamics__V1__TaskAxis axis) {
    switch (axis) {
    case DYNAMICS__V1__TASK_AXIS__TASK_AXIS_ANGULAR_X:
        return 0;
    case DYNAMICS__V1__TASK_AXIS__TASK_AXIS_ANGULAR_Y:
        return 1;
    case DYNAMICS__V1__TASK_AXIS__TASK_AXIS_ANGULAR_Z:
        return 2;
    case DYNAMICS__V1__TASK_AXIS__TASK_AXIS_LINEAR_X:
        return 3;
    case DYNAMICS__V1__TASK_AXIS__TASK_AXIS_LINEAR_Y:
        return 4;
    case DYNAMICS__V1__TASK_AXIS__TASK_AXIS_LINEAR_Z:
        return 5;
    default:
        return -1;
    }
}

/* The bits of the axes. */
static bool take_axes(batch *b, size_t count, const Dynamics__V1__TaskAxis *axes, unsigned *rows) {
    *rows = count == 0 ? DYN_TASK_ALL : 0;
    for (size_t i = 0; i < count; i++) {
        int row = row_of(axes[i]);
        call_blame(b->call, "task_axes[%zu]", i);
        if (row < 0) {
            call_fail(b->call, REASON_UNKNOWN_VALUE,
                      "%d is no axis of a task; give 1 to 3 (linear x y z) or 4 to 6 (angular x y z)", (int)axes[i]);
            return false;
        }
        if (*rows >> row & 1) {
            call_fail(b->call, REASON_DUPLICATE, "the axis %s is given twice", ROW_NAMES[row]);
            return false;
        }
        *rows |= 1u << row;
    }
    return true;
}

bool task_rows_take(batch *b, size_t count, const int *frames, dyn_reference_frame reference_frame, size_t axis_count,
                    const Dynamics__V1__TaskAxis *axes, task_rows *rows) {
    unsigned bits;
    if (!take_axes(b, axis_count, axes, &bits)) {
        return false;
    }
    if (count > DYN_TASK_FRAMES) {
        call_blame(b->call, "frames");
        call_fail(b->call, REASON_TOO_MANY_ENTRIES, "%zu frames; a task has at most %d", count, DYN_TASK_FRAMES);
        call_tell_limit(b->call, DYN_TASK_FRAMES, count);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        rows->frames[i] = (dyn_task_frame){frames[i], reference_frame, bits};
    }
    rows->task = (dyn_task){count, rows->frames};
    return true;
}

char **task_rows_name(batch *b, const task_rows *rows, char *const *frames) {
    size_t next = 0;
    char **names = call_allocate(b->call, (size_t)dyn_task_row_count(&rows->task), sizeof *names);
    for (size_t f = 0; names && f < rows->task.count; f++) {
        for (int row = 0; row < 6; row++) {
            if (rows->frames[f].rows >> row & 1) {
                size_t size = strlen(frames[f]) + 1 + strlen(ROW_NAMES[row]) + 1;
                names[next] = call_allocate(b->call, 1, size);
                if (!names[next]) {
                    return NULL;
                }
                snprintf(names[next++], size, "%s %s", frames[f], ROW_NAMES[row]);
            }
        }
    }
    return names;
}

bool task_rows_are_equal(const task_rows *a, const task_rows *b) {
    bool are_equal = a->task.count == b->task.count;
    for (size_t i = 0; are_equal && i < a->task.count; i++) {
        const dyn_task_frame *x = &a->frames[i], *y = &b->frames[i];
        are_equal = x->frame == y->frame && x->reference_frame == y->reference_frame && x->rows == y->rows;
    }
    return are_equal;
}
