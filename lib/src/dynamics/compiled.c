#include "compiled.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/derivatives.h>
#include <dynamics/forward_dynamics.h>
#include <dynamics/frame_motion.h>
#include <dynamics/inverse_dynamics.h>
#include <dynamics/kinematics.h>
#include <dynamics/mass_matrix.h>

#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"

/* Its name, the name of its first result in errors, whether its results are matrices, and whether M is solved with, so
 * that there are pivots. */
static const struct description {
    const char *name, *result;
    bool are_matrices, has_pivots;
} descriptions[COMPILED_ALGORITHMS] = {
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
    workspace->compiled = workspace->precision == DYN_DOUBLE_PRECISION ? compiled : NULL;
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
    int a = 0;
    for (; i > 0 || !compiled->single[a].name; a++) {
        i -= compiled->single[a].name != NULL;
    }
    return descriptions[a].name;
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

/* ---- rows of samples ---------------------------------------------------------------------------------------------*/

/* From WIDE_FROM samples on the wide function is quicker than so many single ones. */
enum { WIDE_FROM = 3 };

/* The arrays of a call. */
typedef struct call_arrays {
    const double *in[COMPILED_INPUTS];
    double *out[COMPILED_RESULTS + 1];
} call_arrays;

/* Doubles of a sample's input, and of each of its results. */
static size_t input_width(const dyn_model *model, size_t i) {
    return (size_t)(i == 0 ? model->nq : model->nv);
}

static size_t result_width(const dyn_model *model, compiled_algorithm a) {
    return (size_t)model->nv * (size_t)(descriptions[a].are_matrices ? model->nv : 1);
}

/* Samples first .. first + n - 1, by the wide function or the single one; returns how many are computed. */
static size_t run_samples(const compiled_task *task, const dyn_workspace *w, bool is_wide, size_t first, size_t n) {
    const compiled_function_entry *entry = (is_wide ? w->compiled->wide : w->compiled->single) + task->algorithm;
    const kernel_table *kernels = is_wide ? w->kernels->wide : w->kernels->one;
    size_t results = dyn_compiled_results(task->algorithm), width = result_width(w->model, task->algorithm);
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

/* Fewer samples than there are lanes, by the wide function: the last one is repeated. */
static bool run_few(const compiled_task *task, const dyn_workspace *w, const compiled_function_entry *wide,
                    size_t first, size_t n) {
    size_t lanes = (size_t)w->kernels->wide->lanes, results = dyn_compiled_results(task->algorithm);
    size_t width = result_width(w->model, task->algorithm);
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
    size_t room = dyn_compiled_results(task->algorithm) * result_width(w->model, task->algorithm) * lanes;
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
        /* What is left of few, or a block in which something was found. */
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
    const struct description *d = &descriptions[task->algorithm];
    if (!task->is_refused) {
        return DYN_OK;
    }
    const sample_block alone = dyn_block_of_one(w, task->done);
    dyn_status status = d->has_pivots ? dyn_check_pivots(w, alone, error) : DYN_OK;
    return status == DYN_OK ? dyn_refuse_result(w, d->result, task->done, error) : status;
}

/* ---- what is loaded ---------------------------------------------------------------------------------------------- */

/* The functions whose names are known. */
static void find_functions(const compiled_function_entry *entry, compiled_function_entry found[COMPILED_ALGORITHMS]) {
    for (; entry->name; entry++) {
        for (int a = 0; a < COMPILED_ALGORITHMS; a++) {
            if (strcmp(entry->name, descriptions[a].name) == 0) {
                found[a] = *entry;
            }
        }
    }
}

/* The function of a name behind which a body's number is; NULL where there is none. */
static compiled_packed *find_of_body(const compiled_function_entry *entry, const char *name, int i) {
    char numbered[32];
    snprintf(numbered, sizeof numbered, "%s%d", name, i);
    while (entry->name && strcmp(entry->name, numbered) != 0) {
        entry++;
    }
    return entry->name ? entry->packed : NULL;
}

static dyn_status find_bodies(const compiled_object *object, dyn_compiled *c, dyn_error *error) {
    static const char *const names[COMPILED_BODY_ALGORITHMS] = {
        [COMPILED_POSE] = COMPILED_BODY_POSE,
        [COMPILED_JACOBIAN] = COMPILED_BODY_JACOBIAN,
        [COMPILED_MOTION] = COMPILED_BODY_MOTION,
    };
    c->bodies = calloc((size_t)c->model->body_count + 1, sizeof *c->bodies);
    if (!c->bodies) {
        return dyn_error_memory(error);
    }
    for (int i = 0; i < c->model->body_count; i++) {
        for (int a = 0; a < COMPILED_BODY_ALGORITHMS; a++) {
            compiled_packed *wide = find_of_body(object->wide, names[a], i);
            compiled_packed *single = find_of_body(object->single, names[a], i);
            c->bodies[i].wide[a] = single ? wide : NULL;
            c->bodies[i].single[a] = wide ? single : NULL;
        }
    }
    return DYN_OK;
}

/* The object is of this version, instruction set and model. */
static dyn_status check_object(const compiled_object *object, const char *path, const dyn_model *model,
                               dyn_error *error) {
    const instruction_set *set = dyn_choose_instruction_set();
    if (object->version != COMPILED_OBJECT_VERSION) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, path, "it has version %u, but %u is needed; compile again",
                             object->version, COMPILED_OBJECT_VERSION);
    }
    if (strcmp(object->instruction_set, set->name) != 0 || object->lanes != dyn_lanes(DYN_DOUBLE_PRECISION)) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, path, "it is for the instruction set %s, but %s is in use",
                             object->instruction_set, set->name);
    }
    char *text;
    size_t length;
    dyn_status status = dyn_model_canonical(model, error, &text, &length);
    if (status == DYN_OK && strcmp(object->model, text) != 0) {
        status = dyn_error_set(error, DYN_FAILED_PRECONDITION, path, "it was compiled for another model");
    }
    free(text);
    return status;
}

