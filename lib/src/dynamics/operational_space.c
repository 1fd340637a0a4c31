/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/operational_space.h>

#include <stdio.h>

#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"
#include "results.h"
#include "workspace.h"

/* Least independence of a row, for each precision: its entry of J M^-1 J' while the rows after it are held, divided by
 * the same entry while they are free. */
static const double independence[PRECISIONS] = {1e-12, 5e-4};

int dyn_task_row_count(const dyn_task *task) {
    int count = 0;
    for (size_t f = 0; f < task->count; f++) {
        count += __builtin_popcount(task->frames[f].rows & DYN_TASK_ALL);
    }
    return count;
}

static dyn_status check_task(const dyn_model *model, const dyn_task *task, dyn_error *error) {
    if (task->count == 0 || task->count > DYN_TASK_FRAMES) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "task", "the task has %zu frames; pass 1 to %d", task->count,
                             DYN_TASK_FRAMES);
    }
    for (size_t f = 0; f < task->count; f++) {
        dyn_status status = dyn_check_frame(model, task->frames[f].frame, error);
        if (status != DYN_OK) {
            return status;
        }
        unsigned rows = task->frames[f].rows;
        if (rows == 0 || rows > DYN_TASK_ALL) {
            return dyn_error_set(error, DYN_INVALID_ARGUMENT, "task",
                                 "the rows of frame %zu of the task are 0x%x; pass one or several of the bits 0 to 5",
                                 f, rows);
        }
    }
    return DYN_OK;
}

/* Writes the name of a row of the task, such as "linear x of tool0". */
static void name_row(const dyn_model *model, const dyn_task *task, size_t row, char *name, size_t size) {
    static const char *const rows[6] = {"angular x", "angular y", "angular z", "linear x", "linear y", "linear z"};
    for (size_t f = 0; f < task->count; f++) {
        for (int i = 0; i < 6; i++) {
            if (task->frames[f].rows >> i & 1 && row-- == 0) {
                int frame = task->frames[f].frame;
                snprintf(name, size, "%s of %s", rows[i], frame < 0 ? "world" : model->links[frame].name);
                return;
            }
        }
    }
}

/* Checks that the rows are independent in all samples of the block. */
static dyn_status check_rows(const dyn_workspace *w, const dyn_task *task, const void *independence_of_rows,
                             sample_block block, dyn_error *error) {
    size_t rows = (size_t)dyn_task_row_count(task);
    for (size_t l = 0; l < block.count; l++) {
        for (size_t i = rows; i-- > 0;) {
            if (!(dyn_packed_number(independence_of_rows, i, block, l) > independence[w->precision])) {
                char name[DYN_PLACE_SIZE];
                name_row(w->model, task, i, name, sizeof name);
                const dyn_error_site site = {.cause = DYN_CAUSE_SINGULAR_TASK,
                                             .argument = "task",
                                             .has_sample = true,
                                             .sample = block.first + l};
                return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site,
                                    "the task is singular: its row %s depends on those behind it, or nothing moves "
                                    "it; leave it out, or ask for the inverse inertia alone",
                                    name);
            }
        }
    }
    return DYN_OK;
}

/* Returns the addresses at which the kernel computes each of all results: NULL for those that were not requested. `out`
 * has the addresses of the requested ones alone. */
static task_results places(const results *wanted, void *const out[MAX_RESULTS], const results *all) {
    void *place[MAX_RESULTS] = {0};
    for (size_t i = 0, part = 0; i < all->count && part < wanted->count; i++) {
        place[i] = all->of[i].rows ? out[part++] : NULL;
    }
    return (task_results){place[0], place[1], place[2], place[3], place[4], place[5]};
}

/* Task of a call, all results in the order of the kernel, and those that were requested. */
typedef struct task_call {
    const dyn_task *task;
    results all, wanted;
} task_call;

/* Computes the requested results of all samples, block by block. */
static dyn_status compute(const dyn_model *model, const dyn_workspace *w, size_t n, const dynamics_inputs *in,
                          const task_call *call, dyn_error *error) {
    const results *wanted = &call->wanted;
    size_t width = dyn_results_width(wanted);
    bool inverts = wanted->count > (call->all.of[0].rows ? 1 : 0);
    dyn_status status = DYN_OK;
    for (sample_block block = dyn_block_first_of_width(w, n, width + DYN_TASK_ROWS);
         status == DYN_OK && block.count > 0; block = dyn_block_next(w, n, block)) {
        void *out[MAX_RESULTS], *independence_of_rows = dyn_block_part(w, block.lanes > 1 ? width : 0, block);
        dyn_results_find(w, wanted, block, out);
        task_results at = places(wanted, out, &call->all);
        const packed_inputs packed = dyn_pack_inputs(model, w, in, block, NULL);
        block.kernels->operational_space(model, w->memory, &packed, call->task, w->pivots, independence_of_rows, &at);
        status = dyn_check_pivots(model, w, block, error);
        if (status == DYN_OK && inverts) {
            status = check_rows(w, call->task, independence_of_rows, block, error);
        }
        if (status == DYN_OK) {
            status = dyn_results_store(w, out, block, wanted, error);
        }
    }
    return status;
}

dyn_status dyn_operational_space(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                 const double *q, const double *v, const dyn_task *task, double *inverse_inertia,
                                 double *inertia, double *bias, double *gravity_force, double *inverse,
                                 double *projector, dyn_error *error) {
    dyn_status status = dyn_check_state(model, workspace, n, gravity, q, v, error);
    if (status == DYN_OK) {
        status = check_task(model, task, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    size_t m = (size_t)dyn_task_row_count(task), nv = (size_t)model->nv;
    task_call call = {.task = task,
                      .all = {6,
                              {{"inverse_inertia", inverse_inertia, m * m},
                               {"inertia", inertia, m * m},
                               {"bias", bias, m},
                               {"gravity_force", gravity_force, m},
                               {"inverse", inverse, nv * m},
                               {"projector", projector, nv * nv}}}};
    for (size_t i = 0; i < call.all.count; i++) {
        if (call.all.of[i].rows) {
            call.wanted.of[call.wanted.count++] = call.all.of[i];
        }
    }
    const dynamics_inputs in = {gravity, q, v, NULL, NULL, NULL};
    return call.wanted.count > 0 ? compute(model, workspace, n, &in, &call, error) : DYN_OK;
}
