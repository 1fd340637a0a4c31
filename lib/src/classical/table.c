/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of formulations of one instance, and the functions that its users call.
 */
#include "articulated_inertia.h"
#include "base_motion.h"
#include "derived.h"
#include "external_forces.h"
#include "world_links.h"

static const formulation *const rows[] = {
#define FORMULATION(name) &KERNEL(name),
#include "formulations.inc"
#undef FORMULATION
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static const dyn_formulation_traits *traits_of(int row) {
    return &rows[row]->traits;
}

static bool has_tip_constraints(int row) {
    return rows[row] == &KERNEL(vereshchagin);
}

static bool spreads(int row) {
    return rows[row] == &KERNEL(constraint_force);
}

/* Returns whether the formulation itself begins with the motion of the base. Formulations that state the mass matrix
 * alone do so, because their h is that of newton_euler. */
static bool has_base_motion(int row) {
    static const formulation *const with[] = {&KERNEL(newton_euler), &KERNEL(absolute_coordinates),
                                              &KERNEL(constraint_force), &KERNEL(newton_euler_factorization)};
    bool is_with = !rows[row]->inverse && !rows[row]->forward;
    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++) {
        is_with = is_with || rows[row] == with[i];
    }
    return is_with;
}

/* Allocates nv zeros, which stand for a v or an a that the caller did not state. Returns NULL where the scratch only
 * measures. */
static real *take_zeros(const mechanism *m, scratch *s) {
    real *zeros = scratch_reals(s, (size_t)m->nv);
    if (zeros) {
        real_clear(zeros, m->nv);
    }
    return zeros;
}

static size_t memory_size(int row, const dyn_model *model) {
    static const double gravity[3] = {0, 0, 0};
    scratch s = scratch_measure();
    mechanism m = KERNEL(mechanism_at)(model, gravity, NULL, &s);
    take_zeros(&m, &s);
    KERNEL(external_forces)(&m, NULL, 0, &s);
    KERNEL(generalized_forces)(&m, NULL, &s);
    scratch_reals(&s, (size_t)m.nv);
    KERNEL(base_forces)(&m, NULL, &s, NULL, NULL);
    KERNEL(reserve_derived)(rows[row], &m, &s);
    return s.used;
}

/* State of a call: the placed mechanism, and v and x (a or tau), which are zeros where the caller states none. */
typedef struct call_state {
    scratch s;
    mechanism m;
    const real *v, *x;
    real *Jf;   /* J' f of the external forces that the formulation does not consider itself; NULL: none */
    real *base; /* forces that a moving base causes, of a formulation that does not consider it itself; NULL: none */
} call_state;

/* Applies the external forces of a call. */
static void load(const formulation_call *call, call_state *c) {
    const force *f = KERNEL(external_forces)(&c->m, call->forces, call->sample, &c->s);
    bool is_considered = rows[call->row]->traits.external_forces;
    c->m.external = is_considered ? f : NULL;
    c->Jf = f && !is_considered ? KERNEL(generalized_forces)(&c->m, f, &c->s) : NULL;
}

/* Sets the base of a call into motion. */
static void move_base(const formulation_call *call, call_state *c) {
    const dyn_base_motion *base = call->base;
    c->base = NULL;
    if (!base || !base->twist) {
        return;
    }
    mechanism moving = c->m;
    KERNEL(set_base_motion)
    (base->twist + call->sample * base->stride, base->acceleration + call->sample * base->stride, &moving);
    if (has_base_motion(call->row)) {
        c->m = moving;
        return;
    }
    c->base = scratch_reals(&c->s, (size_t)c->m.nv);
    KERNEL(base_forces)(&moving, c->v, &c->s, c->base, NULL);
}