static dyn_status open_object(dyn_compiled *c, const char *path, dyn_error *error) {
    c->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const compiled_object *object = c->handle ? dlsym(c->handle, COMPILED_OBJECT_SYMBOL) : NULL;
    if (!object) {
        const char *reason = dlerror();
        return dyn_error_set(error, DYN_NOT_FOUND, path, "it cannot be loaded: %s", reason ? reason : "it is empty");
    }
    dyn_status status = check_object(object, path, c->model, error);
    if (status == DYN_OK) {
        find_functions(object->wide, c->wide);
        find_functions(object->single, c->single);
        status = find_bodies(object, c, error);
    }
    return status;
}

/* ---- the check against the library's own ------------------------------------------------------------------------- */

enum { CHECKED_STATES = 19 };

/* By how much results may be off, relative to their norm; where M is solved with. */
static const double tolerance = 1e-11, solved_tolerance = 1e-8;

/* States, and room for the results of both, CHECKED_STATES rows each. */
typedef struct check {
    const dyn_model *model;
    dyn_workspace *workspace;
    double *q, *v, *a;
    double *expected, *found;
} check;

/* Splitmix64, uniform in [-1, 1). */
static double next_random(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
}

static void fill_random(uint64_t *state, double scale, double *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        x[i] = scale * next_random(state);
    }
}

/* Quaternions of norm one. */
static void normalize(const dyn_model *model, double *q) {
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        int quaternion = dyn_joint_type_traits(joint->type)->quaternion;
        if (quaternion >= 0) {
            double *x = q + joint->q_index + quaternion;
            double norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
            for (int i = 0; i < 4; i++) {
                x[i] = norm > 0 ? x[i] / norm : i == 3;
            }
        }
    }
}

