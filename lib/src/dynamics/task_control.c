/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/task_control.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/frame_motion.h>
#include <dynamics/inverse_dynamics.h>
#include <dynamics/kinematics.h>
#include <dynamics/mass_matrix.h>

#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"
#include "carve.h"
#include "principal_axes.h"
#include "task_control.h"

/* Largest nv, which bounds the memory, and the share of the trace below which an eigenvalue counts as zero. */
enum { MOST_VELOCITIES = 1000 };
static const double negligible = 1e-10;

/* Numbers of one sample. */
typedef struct task_sample {
    int nv, m;
    double *inverse;   /* M^-1, nv x nv */
    double *J, *drift; /* all rows, m x nv; dJ/dt v, m */
    double *h, *tau;   /* h - J' f_ext; sum of the forces of tasks; nv */
    double *N;         /* projector of motions, nv x nv */
    double *a;         /* M^-1 tau, nv */
    double *Jp;        /* rows of a task in the null space of the ones before, m x nv */
    double *X;         /* M^-1 Jp', m x nv: row i is M^-1 times row i of Jp */
    double *R;         /* Jp M^-1 Jp', then its eigenvectors, one in each row, m x m */
    double *values;    /* eigenvalues, m */
    double *rest, *F;  /* m */
    double *along;     /* nv */
    int *rows;         /* rows of the task under way, m */
} task_sample;

static size_t lay_out(uintptr_t base, task_sample *s) {
    uintptr_t cursor = base;
    size_t nv = (size_t)s->nv, m = (size_t)s->m;
    struct {
        double **to;
        size_t count;
    } parts[] = {{&s->inverse, nv * nv}, {&s->J, m * nv}, {&s->drift, m},   {&s->h, nv},     {&s->tau, nv},
                 {&s->N, nv * nv},       {&s->a, nv},     {&s->Jp, m * nv}, {&s->X, m * nv}, {&s->R, m * m},
                 {&s->values, m},        {&s->rest, m},   {&s->F, m},       {&s->along, nv}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].to = dyn_carve(&cursor, parts[i].count * sizeof(double));
    }
    s->rows = dyn_carve(&cursor, m * sizeof(int));
    return cursor - base;
}

static double dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* y = B x of a matrix with `rows` rows of `n` entries. */
static void multiply(int rows, int n, const double *B, const double *x, double *y) {
    for (int i = 0; i < rows; i++) {
        y[i] = dot(n, B + i * n, x);
    }
}

/* ---- One task ---------------------------------------------------------------------------------------------------- */

/* Computes Jp and X of `count` rows, and R. Returns the trace of J M^-1 J'. */
static double project_rows(task_sample *s, int count) {
    int nv = s->nv;
    double trace = 0;
    for (int i = 0; i < count; i++) {
        const double *row = s->J + s->rows[i] * nv;
        multiply(nv, nv, s->inverse, row, s->along);
        trace += dot(nv, row, s->along);
        double *to = s->Jp + i * nv;
        memset(to, 0, (size_t)nv * sizeof *to);
        for (int k = 0; k < nv; k++) {
            for (int j = 0; j < nv; j++) {
                to[j] += row[k] * s->N[k * nv + j];
            }
        }
        multiply(nv, nv, s->inverse, to, s->X + i * nv);
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j <= i; j++) {
            s->R[i * count + j] = s->R[j * count + i] = dot(nv, s->Jp + i * nv, s->X + j * nv);
        }
    }
    return trace;
}

/* Replaces R, whose trace is at most `trace`, by its eigenvectors. A multiple of 1 on the diagonal makes it positive
 * definite. */
static void find_axes(task_sample *s, int count, double trace) {
    double shift = trace > 0 ? trace : 1;
    for (int i = 0; i < count; i++) {
        s->R[i * count + i] += shift;
    }
    dyn_principal_axes((size_t)count, s->R, s->values);
    for (int i = 0; i < count; i++) {
        double value = s->values[i] - shift;
        s->values[i] = value > negligible * trace ? value : 0;
    }
}