static call_state open_call(const formulation_call *call, const void *q, const void *v, const void *x) {
    call_state c;
    c.s = scratch_measure();
    c.s.block = (char *)call->memory;
    c.m = KERNEL(mechanism_at)(call->model, call->gravity, (const real *)q, &c.s);
    c.m.tip_count = call->tip_count, c.m.tip = call->tip;
    c.m.lanes = call->lanes, c.m.spread = call->spread;
    const real *zeros = take_zeros(&c.m, &c.s);
    c.v = v ? (const real *)v : zeros;
    c.x = x ? (const real *)x : zeros;
    load(call, &c);
    move_base(call, &c);
    return c;
}

static void compute_inverse(const formulation_call *call, const void *q, const void *v, const void *a, void *tau) {
    call_state c = open_call(call, q, v, a);
    KERNEL(derive_inverse)(rows[call->row], &c.m, &c.s, c.v, c.x, (real *)tau);
    for (int k = 0; c.Jf && k < c.m.nv; k++) {
        ((real *)tau)[k] = ((real *)tau)[k] - c.Jf[k];
    }
    for (int k = 0; c.base && k < c.m.nv; k++) {
        ((real *)tau)[k] = ((real *)tau)[k] + c.base[k];
    }
}

static void compute_forward(const formulation_call *call, const void *q, const void *v, const void *tau, void *a) {
    call_state c = open_call(call, q, v, tau);
    for (int k = 0; c.Jf && k < c.m.nv; k++) {
        c.Jf[k] = c.Jf[k] + c.x[k];
    }
    const real *forces = c.Jf ? c.Jf : c.x;
    for (int k = 0; c.base && k < c.m.nv; k++) {
        c.base[k] = forces[k] - c.base[k];
    }
    KERNEL(derive_forward)(rows[call->row], &c.m, &c.s, c.v, c.base ? c.base : forces, (real *)a);
}

static void compute_mass_matrix(const formulation_call *call, const void *q, void *M) {
    call_state c = open_call(call, q, NULL, NULL);
    KERNEL(derive_mass_matrix)(rows[call->row], &c.m, &c.s, (real *)M);
}

static int compute_coefficients(const formulation_call *call, const void *q, const void *v, const void *a,
                                dyn_formulation_block *blocks) {
    call_state c = open_call(call, q, v, a);
    block_list list = {0, blocks};
    if (rows[call->row]->coefficients) {
        rows[call->row]->coefficients(&c.m, &c.s, c.v, c.x, &list);
    }
    if (c.Jf) {
        KERNEL(add_block)(&list, "J_f", block_of(c.m.nv, 0, 0, 0), c.Jf);
    }
    if (c.base) {
        KERNEL(add_block)
        (&list, "tau_base", block_of(c.m.nv, 0, 0, 0), c.base);
    }
    return list.count;
}

static size_t base_memory_size(const dyn_model *model) {
    static const double gravity[3] = {0, 0, 0};
    scratch s = scratch_measure();
    mechanism m = KERNEL(mechanism_at)(model, gravity, NULL, &s);
    take_zeros(&m, &s);
    KERNEL(base_force_derivatives)(&m, NULL, &s, NULL, NULL); /* needs the most */
    return s.used;
}

/* Returns the mechanism of a call whose base moves by call->base, without gravity, and sets *zeros to nv zeros. */
static mechanism open_base_call(const formulation_call *call, const void *q, scratch *s, const real **zeros) {
    static const double gravity[3] = {0, 0, 0};
    *s = scratch_measure();
    s->block = (char *)call->memory;
    mechanism m = KERNEL(mechanism_at)(call->model, gravity, (const real *)q, s);
    *zeros = take_zeros(&m, s);
    KERNEL(set_base_motion)(call->base->twist, call->base->acceleration, &m);
    return m;
}

static void compute_base_forces(const formulation_call *call, const void *q, const void *v, void *tau, void *wrenches) {
    scratch s;
    const real *zeros;
    mechanism m = open_base_call(call, q, &s, &zeros);
    KERNEL(base_forces)(&m, v ? (const real *)v : zeros, &s, (real *)tau, (real *)wrenches);
}