static dyn_status compute(const check *k, compiled_algorithm algorithm, size_t first, size_t n, dyn_error *error,
                          double *out) {
    size_t nq = (size_t)k->model->nq, nv = (size_t)k->model->nv;
    const double *q = k->q + first * nq, *v = k->v + first * nv, *a = k->a + first * nv;
    double *second = out + n * nv * nv, *third = second + n * nv * nv;
    switch (algorithm) {
    case COMPILED_RNEA:
        return dyn_rnea(k->model, k->workspace, n, NULL, q, v, a, NULL, error, out);
    case COMPILED_BIAS:
        return dyn_bias(k->model, k->workspace, n, NULL, q, v, error, out);
    case COMPILED_GRAVITY:
        return dyn_gravity(k->model, k->workspace, n, NULL, q, error, out);
    case COMPILED_CRBA:
        return dyn_crba(k->model, k->workspace, n, q, error, out);
    case COMPILED_ABA:
        return dyn_aba(k->model, k->workspace, n, NULL, q, v, a, NULL, error, out);
    case COMPILED_MINVERSE:
        return dyn_minverse(k->model, k->workspace, n, q, error, out);
    case COMPILED_RNEA_DERIVATIVES:
        return dyn_rnea_derivatives(k->model, k->workspace, n, NULL, q, v, a, NULL, error, out, second, third);
    default:
        return dyn_aba_derivatives(k->model, k->workspace, n, NULL, q, v, a, NULL, error, out, second, third);
    }
}

/* Whether the numbers agree to a tolerance relative to their norm. */
static bool agree(const double *x, const double *y, size_t count, double relative) {
    double off = 0, square = 0;
    for (size_t i = 0; i < count; i++) {
        off += (x[i] - y[i]) * (x[i] - y[i]), square += y[i] * y[i];
    }
    return off <= relative * relative * square;
}

/* Results of many states against the library's own, */
static dyn_status check_results(const char *name, const double *found, const double *expected, size_t count,
                                double relative, dyn_error *error) {
    return agree(found, expected, count, relative)
               ? DYN_OK
               : dyn_error_set(error, DYN_FAILED_PRECONDITION, name, "its results differ from the library's own");
}

/* and those of one alone against the same among others. */
static dyn_status check_bits(const char *name, const double *alone, const double *among, size_t width,
                             dyn_error *error) {
    return memcmp(alone, among, width * sizeof(double)) == 0
               ? DYN_OK
               : dyn_error_set(error, DYN_FAILED_PRECONDITION, name,
                               "a state alone gives other bits than among others");
}

/* One function: many states at once against the library's own, and some of them alone against the same. What the
 * library itself refuses, as forward dynamics of a robot without inertia, is not taken from the object either. */
static dyn_status check_function(dyn_compiled *c, check *k, compiled_algorithm a, dyn_error *error) {
    size_t results = dyn_compiled_results(a), width = result_width(k->model, a);
    dyn_error ignored;
    k->workspace->compiled = NULL;
    if (compute(k, a, 0, CHECKED_STATES, &ignored, k->expected) != DYN_OK) {
        c->wide[a].name = c->single[a].name = NULL;
        return DYN_OK;
    }
    k->workspace->compiled = c;
    dyn_status status = compute(k, a, 0, CHECKED_STATES, error, k->found);
    if (status != DYN_OK) {
        return status;
    }
    const char *name = descriptions[a].name;
    double most = descriptions[a].has_pivots ? solved_tolerance : tolerance;
    status = check_results(name, k->found, k->expected, CHECKED_STATES * results * width, most, error);
    for (size_t s = 0; status == DYN_OK && s < CHECKED_STATES; s++) {
        status = compute(k, a, s, 1, error, k->expected);
        for (size_t i = 0; status == DYN_OK && i < results; i++) {
            const double *among = k->found + (i * CHECKED_STATES + s) * width;
            status = check_bits(name, k->expected + i * width, among, width, error);
        }
    }
    return status;
}

/* ---- the check of frames ----------------------------------------------------------------------------------------- */

/* The frame of a link that body i carries, or -1. */
static int frame_of_body(const dyn_model *model, int i) {
    int frame = model->link_count - 1;
    while (frame >= 0 && model->frames[frame].body != i) {
        frame--;
    }
    return frame;
}

enum { FRAME_RESULTS = 6 };

/* Numbers of a sample in each of a frame's results: pose, Jacobian and motion. */
static void frame_widths(const dyn_model *model, size_t width[FRAME_RESULTS]) {
    size_t entries = 6 * (size_t)model->nv;
    const size_t widths[FRAME_RESULTS] = {3, 9, entries, 6, 6, entries};
    memcpy(width, widths, sizeof widths);
}