/* Adds the forces Jp' F to tau: `rest` is the acceleration that is left, and d t the absolute damping. */
static void add_forces(task_sample *s, int count, double damping) {
    memset(s->F, 0, (size_t)count * sizeof *s->F);
    for (int k = 0; k < count; k++) {
        double value = s->values[k], size = value * value + damping * damping;
        double force = value > 0 ? dot(count, s->R + k * count, s->rest) * value / size : 0;
        for (int i = 0; i < count; i++) {
            s->F[i] += force * s->R[k * count + i];
        }
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < s->nv; j++) {
            s->tau[j] += s->F[i] * s->Jp[i * s->nv + j];
        }
    }
}

/* N <- N - X' R^+ Jp, one eigenvector at a time: u = sum of its components times rows. */
static void narrow(task_sample *s, int count) {
    int nv = s->nv;
    for (int k = 0; k < count && s->values[k] > 0; k++) {
        const double *axis = s->R + k * count;
        memset(s->along, 0, (size_t)nv * sizeof *s->along);
        memset(s->a, 0, (size_t)nv * sizeof *s->a);
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < nv; j++) {
                s->along[j] += axis[i] * s->Jp[i * nv + j];
                s->a[j] += axis[i] * s->X[i * nv + j] / s->values[k];
            }
        }
        for (int i = 0; i < nv; i++) {
            for (int j = 0; j < nv; j++) {
                s->N[i * nv + j] -= s->a[i] * s->along[j];
            }
        }
    }
}

/* Rows of a task, its desired accelerations and outputs of a sample. */
typedef struct level {
    int count;
    const double *desired; /* of all rows; NULL: zeros */
    double damping;
    double *independence; /* of all rows; NULL: not requested */
} level;

/* Adds the forces of the task with the rows s->rows. */
static void add_task(task_sample *s, const level *of) {
    int count = of->count;
    double trace = project_rows(s, count);
    multiply(s->nv, s->nv, s->inverse, s->tau, s->a);
    for (int i = 0; i < count; i++) {
        int row = s->rows[i];
        double wanted = of->desired ? of->desired[row] : 0;
        s->rest[i] = wanted - s->drift[row] - dot(s->nv, s->J + row * s->nv, s->a);
    }
    find_axes(s, count, trace);
    for (int i = 0; i < count && of->independence; i++) {
        of->independence[s->rows[i]] = trace > 0 ? s->values[i] / trace : 0;
    }
    add_forces(s, count, of->damping * trace);
    narrow(s, count);
}

/* ---- All tasks --------------------------------------------------------------------------------------------------- */

/* Call with its inputs. */
typedef struct task_call {
    const dyn_model *model;
    dyn_workspace *workspace;
    dynamics_inputs in;
    const dyn_task_goal *goal;
    const double *tau_0;
    const dyn_task_torques *to;
    const task_response *response; /* NULL: that of the tree */
    const double *bias;            /* h - J' f_ext of all samples */
} task_call;

static unsigned priority_of(const dyn_task_goal *goal, size_t frame) {
    return goal->priorities ? goal->priorities[frame] : 0;
}

/* Finds the least priority that is above `after`, or not below it if `is_first`. Returns false if there is none. */
static bool next_priority(const dyn_task_goal *goal, bool is_first, unsigned after, unsigned *next) {
    bool is_found = false;
    for (size_t f = 0; f < goal->task.count; f++) {
        unsigned own = priority_of(goal, f);
        if ((is_first || own > after) && (!is_found || own < *next)) {
            *next = own, is_found = true;
        }
    }
    return is_found;
}

/* Collects the rows of the frames of a priority. Returns their number. */
static int collect_rows(const dyn_task_goal *goal, unsigned priority, int *rows) {
    int count = 0, row = 0;
    for (size_t f = 0; f < goal->task.count; f++) {
        int own = __builtin_popcount(goal->task.frames[f].rows);
        for (int i = 0; i < own; i++, row++) {
            if (priority_of(goal, f) == priority) {
                rows[count++] = row;
            }
        }
    }
    return count;
}

