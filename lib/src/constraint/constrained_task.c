/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks under constraints, one sample at a time. */
#include <dynamics/constrained_task.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/constrained_inverse_dynamics.h>
#include <dynamics/constraint_space.h>
#include <dynamics/inverse_dynamics.h>
#include <dynamics/mass_matrix.h>
#include <dynamics/operational_space.h>

#include "../dynamics/carve.h"
#include "../dynamics/task_control.h"
#include "../model/error.h"
#include "../model/normal_form.h"

/* Least independence of a row: its entry of J B J' while the rows after it are held, over its entry of J M^-1 J'. */
static const double independent = 1e-10;

/* Numbers of one sample. */
typedef struct task_space {
    int nv, m;
    double *M_inverse, *B; /* nv x nv */
    double *J, *drift;     /* m x nv; dJ/dt v, m */
    double *BJ;            /* B J', nv x m */
    double *W, *inertia;   /* J B J' and Lambda, m x m */
    double *U;             /* U D U' = W, with D in place of the diagonal of 1, m x m */
    double *inverse;       /* Jbar, nv x m */
    double *a, *g;         /* nv */
    double *p, *rate;      /* m */
} task_space;

static size_t lay_out(uintptr_t base, task_space *s) {
    uintptr_t cursor = base;
    const size_t nv = (size_t)s->nv, m = (size_t)s->m;
    const struct {
        double **to;
        size_t count;
    } parts[] = {{&s->M_inverse, nv * nv},
                 {&s->B, nv * nv},
                 {&s->J, m * nv},
                 {&s->drift, m},
                 {&s->BJ, nv * m},
                 {&s->W, m * m},
                 {&s->inertia, m * m},
                 {&s->U, m * m},
                 {&s->a, nv},
                 {&s->g, nv},
                 {&s->p, m},
                 {&s->inverse, nv * m},
                 {&s->rate, m}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].to = dyn_carve(&cursor, parts[i].count * sizeof(double));
    }
    return cursor - base;
}

static double dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* Returns the states of one sample. */
static dyn_constrained_states state_at(const dyn_model *model, const dyn_constrained_states *all, size_t sample,
                                       dyn_given_rows *given) {
    const size_t nv = (size_t)model->nv;
    dyn_constrained_states one = *all;
    one.n = 1;
    one.q += sample * (size_t)model->nq;
    one.v = all->v ? all->v + sample * nv : NULL;
    if (all->given) {
        const size_t skipped = all->given->is_per_sample ? sample * (size_t)all->given->count : 0;
        *given = *all->given;
        given->A += skipped * nv;
        given->acceleration = given->acceleration ? given->acceleration + skipped : NULL;
        one.given = given;
    }
    return one;
}

/* Computes B of one sample. */
static dyn_status find_response(const dyn_model *model, dyn_workspace *w, const dyn_constrained_states *one, double *B,
                                dyn_error *error) {
    const dyn_constraint_space space = {.given = one->given, .acceleration_by_force = B};
    return dyn_constraint_space_quantities(model, w, 1, one->q, &space, error);
}

/* Computes the acceleration of one sample under the joint forces tau and external forces. */
static dyn_status accelerate(const dyn_model *model, dyn_workspace *w, const dyn_constrained_states *one,
                             const double *tau, const dyn_external_forces *forces, double *a, dyn_error *error) {
    const dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.given = one->given);
    return dyn_constrained_forward_dynamics(model, w, 1, one->gravity, one->q, one->v, tau, forces, &options, a, NULL,
                                            NULL, error);
}

/* ---- Operational space ------------------------------------------------------------------------------------------- */

