/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/flexible.h"

#include <dynamics/flexible_chain.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "methods/formulate_reply.h"
#include "methods/geometry.h"

/* Estimated cost of a state, ns: a worker computes it. */
static const double STATE_COST = 1e6;

static const char FORMULATION[] = "book_flexible";

/* Links of a request with their modes, the state of joints and modes, and the results. */
typedef struct flexible_task {
    size_t link_count, mode_count, size; /* size: joints and modes */
    dyn_flexible_link *links;
    double *x, *v, *a;           /* of joints and modes */
    double *forces, *M, *a_free; /* M is size x size */
} flexible_task;

bool flexible_links_are_absent(batch *b, const Dynamics__V1__FormulateRequest *r) {
    const char *field = r->n_mode_q > 0 ? "mode_q" : r->n_mode_v > 0 ? "mode_v" : r->n_mode_a > 0 ? "mode_a" : NULL;
    if (r->n_flexible_links > 0) {
        return false;
    }
    if (field) {
        batch_blame(b, "%s", field);
        call_fail(b->call, REASON_UNUSED_FIELD, "%s needs flexible_links; leave it out", field);
    }
    return !field;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool refuse_part(batch *b, const char *field, const char *advice) {
    call_blame(b->call, "%s", field);
    call_fail(b->call, REASON_UNUSED_FIELD, "flexible links %s", advice);
    return false;
}

/* Checks the parts of the query that exclude flexible links. */
static bool check_query(batch *b) {
    if (strcmp(b->query->formulation, FORMULATION) != 0) {
        return refuse_part(b, "query.formulation", "need the formulation book_flexible");
    }
    if (b->query->n_external_forces > 0) {
        return refuse_part(b, "query.external_forces", "exclude external forces; leave these out");
    }
    return b->query->n_tip_constraints == 0 ||
           refuse_part(b, "query.tip_constraints", "exclude tip constraints; leave these out");
}

/* Sets the field of an error of dyn_beam_modes, whose place is "beam.end", "count", or "beam" for mass and rigidity. */
static void blame_beam(batch *b, const char *path, const dyn_beam *beam, const dyn_error *error) {
    const char *dot = strchr(error->place, '.'), *part = dot ? dot + 1 : beam->mass > 0 ? "rigidity" : "mass";
    part = strcmp(error->place, "count") == 0 ? "modes" : part;
    call_blame(b->call, "%s.%.*s", path, (int)strcspn(part, "["), part);
}

/* Computes the modes of a beam. */
static bool read_modes(batch *b, const char *path, const dyn_beam *beam, int count, dyn_flexible_link *to) {
    size_t modes = (size_t)to->mode_count;
    dyn_flexible_mode *list = call_allocate(b->call, modes, sizeof *list);
    double *products = call_allocate(b->call, 9 * modes * modes, sizeof *products);
    double *stiffness = call_allocate(b->call, modes * modes, sizeof *stiffness);
    dyn_error error = {0};
    if (!list || !products || !stiffness) {
        return false;
    }
    if (dyn_beam_modes(beam, count, list, products, stiffness, &error) != DYN_OK) {
        blame_beam(b, path, beam, &error);
        call_fail_library(b->call, &error);
        return false;
    }
    to->modes = list, to->products = products, to->stiffness = stiffness;
    return true;
}

static bool read_link(batch *b, const char *path, const Dynamics__V1__FlexibleLink *from, dyn_flexible_link *to) {
    char member[PATH_SIZE];
    dyn_beam beam = {.mass = from->mass, .rigidity = {from->rigidity, from->transverse_rigidity}};
    call_blame(b->call, "%s", path_join(member, path, "link"));
    if (!batch_find_frame(b, REASON_LINK_NOT_FOUND, from->link, &to->link) ||
        !geometry_read_vector(b->call, path_join(member, path, "start"), from->start, beam.start) ||
        !geometry_read_vector(b->call, path_join(member, path, "end"), from->end, beam.end) ||
        !geometry_read_vector(b->call, path_join(member, path, "direction"), from->direction, beam.direction)) {
        return false;
    }
    if (from->modes < 1 || from->modes > DYN_BEAM_MODES) {
        call_blame(b->call, "%s", path_join(member, path, "modes"));
        call_fail(b->call, REASON_INVALID_VALUE, "there are %u modes; pass 1 to %d", from->modes, DYN_BEAM_MODES);
        return false;
    }
    to->mode_count = (int)from->modes * (from->transverse_rigidity != 0 ? 2 : 1);
    return read_modes(b, path, &beam, (int)from->modes, to);
}

static bool read_links(batch *b, const Dynamics__V1__FormulateRequest *r, flexible_task *t) {
    if (r->n_flexible_links > b->nv) {
        call_blame(b->call, "flexible_links");
        call_fail(b->call, REASON_WRONG_COUNT, "there are %zu flexible links; pass at most one for each of %zu joints",
                  r->n_flexible_links, b->nv);
        return false;
    }
    t->link_count = r->n_flexible_links;
    t->links = call_allocate(b->call, t->link_count, sizeof *t->links);
    for (size_t i = 0; t->links && i < t->link_count; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "flexible_links[%zu]", i);
        if (!read_link(b, path, r->flexible_links[i], &t->links[i])) {
            return false;
        }
        t->mode_count += (size_t)t->links[i].mode_count;
    }
    t->size = b->nv + t->mode_count;
    return t->links != NULL;
}