dyn_status task_load_rows(const dyn_model *model, dyn_workspace *workspace, const dyn_task *task, const double *q,
                          const double *v, double *J, double *drift, dyn_error *error) {
    const size_t nv = (size_t)model->nv;
    double *six = malloc((6 * nv + 1) * sizeof *six);
    dyn_status status = six ? DYN_OK : dyn_error_memory(error);
    for (size_t f = 0, row = 0; f < task->count && status == DYN_OK; f++) {
        const dyn_task_frame *frame = &task->frames[f];
        double acceleration[6];
        status = dyn_frame_jacobian(model, workspace, 1, q, frame->frame, frame->reference_frame, six, error);
        if (status == DYN_OK) {
            status = dyn_frame_motion(model, workspace, 1, q, v, NULL, frame->frame, frame->reference_frame, NULL,
                                      acceleration, NULL, error);
        }
        for (size_t i = 0; i < 6 && status == DYN_OK; i++) {
            if (frame->rows >> i & 1) {
                memcpy(J + row * nv, six + i * nv, nv * sizeof *J);
                drift[row++] = acceleration[i];
            }
        }
    }
    free(six);
    return status;
}

/* Makes those rows zero whose response to joint forces is rounding errors beside that of the tree: constraints hold
 * them, so that no force accelerates them. */
static dyn_status drop_held_rows(const task_call *call, const double *q, task_sample *s, dyn_error *error) {
    const int nv = s->nv;
    dyn_status status = dyn_minverse(call->model, call->workspace, 1, q, s->N, error);
    for (int i = 0; i < s->m && status == DYN_OK; i++) {
        double *row = s->J + i * nv;
        multiply(nv, nv, s->N, row, s->along);
        const double of_tree = dot(nv, row, s->along);
        multiply(nv, nv, s->inverse, row, s->along);
        if (!(dot(nv, row, s->along) > negligible * of_tree)) {
            memset(row, 0, (size_t)nv * sizeof *row);
        }
    }
    return status;
}

/* Computes the rows of all frames and their drift, and the response to joint forces. */
static dyn_status load_sample(const task_call *call, size_t sample, task_sample *s, dyn_error *error) {
    const double *q = call->in.q + sample * (size_t)call->model->nq;
    const double *v = call->in.v ? call->in.v + sample * (size_t)s->nv : NULL;
    const task_response *response = call->response;
    dyn_status status = task_load_rows(call->model, call->workspace, &call->goal->task, q, v, s->J, s->drift, error);
    if (status != DYN_OK || !response) {
        return status == DYN_OK ? dyn_minverse(call->model, call->workspace, 1, q, s->inverse, error) : status;
    }
    status = response->load(response->context, sample, s->inverse, s->along, error);
    for (int i = 0; i < s->m && status == DYN_OK; i++) {
        s->drift[i] += dot(s->nv, s->J + i * s->nv, s->along);
    }
    return status == DYN_OK ? drop_held_rows(call, q, s, error) : status;
}

/* Computes the forces of all tasks of one sample. */
static void add_tasks(const task_call *call, size_t sample, task_sample *s) {
    const dyn_task_goal *goal = call->goal;
    size_t nv = (size_t)s->nv, m = (size_t)s->m;
    unsigned priority = 0;
    level of = {.desired = goal->accelerations ? goal->accelerations + sample * goal->stride : NULL,
                .damping = goal->damping,
                .independence = call->to->independence ? call->to->independence + sample * m : NULL};
    memset(s->tau, 0, nv * sizeof *s->tau);
    memset(s->N, 0, nv * nv * sizeof *s->N);
    for (size_t i = 0; i < nv; i++) {
        s->N[i * nv + i] = 1;
    }
    for (bool is_first = true; next_priority(goal, is_first, priority, &priority); is_first = false) {
        of.count = collect_rows(goal, priority, s->rows);
        add_task(s, &of);
    }
    for (size_t i = 0; call->tau_0 && i < nv; i++) {
        for (size_t k = 0; k < nv; k++) {
            s->tau[i] += s->N[k * nv + i] * call->tau_0[sample * nv + k];
        }
    }
}

static void store_sample(const task_call *call, size_t sample, task_sample *s) {
    const dyn_task_torques *to = call->to;
    size_t nv = (size_t)s->nv, m = (size_t)s->m;
    multiply(s->nv, s->nv, s->inverse, s->tau, s->a);
    for (size_t i = 0; i < m && to->accelerations; i++) {
        to->accelerations[sample * m + i] = s->drift[i] + dot(s->nv, s->J + i * nv, s->a);
    }
    for (size_t i = 0; i < nv && to->tau; i++) {
        to->tau[sample * nv + i] = s->tau[i] + call->bias[sample * nv + i];
    }
}