static void compute_base_force_derivatives(const formulation_call *call, const void *q, const void *v, void *dq,
                                           void *dv) {
    scratch s;
    const real *zeros;
    mechanism m = open_base_call(call, q, &s, &zeros);
    KERNEL(base_force_derivatives)(&m, v ? (const real *)v : zeros, &s, (real *)dq, (real *)dv);
}

void KERNEL(add_block)(block_list *list, const char *name, block_shape shape, const void *values) {
    dyn_formulation_block *block = &list->blocks[list->count++];
    block->name = name;
    block->traits = NULL;
    block->dimensions = 0;
    for (int i = 0; i < DYN_FORMULATION_EXTENTS; i++) {
        block->extents[i] = shape.extents[i];
        block->dimensions += shape.extents[i] > 0;
    }
    block->values = (const double *)values;
}

static size_t articulated_memory_size(const dyn_model *model) {
    static const double gravity[3] = {0, 0, 0};
    scratch s = scratch_measure();
    mechanism m = KERNEL(mechanism_at)(model, gravity, NULL, &s);
    take_zeros(&m, &s);
    KERNEL(external_forces)(&m, NULL, 0, &s);
    KERNEL(articulate_body)(&m, NULL, NULL, NULL, &s, NULL, NULL);
    return s.used;
}

static void compute_articulated_inertia(const formulation_call *call, const void *q, const void *v, const void *tau,
                                        const articulated_frame *of, void *inertia, void *bias) {
    scratch s = scratch_measure();
    s.block = (char *)call->memory;
    mechanism m = KERNEL(mechanism_at)(call->model, call->gravity, (const real *)q, &s);
    const real *zeros = take_zeros(&m, &s);
    m.external = KERNEL(external_forces)(&m, call->forces, call->sample, &s);
    KERNEL(articulate_body)
    (&m, v ? (const real *)v : zeros, tau ? (const real *)tau : zeros, of, &s, (real *)inertia, (real *)bias);
}

static size_t tree_memory_size(const dyn_model *model) {
    static const double gravity[3] = {0, 0, 0};
    scratch s = scratch_measure();
    mechanism m = KERNEL(mechanism_at)(model, gravity, NULL, &s);
    KERNEL(world_links)(&m, NULL, &s);
    return s.used;
}

static void place_tree(const formulation_call *call, const void *q, void *subspaces, void *inertias) {
    scratch s = scratch_measure();
    s.block = (char *)call->memory;
    const mechanism m = KERNEL(mechanism_at)(call->model, call->gravity, (const real *)q, &s);
    const world_link *links = KERNEL(world_links)(&m, NULL, &s);
    real *h = (real *)subspaces, *I = (real *)inertias;
    for (int i = 0; i < m.count; i++, I += 10) {
        const world_link *l = &links[i];
        for (int k = 0; k < l->nv; k++) {
            real *column = h + 6 * (l->v_index + k);
            column[0] = l->h[k].w.x, column[1] = l->h[k].w.y, column[2] = l->h[k].w.z;
            column[3] = l->h[k].v.x, column[4] = l->h[k].v.y, column[5] = l->h[k].v.z;
        }
        I[0] = l->I.m, I[1] = l->I.h.x, I[2] = l->I.h.y, I[3] = l->I.h.z;
        I[4] = l->I.I.xx, I[5] = l->I.I.xy, I[6] = l->I.I.xz;
        I[7] = l->I.I.yy, I[8] = l->I.I.yz, I[9] = l->I.I.zz;
    }
}

const classical_instance KERNEL(classical_instance) = {
    sizeof(real),
    ROW_COUNT,
    traits_of,
    has_tip_constraints,
    spreads,
    memory_size,
    compute_inverse,
    compute_forward,
    compute_mass_matrix,
    compute_coefficients,
    base_memory_size,
    compute_base_forces,
    compute_base_force_derivatives,
    articulated_memory_size,
    compute_articulated_inertia,
    tree_memory_size,
    place_tree,
};