/* Loads J, its drift, B, M^-1, B J' and J B J' of one sample. */
static dyn_status load(const dyn_model *model, dyn_workspace *w, const dyn_constrained_states *one,
                       const dyn_task *task, task_space *s, dyn_error *error) {
    const int nv = s->nv, m = s->m;
    dyn_status status = task_load_rows(model, w, task, one->q, one->v, s->J, s->drift, error);
    if (status == DYN_OK) {
        status = find_response(model, w, one, s->B, error);
    }
    if (status == DYN_OK) {
        status = dyn_minverse(model, w, 1, one->q, s->M_inverse, error);
    }
    for (int i = 0; i < nv && status == DYN_OK; i++) {
        for (int r = 0; r < m; r++) {
            s->BJ[i * m + r] = dot(nv, s->B + i * nv, s->J + r * nv);
        }
    }
    for (int r = 0; r < m && status == DYN_OK; r++) {
        for (int c = 0; c < m; c++) {
            double sum = 0;
            for (int i = 0; i < nv; i++) {
                sum += s->J[r * nv + i] * s->BJ[i * m + c];
            }
            s->W[r * m + c] = sum;
        }
    }
    return status;
}

/* Returns J M^-1 J' at the diagonal entry of a row. */
static double free_entry(const task_space *s, int row) {
    const double *J = s->J + row * s->nv;
    double sum = 0;
    for (int i = 0; i < s->nv; i++) {
        sum += J[i] * dot(s->nv, s->M_inverse + i * s->nv, J);
    }
    return sum;
}

/* Factorizes W = U D U' from the last row on. Returns the row that is not independent, or -1. */
static int factorize(task_space *s) {
    const int m = s->m;
    for (int j = m - 1; j >= 0; j--) {
        double pivot = s->W[j * m + j];
        for (int k = j + 1; k < m; k++) {
            pivot -= s->U[j * m + k] * s->U[j * m + k] * s->U[k * m + k];
        }
        if (!(pivot > independent * free_entry(s, j))) {
            return j;
        }
        s->U[j * m + j] = pivot;
        for (int i = 0; i < j; i++) {
            double entry = s->W[i * m + j];
            for (int k = j + 1; k < m; k++) {
                entry -= s->U[i * m + k] * s->U[j * m + k] * s->U[k * m + k];
            }
            s->U[i * m + j] = entry / pivot;
        }
    }
    return -1;
}

/* Solves U D U' x = x in place. */
static void solve(const task_space *s, double *x) {
    const int m = s->m;
    for (int i = m - 1; i >= 0; i--) {
        for (int k = i + 1; k < m; k++) {
            x[i] -= s->U[i * m + k] * x[k];
        }
    }
    for (int i = 0; i < m; i++) {
        x[i] /= s->U[i * m + i];
        for (int k = 0; k < i; k++) {
            x[i] -= s->U[k * m + i] * x[k];
        }
    }
}

/* Computes Lambda and Jbar. */
static dyn_status invert(task_space *s, size_t sample, dyn_error *error) {
    const int m = s->m, dependent = factorize(s);
    if (dependent >= 0) {
        const dyn_error_site site = {
            .cause = DYN_CAUSE_SINGULAR_TASK, .argument = "task", .has_sample = true, .sample = sample};
        return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site,
                            "the task is singular: its row %d depends on those behind it, or the constraints hold it; "
                            "leave it out, or ask for the inverse inertia alone",
                            dependent);
    }
    for (int c = 0; c < m; c++) {
        memset(s->rate, 0, (size_t)m * sizeof *s->rate);
        s->rate[c] = 1;
        solve(s, s->rate);
        for (int r = 0; r < m; r++) {
            s->inertia[r * m + c] = s->rate[r];
        }
    }
    for (int i = 0; i < s->nv; i++) {
        for (int c = 0; c < m; c++) {
            s->inverse[i * m + c] = dot(m, s->BJ + i * m, s->inertia + c * m);
        }
    }
    return DYN_OK;
}