static dyn_status check_goal(const dyn_model *model, const dyn_task_goal *goal, dyn_error *error) {
    if (model->nv > MOST_VELOCITIES) {
        return dyn_error_set(error, DYN_RESOURCE_EXHAUSTED, "model", "the model has nv = %d; at most %d are supported",
                             model->nv, MOST_VELOCITIES);
    }
    if (goal->task.count == 0 || goal->task.count > DYN_TASK_FRAMES) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "task", "the task has %zu frames; pass 1 to %d",
                             goal->task.count, DYN_TASK_FRAMES);
    }
    for (size_t f = 0; f < goal->task.count; f++) {
        dyn_status status = dyn_check_frame(model, goal->task.frames[f].frame, error);
        if (status != DYN_OK) {
            return status;
        }
        if (goal->task.frames[f].rows == 0 || goal->task.frames[f].rows > DYN_TASK_ALL) {
            return dyn_error_set(error, DYN_INVALID_ARGUMENT, "task", "frame %zu has no rows, or unknown ones", f);
        }
    }
    if (!(goal->damping >= 0 && goal->damping <= 1)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "damping", "the damping is %g; state a number from 0 to 1",
                             goal->damping);
    }
    return DYN_OK;
}

static dyn_status check_accelerations(size_t n, const dyn_task_goal *goal, dyn_error *error) {
    size_t m = (size_t)dyn_task_row_count(&goal->task), samples = goal->stride ? n : 1;
    for (size_t i = 0; goal->accelerations && i < samples * m; i++) {
        double value = goal->accelerations[i / m * goal->stride + i % m];
        if (!isfinite(value)) {
            const dyn_error_site site = {
                .cause = DYN_CAUSE_NOT_FINITE, .argument = "task", .has_sample = goal->stride > 0, .sample = i / m};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                "the desired acceleration of row %zu is %g; pass a finite number", i % m, value);
        }
    }
    return DYN_OK;
}

/* Computes all samples in `bias`, the memory of the bias forces. */
static dyn_status compute(task_call *call, size_t n, double *bias, task_sample *s, dyn_error *error) {
    const dynamics_inputs *in = &call->in;
    dyn_status status =
        dyn_rnea(call->model, call->workspace, n, in->gravity, in->q, in->v, NULL, in->forces, bias, error);
    call->bias = bias;
    for (size_t i = 0; i < n && status == DYN_OK; i++) {
        status = load_sample(call, i, s, error);
        if (status == DYN_OK) {
            add_tasks(call, i, s);
            store_sample(call, i, s);
        } else {
            error->site.sample = i;
        }
    }
    return status;
}

dyn_status dyn_task_torques_for(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *gravity,
                                const double *q, const double *v, const dyn_external_forces *forces,
                                const dyn_task_goal *goal, const double *tau_0, const dyn_task_torques *results,
                                dyn_error *error) {
    const dynamics_inputs in = {gravity, q, v, "tau", tau_0, forces};
    return task_torques_under(model, workspace, n, &in, goal, NULL, results, error);
}

dyn_status task_torques_under(const dyn_model *model, dyn_workspace *workspace, size_t n, const dynamics_inputs *in,
                              const dyn_task_goal *goal, const task_response *response, const dyn_task_torques *results,
                              dyn_error *error) {
    task_call call = {model, workspace, *in, goal, in->third, results, response, NULL};
    dyn_status status = check_goal(model, goal, error);
    if (status == DYN_OK) {
        status = check_accelerations(n, goal, error);
    }
    if (status == DYN_OK) {
        status = dyn_check_inputs(model, workspace, n, &call.in, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    task_sample s = {.nv = model->nv, .m = dyn_task_row_count(&goal->task)};
    size_t own = (n * (size_t)model->nv + 1) * sizeof(double), size = dyn_carve_size(own) + lay_out(0, &s);
    double *memory = aligned_alloc(CARVE_ALIGNMENT, size);
    if (!memory) {
        return dyn_error_memory(error);
    }
    lay_out((uintptr_t)memory + dyn_carve_size(own), &s);
    status = compute(&call, n, memory, &s, error);
    free(memory);
    return status;
}
