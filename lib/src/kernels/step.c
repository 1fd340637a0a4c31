/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One step forward in time of M(q) a + h(q, v) = tau + r(q, v), with the forces r of joint_resistance.c. Constraints
 * add A' lambda to the forces wherever an acceleration is computed (step_constraint).
 *
 *     explicit Euler        q' = q (+) dt v       v' = v + dt a(q, v)
 *     semi-implicit Euler   v' = v + dt a         q' = q (+) dt v'
 *                           (M + dt K) a = tau - h - K v + s: damping and friction act on the new velocity,
 *                           r = -K v' + s
 *     Runge-Kutta 4         the classical scheme for (u, v), where q (+) u is the configuration and
 *                           du/dt = V + u x V / 2 + u x (u x V) / 12
 * tau is constant over the step, or linear from tau_begin to tau_end.
 *
 * Source: Hairer, Lubich and Wanner 2006, sections I.1, II.1 and IV.8; Munthe-Kaas 1999.
 */
#include "instance.h"

/* Memory of a step: one slope, the sums of the slopes, an intermediate state, forces and the diagonal. */
typedef struct step_memory {
    real *u, *u_rate, *a, *u_sum, *v_sum, *v, *tau, *diagonal, *q;
    void *rest;
} step_memory;

static step_memory lay_out(const dyn_model *model, void *memory) {
    int nv = model->nv;
    real *x = (real *)memory;
    step_memory m = {x,          x + nv,     x + 2 * nv, x + 3 * nv, x + 4 * nv,
                     x + 5 * nv, x + 6 * nv, x + 7 * nv, x + 8 * nv, x + 8 * nv + model->nq};
    return m;
}

size_t KERNEL(step_memory)(const dyn_model *model) {
    size_t dynamics = KERNEL(forward_dynamics_memory)(model), integrate = KERNEL(integrate_memory)(model);
    return (size_t)(8 * model->nv + model->nq) * sizeof(real) + (dynamics > integrate ? dynamics : integrate);
}

/* Arguments of a step that do not change between its stages. */
typedef struct step_call {
    const dyn_model *model;
    const step_parameters *p;
    const wrench_set *forces;
    const real *tau_begin, *tau_end;
    real *pivots;
} step_call;

/* Computes tau at the fraction s of the step. */
static void force_at(const step_call *c, real s, real *tau) {
    for (int j = 0; j < c->model->nv; j++) {
        tau[j] = c->tau_end ? real_fma(s, c->tau_end[j] - c->tau_begin[j], c->tau_begin[j]) : c->tau_begin[j];
    }
}

/* Computes a(q, v) of the tree under m->tau, with `diagonal` (NULL: zeros) added to the diagonal of M. Uses the
 * compiled model if there is one. */
static void tree_dynamics(const step_call *c, const step_memory *m, const real *q, const real *v, const real *diagonal,
                          real *a) {
    compiled_packed *compiled = diagonal ? c->p->compiled.resisted_aba : c->p->compiled.aba;
    if (compiled && (!c->forces || c->forces->count == 0)) {
        const void *in[] = {q, v, m->tau, diagonal};
        void *out[] = {a, c->pivots};
        compiled(in, c->p->compiled.sines, out);
        return;
    }
    const packed_inputs in = {c->p->gravity, q, v, m->tau, c->forces};
    KERNEL(resisted_forward_dynamics)(c->model, m->rest, &in, diagonal, c->pivots, a);
}

/* Computes a(q, v) at the fraction s of the step as tree_dynamics does, with the constraints of the model. */
static void forward_dynamics(const step_call *c, const step_memory *m, double s, const real *q, const real *v,
                             const real *diagonal, real *a) {
    const step_constraint *constraint = &c->p->constraint;
    if (constraint->accelerate && !c->p->compiled.aba) {
        const packed_inputs in = {c->p->gravity, q, v, m->tau, c->forces};
        constraint->accelerate(constraint->context, s, &in, diagonal, c->pivots, a);
        return;
    }
    tree_dynamics(c, m, q, v, diagonal, a);
    if (constraint->apply) {
        constraint->apply(constraint->context, s, q, v, diagonal, a);
    }
}

/* Computes a(q, v) at the fraction s of the step. */
static void accelerate(const step_call *c, const step_memory *m, double s, const real *q, const real *v, real *a) {
    force_at(c, real_set(s), m->tau);
    KERNEL(add_resistance)(c->model, &c->p->resistance, q, v, m->tau);
    forward_dynamics(c, m, s, q, v, NULL, a);
}