/* All of them, one after the other. */
static dyn_status compute_frame(const check *k, int frame, size_t first, size_t n, dyn_error *error, double *out) {
    const dyn_reference_frame reference_frame = DYN_LOCAL_WORLD_ALIGNED;
    size_t nq = (size_t)k->model->nq, nv = (size_t)k->model->nv, width[FRAME_RESULTS];
    const double *q = k->q + first * nq, *v = k->v + first * nv, *a = k->a + first * nv;
    double *to[FRAME_RESULTS];
    frame_widths(k->model, width);
    for (size_t i = 0; i < FRAME_RESULTS; i++) {
        to[i] = out;
        out += n * width[i];
    }
    dyn_status status = dyn_frame_pose(k->model, k->workspace, n, q, frame, error, to[0], to[1]);
    if (status == DYN_OK) {
        status = dyn_frame_jacobian(k->model, k->workspace, n, q, frame, reference_frame, error, to[2]);
    }
    return status == DYN_OK ? dyn_frame_motion(k->model, k->workspace, n, q, v, a, frame, reference_frame, error, to[3],
                                               to[4], to[5])
                            : status;
}

/* What is compiled of a body, seen in one of its frames: as check_function. */
static dyn_status check_body(dyn_compiled *c, check *k, int i, dyn_error *error) {
    static const char *const names[FRAME_RESULTS] = {COMPILED_BODY_POSE,   COMPILED_BODY_POSE,   COMPILED_BODY_JACOBIAN,
                                                     COMPILED_BODY_MOTION, COMPILED_BODY_MOTION, COMPILED_BODY_MOTION};
    int frame = frame_of_body(c->model, i);
    if (frame < 0) {
        c->bodies[i] = (compiled_body){0};
        return DYN_OK;
    }
    size_t width[FRAME_RESULTS];
    frame_widths(c->model, width);
    k->workspace->compiled = NULL;
    dyn_status status = compute_frame(k, frame, 0, CHECKED_STATES, error, k->expected);
    k->workspace->compiled = c;
    if (status == DYN_OK) {
        status = compute_frame(k, frame, 0, CHECKED_STATES, error, k->found);
    }
    const double *found = k->found, *expected = k->expected;
    for (size_t r = 0; status == DYN_OK && r < FRAME_RESULTS; r++) {
        status = check_results(names[r], found, expected, CHECKED_STATES * width[r], tolerance, error);
        found += CHECKED_STATES * width[r], expected += CHECKED_STATES * width[r];
    }
    for (size_t s = 0; status == DYN_OK && s < CHECKED_STATES; s++) {
        status = compute_frame(k, frame, s, 1, error, k->expected);
        found = k->found, expected = k->expected;
        for (size_t r = 0; status == DYN_OK && r < FRAME_RESULTS; r++) {
            status = check_bits(names[r], expected, found + s * width[r], width[r], error);
            found += CHECKED_STATES * width[r], expected += width[r];
        }
    }
    return status;
}

/* ---- the check of steps ------------------------------------------------------------------------------------------ */

/* A step so long that the state before it hardly counts, and damping that resists about as much as inertia does. */
static const double checked_dt = 1e3, checked_damping = 1e-3;

/* A step of as many states as the kernels have lanes, from state `first` on; the velocities behind it to `out`. False
 * where M is singular. */
static bool take_step(const check *k, const kernel_table *kernels, compiled_step compiled, size_t first,
                      const double *damping, double *out) {
    size_t nq = (size_t)k->model->nq, nv = (size_t)k->model->nv, lanes = (size_t)kernels->lanes;
    const step_parameters p = {.scheme = STEP_SEMI_IMPLICIT_EULER,
                               .dt = checked_dt,
                               .gravity = k->model->gravity,
                               .resistance = {.damping = damping},
                               .compiled = compiled};
    double *q = k->workspace->output, *v = q + nq * lanes, *tau = v + nv * lanes, *q_next = tau + nv * lanes;
    double *v_next = q_next + nq * lanes;
    kernels->pack(k->q + first * nq, nq, nq, lanes, q);
    kernels->pack(k->v + first * nv, nv, nv, lanes, v);
    kernels->pack(k->a + first * nv, nv, nv, lanes, tau);
    kernels->step(k->model, k->workspace->memory, &p, q, v, tau, NULL, NULL, k->workspace->pivots, q_next, v_next);
    kernels->unpack(v_next, nv, lanes, out);
    return kernels->all_positive(k->workspace->pivots, nv);
}