/* Computes p and mu into s->p and s->rate: Lambda (J a + dJ/dt v) + mu + p = 0 without joint forces. */
static dyn_status find_bias(const dyn_model *model, dyn_workspace *w, const dyn_constrained_states *one, task_space *s,
                            dyn_error *error) {
    dyn_status status = dyn_gravity(model, w, 1, one->gravity, one->q, s->g, error);
    if (status == DYN_OK) {
        status = accelerate(model, w, one, NULL, NULL, s->a, error);
    }
    for (int r = 0; r < s->m && status == DYN_OK; r++) {
        s->rate[r] = -s->drift[r] - dot(s->nv, s->J + r * s->nv, s->a);
        s->p[r] = 0;
        for (int i = 0; i < s->nv; i++) {
            s->p[r] += s->inverse[i * s->m + r] * s->g[i];
        }
    }
    if (status == DYN_OK) {
        solve(s, s->rate);
    }
    for (int r = 0; r < s->m && status == DYN_OK; r++) {
        s->rate[r] -= s->p[r];
    }
    return status;
}

/* Copies numbers of a sample to an output, unless it is NULL. */
static void store(double *to, size_t sample, size_t count, const double *from) {
    if (to) {
        memcpy(to + sample * count, from, count * sizeof *to);
    }
}

static void store_projector(const task_space *s, double *N) {
    for (int i = 0; i < s->nv; i++) {
        for (int j = 0; j < s->nv; j++) {
            double sum = i == j;
            for (int r = 0; r < s->m; r++) {
                sum -= s->inverse[i * s->m + r] * s->J[r * s->nv + j];
            }
            N[i * s->nv + j] = sum;
        }
    }
}

static dyn_status compute_sample(const dyn_model *model, dyn_workspace *w, const dyn_constrained_states *all,
                                 const dyn_task *task, size_t sample, const dyn_constrained_task *to, task_space *s,
                                 dyn_error *error) {
    const size_t nv = (size_t)s->nv, m = (size_t)s->m;
    const bool has_bias = to->bias || to->gravity_force;
    dyn_given_rows given;
    const dyn_constrained_states one = state_at(model, all, sample, &given);
    dyn_status status = load(model, w, &one, task, s, error);
    if (status == DYN_OK) {
        store(to->inverse_inertia, sample, m * m, s->W);
    }
    if (status == DYN_OK && (to->inertia || has_bias || to->inverse || to->projector)) {
        status = invert(s, sample, error);
    }
    if (status == DYN_OK && has_bias) {
        status = find_bias(model, w, &one, s, error);
    }
    if (status == DYN_OK) {
        store(to->inertia, sample, m * m, s->inertia);
        store(to->bias, sample, m, s->rate);
        store(to->gravity_force, sample, m, s->p);
        store(to->inverse, sample, nv * m, s->inverse);
    }
    if (status == DYN_OK && to->projector) {
        store_projector(s, to->projector + sample * nv * nv);
    }
    return status;
}

dyn_status dyn_constrained_operational_space(const dyn_model *model, dyn_workspace *workspace,
                                             const dyn_constrained_states *states, const dyn_task *task,
                                             const dyn_constrained_task *quantities, dyn_error *error) {
    double none;
    /* Without a sample, this checks the task. */
    dyn_status status = dyn_operational_space(model, workspace, 0, states->gravity, states->q, states->v, task, &none,
                                              NULL, NULL, NULL, NULL, NULL, error);
    if (status != DYN_OK) {
        return status;
    }
    task_space s = {.nv = model->nv, .m = dyn_task_row_count(task)};
    void *memory = aligned_alloc(CARVE_ALIGNMENT, dyn_carve_size(lay_out(0, &s)));
    if (!memory) {
        return dyn_error_memory(error);
    }
    lay_out((uintptr_t)memory, &s);
    for (size_t i = 0; i < states->n && status == DYN_OK; i++) {
        status = compute_sample(model, workspace, states, task, i, quantities, &s, error);
        if (status != DYN_OK && error->site.has_sample) {
            error->site.sample = i;
        }
    }
    free(memory);
    return status;
}