size_t KERNEL(resisted_acceleration_memory)(const dyn_model *model) {
    return (size_t)model->nv * sizeof(real) + KERNEL(forward_dynamics_memory)(model);
}

void KERNEL(resisted_acceleration)(const dyn_model *model, void *memory, const step_parameters *p, const void *q,
                                   const void *v, const void *tau, void *pivots, void *a) {
    step_call c = {model, p, NULL, (const real *)tau, NULL, (real *)pivots};
    step_memory m = lay_out(model, memory);
    m.tau = (real *)memory, m.rest = (real *)memory + model->nv;
    accelerate(&c, &m, 0, (const real *)q, (const real *)v, (real *)a);
}

/* Computes x = y + s z. */
static void add_scaled(int n, const real *y, double s, const real *z, real *x) {
    for (int j = 0; j < n; j++) {
        x[j] = real_fma(real_set(s), z[j], y[j]);
    }
}

static void explicit_euler(const step_call *c, const step_memory *m, const real *q, const real *v, real *q_next,
                           real *v_next) {
    accelerate(c, m, 0, q, v, m->a);
    KERNEL(integrate)(c->model, m->rest, q, v, c->p->dt, q_next);
    add_scaled(c->model->nv, v, c->p->dt, m->a, v_next);
}

static void semi_implicit_euler(const step_call *c, const step_memory *m, const real *q, const real *v, real *q_next,
                                real *v_next) {
    int nv = c->model->nv;
    force_at(c, real_set(0), m->tau);
    real *diagonal = KERNEL(resist_implicitly)(c->model, &c->p->resistance, c->p->dt, q, v, m->tau, m->diagonal)
                         ? m->diagonal
                         : NULL;
    forward_dynamics(c, m, 0, q, v, diagonal, m->a);
    add_scaled(nv, v, c->p->dt, m->a, v_next);
    KERNEL(integrate)(c->model, m->rest, q, v_next, c->p->dt, q_next);
}

static void runge_kutta_4(const step_call *c, const step_memory *m, const real *q, const real *v, real *q_next,
                          real *v_next) {
    static const double fraction[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    int nv = c->model->nv;
    double dt = c->p->dt;
    for (int i = 0; i < 4; i++) {
        const real *q_stage = q, *v_stage = v;
        if (i > 0) {
            /* Each stage starts from (q, v) along the slope of the previous one. */
            double h = fraction[i] * dt;
            KERNEL(integrate)(c->model, m->rest, q, m->u_rate, h, m->q);
            for (int j = 0; j < nv; j++) {
                m->u[j] = real_set(h) * m->u_rate[j];
            }
            add_scaled(nv, v, h, m->a, m->v);
            q_stage = m->q, v_stage = m->v;
            KERNEL(increment_rate)(c->model, m->u, v_stage, m->u_rate);
        } else {
            add_scaled(nv, v, 0, v, m->u_rate);
        }
        accelerate(c, m, fraction[i], q_stage, v_stage, m->a);
        for (int j = 0; j < nv; j++) {
            real w = real_set(weight[i]);
            m->u_sum[j] = i == 0 ? w * m->u_rate[j] : real_fma(w, m->u_rate[j], m->u_sum[j]);
            m->v_sum[j] = i == 0 ? w * m->a[j] : real_fma(w, m->a[j], m->v_sum[j]);
        }
    }
    KERNEL(integrate)(c->model, m->rest, q, m->u_sum, dt, q_next);
    add_scaled(nv, v, dt, m->v_sum, v_next);
}

void KERNEL(step)(const dyn_model *model, void *memory, const step_parameters *p, const step_input *in, void *pivots,
                  void *q_next, void *v_next) {
    const real *q = (const real *)in->q, *v = (const real *)in->v;
    step_memory m = lay_out(model, memory);
    step_call c = {model, p, in->forces, (const real *)in->tau_begin, (const real *)in->tau_end, (real *)pivots};
    switch (p->scheme) {
    case STEP_EXPLICIT_EULER:
        explicit_euler(&c, &m, q, v, (real *)q_next, (real *)v_next);
        break;
    case STEP_SEMI_IMPLICIT_EULER:
        semi_implicit_euler(&c, &m, q, v, (real *)q_next, (real *)v_next);
        break;
    case STEP_RUNGE_KUTTA_4:
        runge_kutta_4(&c, &m, q, v, (real *)q_next, (real *)v_next);
        break;
    }
}