/* Forward dynamics with resistance, which steps alone use: as check_function. */
static dyn_status check_steps(dyn_compiled *c, check *k, dyn_error *error) {
    const kernel_trio *trio = k->workspace->kernels;
    size_t lanes = (size_t)trio->wide->lanes, nv = (size_t)k->model->nv;
    const char *name = descriptions[COMPILED_RESISTED_ABA].name;
    compiled_step wide = dyn_compiled_step(c, trio->wide), single = dyn_compiled_step(c, trio->one);
    double *damping = k->expected + lanes * nv;
    for (size_t i = 0; i < nv; i++) {
        damping[i] = checked_damping;
    }
    if (!wide.aba || !take_step(k, trio->wide, (compiled_step){0}, 0, damping, k->expected)) {
        c->wide[COMPILED_RESISTED_ABA].name = c->single[COMPILED_RESISTED_ABA].name = NULL;
        return DYN_OK;
    }
    bool is_right = take_step(k, trio->wide, wide, 0, damping, k->found) &&
                    agree(k->found, k->expected, lanes * nv, solved_tolerance);
    if (!is_right) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, name, "its results differ from the library's own");
    }
    for (size_t s = 0; s < lanes; s++) {
        take_step(k, trio->one, single, s, damping, k->expected);
        if (memcmp(k->expected, k->found + s * nv, nv * sizeof(double)) != 0) {
            return dyn_error_set(error, DYN_FAILED_PRECONDITION, name,
                                 "a state alone gives other bits than among others");
        }
    }
    return DYN_OK;
}

static dyn_status check_functions(dyn_compiled *c, dyn_error *error) {
    size_t nq = (size_t)c->model->nq, nv = (size_t)c->model->nv, width = COMPILED_RESULTS * nv * nv + 12 * nv + 24;
    check k = {.model = c->model};
    double *numbers = calloc(CHECKED_STATES * (nq + 2 * nv + 2 * width) + 1, sizeof *numbers);
    dyn_status status = numbers ? dyn_workspace_create(c->model, error, &k.workspace) : dyn_error_memory(error);
    if (status == DYN_OK) {
        uint64_t seed = 1;
        k.q = numbers, k.v = k.q + CHECKED_STATES * nq, k.a = k.v + CHECKED_STATES * nv;
        k.expected = k.a + CHECKED_STATES * nv, k.found = k.expected + CHECKED_STATES * width;
        fill_random(&seed, 3, k.q, CHECKED_STATES * nq);
        fill_random(&seed, 2, k.v, CHECKED_STATES * nv);
        fill_random(&seed, 9, k.a, CHECKED_STATES * nv);
        for (size_t s = 0; s < CHECKED_STATES; s++) {
            normalize(c->model, k.q + s * nq);
        }
    }
    for (int a = 0; status == DYN_OK && a < COMPILED_ALGORITHMS; a++) {
        if (!c->wide[a].name || !c->single[a].name) {
            c->wide[a].name = c->single[a].name = NULL;
        } else if (a == COMPILED_RESISTED_ABA) {
            status = check_steps(c, &k, error);
        } else {
            status = check_function(c, &k, (compiled_algorithm)a, error);
        }
    }
    for (int i = 0; status == DYN_OK && i < c->model->body_count; i++) {
        status = check_body(c, &k, i, error);
    }
    dyn_workspace_free(k.workspace);
    free(numbers);
    return status;
}

dyn_status dyn_compiled_load(const char *path, const dyn_model *model, dyn_error *error, dyn_compiled **compiled) {
    dyn_compiled *c = calloc(1, sizeof *c);
    if (!c) {
        return dyn_error_memory(error);
    }
    c->model = model;
    dyn_status status = open_object(c, path, error);
    if (status == DYN_OK) {
        status = check_functions(c, error);
    }
    if (status != DYN_OK) {
        dyn_compiled_free(c);
        return status;
    }
    *compiled = c;
    return DYN_OK;
}

void dyn_compiled_free(dyn_compiled *compiled) {
    if (compiled && compiled->handle) {
        dlclose(compiled->handle);
    }
    if (compiled) {
        free(compiled->bodies);
    }
    free(compiled);
}