/* ---- Forces of tasks --------------------------------------------------------------------------------------------- */

/* Call with its inputs, and memory of a sample. */
typedef struct torques_call {
    const dyn_model *model;
    dyn_workspace *workspace;
    const dyn_constrained_states *states;
    const dyn_external_forces *forces;
    const double *bias; /* h - J' f_ext of all samples, n x nv */
} torques_call;

/* Returns the forces of one sample, listed in `list`. */
static dyn_external_forces forces_at(const dyn_external_forces *all, size_t sample, dyn_external_force *list) {
    const size_t count = all ? all->count : 0;
    for (size_t i = 0; i < count; i++) {
        list[i] = all->force[i];
        list[i].wrench += sample * list[i].stride;
    }
    return (dyn_external_forces){count, list};
}

/* Computes B and the acceleration of a sample under the forces of h (task_response). `context` is the call. */
static dyn_status load_response(void *context, size_t sample, double *B, double *a_0, dyn_error *error) {
    const torques_call *call = context;
    const size_t count = call->forces ? call->forces->count : 0;
    dyn_external_force *list = calloc(count + 1, sizeof *list);
    dyn_given_rows given;
    const dyn_constrained_states one = state_at(call->model, call->states, sample, &given);
    if (!list) {
        return dyn_error_memory(error);
    }
    const dyn_external_forces forces = forces_at(call->forces, sample, list);
    dyn_status status = find_response(call->model, call->workspace, &one, B, error);
    if (status == DYN_OK) {
        status = accelerate(call->model, call->workspace, &one, call->bias + sample * (size_t)call->model->nv,
                            count > 0 ? &forces : NULL, a_0, error);
    }
    free(list);
    return status;
}

/* Replaces the forces tau of the tree's joints by those of the motors that cause the same motion. */
static dyn_status distribute(const torques_call *call, double *tau, dyn_error *error) {
    const dyn_constrained_states *s = call->states;
    const size_t count = s->n * (size_t)call->model->nv;
    const dyn_constraint_options forward = DYN_CONSTRAINT_OPTIONS_INIT(.given = s->given);
    const dyn_constrained_inverse_options inverse = DYN_CONSTRAINED_INVERSE_OPTIONS_INIT(.given = s->given);
    double *a = malloc((count + 1) * sizeof *a);
    dyn_status status = a ? dyn_constrained_forward_dynamics(call->model, call->workspace, s->n, s->gravity, s->q, s->v,
                                                             tau, call->forces, &forward, a, NULL, NULL, error)
                          : dyn_error_memory(error);
    if (status == DYN_OK) {
        status = dyn_constrained_inverse_dynamics(call->model, call->workspace, s->n, s->gravity, s->q, s->v, a,
                                                  call->forces, &inverse, tau, NULL, NULL, error);
    }
    free(a);
    return status;
}

dyn_status dyn_constrained_task_torques(const dyn_model *model, dyn_workspace *workspace,
                                        const dyn_constrained_states *states, const dyn_external_forces *forces,
                                        const dyn_task_goal *goal, const double *tau_0, const dyn_task_torques *results,
                                        dyn_error *error) {
    const dynamics_inputs in = {states->gravity, states->q, states->v, "tau", tau_0, forces};
    double *bias = malloc((states->n * (size_t)model->nv + 1) * sizeof *bias);
    torques_call call = {model, workspace, states, forces, bias};
    const task_response response = {load_response, &call};
    dyn_status status =
        bias ? dyn_rnea(model, workspace, states->n, states->gravity, states->q, states->v, NULL, forces, bias, error)
             : dyn_error_memory(error);
    if (status == DYN_OK) {
        status = task_torques_under(model, workspace, states->n, &in, goal, &response, results, error);
    }
    if (status == DYN_OK && results->tau) {
        status = distribute(&call, results->tau, error);
    }
    free(bias);
    return status;
}
