/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dispatches calls to compiled algorithms instead of kernels.
 */
#include "compiled.h"

#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"

const compiled_description dyn_compiled_descriptions[COMPILED_ALGORITHMS] = {
    [COMPILED_RNEA] = {"rnea", "tau", false, false},
    [COMPILED_BIAS] = {"bias", "h", false, false},
    [COMPILED_GRAVITY] = {"gravity", "g", false, false},
    [COMPILED_CRBA] = {"crba", "M", true, false},
    [COMPILED_ABA] = {"aba", "a", false, true},
    [COMPILED_RESISTED_ABA] = {"resisted_aba", "a", false, true},
    [COMPILED_MINVERSE] = {"minverse", "inverse", true, true},
    [COMPILED_RNEA_DERIVATIVES] = {"rnea_derivatives", "dtau_dq", true, false},
    [COMPILED_ABA_DERIVATIVES] = {"aba_derivatives", "da_dq", true, true},
};

dyn_status dyn_workspace_use_compiled(dyn_workspace *workspace, const dyn_compiled *compiled, dyn_error *error) {
    if (compiled && compiled->model != workspace->model) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "compiled", "it was loaded for another model");
    }
    workspace->compiled = workspace->precision == DYN_PRECISION_DOUBLE ? compiled : NULL;
    return DYN_OK;
}

size_t dyn_compiled_count(const dyn_compiled *compiled) {
    size_t count = 0;
    for (int i = 0; i < COMPILED_ALGORITHMS; i++) {
        count += compiled->single[i].name != NULL;
    }
    return count;
}

const char *dyn_compiled_name(const dyn_compiled *compiled, size_t i) {
    for (int a = 0; a < COMPILED_ALGORITHMS; a++) {
        if (compiled->single[a].name && i-- == 0) {
            return dyn_compiled_descriptions[a].name;
        }
    }
    return NULL;
}

compiled_packed *dyn_compiled_packed(const dyn_compiled *compiled, compiled_algorithm a, const kernel_table *kernels) {
    const compiled_function_entry *f = (kernels->lanes == 1 ? compiled->single : compiled->wide) + a;
    return f->name ? f->packed : NULL;
}

compiled_packed *dyn_compiled_of_frame(const dyn_model *model, const dyn_workspace *workspace, int frame,
                                       compiled_body_algorithm a, const kernel_table *kernels) {
    const dyn_compiled *c = workspace->compiled;
    int i = model->frames[frame].body;
    if (!c || model != workspace->model || i < 0) {
        return NULL;
    }
    return kernels->lanes == 1 ? c->bodies[i].single[a] : c->bodies[i].wide[a];
}

compiled_step dyn_compiled_step(const dyn_compiled *compiled, const kernel_table *kernels) {
    compiled_packed *aba = dyn_compiled_packed(compiled, COMPILED_ABA, kernels);
    compiled_packed *resisted_aba = dyn_compiled_packed(compiled, COMPILED_RESISTED_ABA, kernels);
    if (!aba || !resisted_aba) {
        return (compiled_step){0};
    }
    return (compiled_step){dyn_compiled_packed(compiled, COMPILED_RNEA, kernels),
                           dyn_compiled_packed(compiled, COMPILED_GRAVITY, kernels), aba, resisted_aba, kernels->sines};
}

/* ---- Rows of samples --------------------------------------------------------------------------------------------- */

/* Number of samples from which the wide function is faster than as many single ones. */
enum { WIDE_FROM = 3 };

/* Input and output arrays of a call of a compiled function. */
typedef struct call_arrays {
    const double *in[COMPILED_INPUTS];
    double *out[COMPILED_RESULTS + 1];
} call_arrays;

/* Returns the number of doubles of input i of a sample. */
static size_t input_width(const dyn_model *model, size_t i) {
    return (size_t)(i == 0 ? model->nq : model->nv);
}

/* Computes samples first .. first + n - 1 by the wide function or the single one. Returns the number of samples
 * computed, which is less than n where a check fails. */