/* Reads one array of the state: that of the joints, then that of the modes; absent ones are zero. */
static double *read_state(batch *b, const flexible_task *t, size_t joint_count, const double *joints, const char *field,
                          size_t count, const double *modes) {
    if (count > 0 && count != t->mode_count) {
        batch_blame(b, "%s", field);
        call_fail(b->call, REASON_WRONG_COUNT, "%s has %zu values; pass %zu, one for each mode, or none", field, count,
                  t->mode_count);
        return NULL;
    }
    double *state = call_allocate(b->call, t->size, sizeof *state);
    for (size_t i = 0; state && i < joint_count; i++) {
        state[i] = joints[i];
    }
    for (size_t i = 0; state && i < count; i++) {
        if (!isfinite(modes[i])) {
            batch_blame(b, "%s[%zu]", field, i);
            call_fail(b->call, REASON_NOT_FINITE, "%s[%zu] is %g; pass a finite number", field, i, modes[i]);
            return NULL;
        }
        state[b->nv + i] = modes[i];
    }
    return state;
}

static bool read_states(batch *b, const Dynamics__V1__FormulateRequest *r, flexible_task *t) {
    t->x = read_state(b, t, r->n_q, r->q, "mode_q", r->n_mode_q, r->mode_q);
    t->v = t->x ? read_state(b, t, r->n_v, r->v, "mode_v", r->n_mode_v, r->mode_v) : NULL;
    t->a = t->v ? read_state(b, t, r->n_a, r->a, "mode_a", r->n_mode_a, r->mode_a) : NULL;
    return t->a != NULL;
}

/* ---- computing --------------------------------------------------------------------------------------------------- */

/* Computes all results of a chain. */
static dyn_status compute(const batch *b, const flexible_task *t, dyn_flexible_chain *chain, dyn_error *error) {
    const double *gravity = b->values.gravity;
    double *joint_forces = t->M; /* M is computed last */
    dyn_status status = dyn_flexible_inverse_dynamics(chain, gravity, t->x, t->v, t->a, t->forces, error);
    if (status != DYN_OK) {
        return status;
    }
    memcpy(joint_forces, t->forces, b->nv * sizeof *joint_forces);
    status = dyn_flexible_forward_dynamics(chain, gravity, t->x, t->v, joint_forces, t->a_free, error);
    return status == DYN_OK ? dyn_flexible_inertia_matrix(chain, t->x, t->M, error) : status;
}

static dyn_status flexible_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                                dyn_error *error) {
    const flexible_task *t = context;
    dyn_flexible_chain *chain = NULL;
    (void)first, (void)count;
    dyn_status status = dyn_flexible_chain_create(w->model, t->link_count, t->links, &chain, error);
    if (status == DYN_OK) {
        status = compute(b, t, chain, error);
    } else if (error->site.argument && strcmp(error->site.argument, "links") == 0) {
        error->site.argument = "flexible_links";
    }
    dyn_flexible_chain_free(chain);
    return status;
}

static const char *source_of(const char *name) {
    for (int i = 0; i < dyn_formulation_count(); i++) {
        if (strcmp(dyn_formulation_traits_at(i)->name, name) == 0) {
            return dyn_formulation_traits_at(i)->source;
        }
    }
    return "";
}

void flexible_formulate(batch *b, const Dynamics__V1__FormulateRequest *r) {
    flexible_task t = {0};
    if (!check_query(b) || !read_links(b, r, &t) || !read_states(b, r, &t) || !batch_begin(b, STATE_COST)) {
        return;
    }
    t.forces = batch_output(b, t.size), t.a_free = batch_output(b, t.size), t.M = batch_output(b, t.size * t.size);
    if (call_has_ended(b->call) || !batch_run(b, flexible_step, &t, 0)) {
        return;
    }
    const int modes = (int)t.mode_count, size = (int)t.size;
    const dyn_formulation_block results[] = {
        {"tau_modes", "forces of the modes for this motion", 1, {modes}, t.forces + b->nv},
        {"M", "inertia matrix of joints and modes", 2, {size, size}, t.M},
        {"a_free", "accelerations of joints and modes for tau where the links bend freely", 1, {size}, t.a_free},
    };
    formulate_reply(b, source_of(FORMULATION), t.forces, sizeof results / sizeof *results, results);
}