static size_t run_samples(const compiled_task *task, const dyn_workspace *w, bool is_wide, size_t first, size_t n) {
    const compiled_function_entry *entry = (is_wide ? w->compiled->wide : w->compiled->single) + task->algorithm;
    const kernel_table *kernels = is_wide ? w->kernels->wide : w->kernels->one;
    size_t results = dyn_compiled_results(task->algorithm),
           width = dyn_compiled_result_width(w->model, task->algorithm);
    call_arrays x;
    for (size_t i = 0; i < COMPILED_INPUTS; i++) {
        x.in[i] = task->in[i] ? task->in[i] + first * input_width(w->model, i) : NULL;
    }
    for (size_t i = 0; i < results; i++) {
        x.out[i] = task->out[i] + first * width;
    }
    x.out[results] = w->pivots;
    return entry->rows(n, x.in, kernels->sines, x.out, w->output);
}

/* Computes samples first .. first + n - 1, fewer than there are lanes, by the wide function, which computes the last
 * one repeatedly in the lanes that are left. Returns false, and stores no result, where a check fails. */
static bool run_few(const compiled_task *task, const dyn_workspace *w, const compiled_function_entry *wide,
                    size_t first, size_t n) {
    size_t lanes = (size_t)w->kernels->wide->lanes, results = dyn_compiled_results(task->algorithm);
    size_t width = dyn_compiled_result_width(w->model, task->algorithm);
    call_arrays x;
    for (size_t i = 0; i < COMPILED_INPUTS; i++) {
        size_t bytes = input_width(w->model, i) * sizeof(double);
        x.in[i] = task->in[i] ? w->input[i] : NULL;
        for (size_t l = 0; l < lanes && x.in[i]; l++) {
            memcpy((char *)w->input[i] + l * bytes, (const char *)task->in[i] + (first + (l < n ? l : n - 1)) * bytes,
                   bytes);
        }
    }
    for (size_t i = 0; i < results; i++) {
        x.out[i] = (double *)w->output + wide->scratch + i * lanes * width;
    }
    x.out[results] = w->pivots;
    if (wide->rows(lanes, x.in, w->kernels->wide->sines, x.out, w->output) < lanes) {
        return false;
    }
    for (size_t i = 0; i < results; i++) {
        memcpy(task->out[i] + first * width, x.out[i], n * width * sizeof(double));
    }
    return true;
}

bool dyn_compiled_run_samples(compiled_task *task, const dyn_workspace *w, size_t n) {
    const compiled_function_entry *wide = &w->compiled->wide[task->algorithm];
    size_t lanes = (size_t)w->kernels->wide->lanes, done = 0;
    size_t room = dyn_compiled_results(task->algorithm) * dyn_compiled_result_width(w->model, task->algorithm) * lanes;
    bool is_wide = n >= WIDE_FROM && lanes > 1 && (wide->scratch + room) * sizeof(double) <= w->output_size;
    while (done < n) {
        size_t left = n - done, whole = is_wide ? left / lanes * lanes : 0;
        if (whole > 0) {
            done += run_samples(task, w, true, done, whole);
            left = n - done;
        }
        if (is_wide && left < lanes && left >= WIDE_FROM && run_few(task, w, wide, done, left)) {
            break;
        }
        /* Computes the few remaining samples, or a block with an error, one at a time. */
        size_t few = left < lanes || !is_wide ? left : lanes, did = run_samples(task, w, false, done, few);
        done += did;
        if (did < few) {
            task->is_refused = true, task->done = done;
            return false;
        }
    }
    return true;
}

dyn_status dyn_compiled_refusal(const compiled_task *task, const dyn_workspace *w, dyn_error *error) {
    const compiled_description *d = &dyn_compiled_descriptions[task->algorithm];
    if (!task->is_refused) {
        return DYN_OK;
    }
    const sample_block alone = dyn_block_of_one(w, task->done);
    dyn_status status = d->has_pivots ? dyn_check_pivots(w->model, w, alone, error) : DYN_OK;
    return status == DYN_OK ? dyn_refuse_result(w, d->result, task->done, error) : status;
}
