/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/flexible.h"

#include <dynamics/flexible_chain.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "methods/formulate_reply.h"
#include "methods/formulated_quantity.h"
#include "methods/geometry.h"

static const char FORMULATION[] = "book_flexible";

/* Links of a request with their modes, the states of joints and modes, and the results. */
typedef struct flexible_task {
    size_t link_count, mode_count, size; /* size: joints and modes */
    dyn_flexible_link *links;
    double *x, *v, *a; /* of joints and modes, n x size */
    double *given;     /* forces of joints and modes that the request states, n x size; NULL: none */
    double *tau;       /* n x nv */
    formulated_blocks *found;
} flexible_task;

/* Results of one state, in scratch memory. */
typedef struct flexible_result {
    double *forces, *a_free, *a; /* of joints and modes */
    double *M;                   /* size x size */
} flexible_result;

static size_t count_result(const flexible_task *t) {
    return t->size * (t->size + 3);
}

bool flexible_links_are_absent(batch *b, const Dynamics__V1__FormulateRequest *r) {
    const struct {
        const char *name;
        size_t count;
    } fields[] = {{"mode_q", r->n_mode_q},
                  {"mode_v", r->n_mode_v},
                  {"mode_a", r->n_mode_a},
                  {"tau", r->n_tau},
                  {"mode_tau", r->n_mode_tau}};
    const char *field = NULL;
    if (r->n_flexible_links > 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields && !field; i++) {
        field = fields[i].count > 0 ? fields[i].name : NULL;
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

/* Computes the modes of a beam, with what it carries. */
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
    const dyn_beam_load load = {b->model, to->link, b->values.payload_count, b->values.payloads};
    if (dyn_beam_carry(beam, count, &load, list, products, &error) != DYN_OK) {
        call_blame(b->call, "%s.link", path);
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

/* Array of the states as the request has it: numbers of the joints, and numbers of the modes. */
typedef struct sent_state {
    const char *joint_field;
    size_t joint_count;
    const double *joints;
    const char *mode_field;
    size_t mode_count;
    const double *modes;
} sent_state;

static bool check_finite(batch *b, const char *field, size_t count, const double *values) {
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            batch_blame(b, "%s[%zu]", field, i);
            call_fail(b->call, REASON_NOT_FINITE, "%s[%zu] is %g; pass a finite number", field, i, values[i]);
            return false;
        }
    }
    return true;
}

/* Reads one array of the states: in each, that of the joints, then that of the modes; absent ones are zero. */
static double *read_state(batch *b, const flexible_task *t, sent_state from) {
    if (from.mode_count > 0 && from.mode_count != b->n * t->mode_count) {
        batch_blame(b, "%s", from.mode_field);
        call_fail(b->call, REASON_WRONG_COUNT, "%s has %zu values; pass %zu, one for each mode of each state, or none",
                  from.mode_field, from.mode_count, b->n * t->mode_count);
        return NULL;
    }
    if (!check_finite(b, from.joint_field, from.joint_count, from.joints) ||
        !check_finite(b, from.mode_field, from.mode_count, from.modes)) {
        return NULL;
    }
    double *rows = call_allocate(b->call, b->n * t->size, sizeof *rows);
    for (size_t i = 0; rows && i < from.joint_count; i++) {
        rows[i / b->nv * t->size + i % b->nv] = from.joints[i];
    }
    for (size_t i = 0; rows && i < from.mode_count; i++) {
        rows[i / t->mode_count * t->size + b->nv + i % t->mode_count] = from.modes[i];
    }
    return rows;
}

static bool read_states(batch *b, const Dynamics__V1__FormulateRequest *r, flexible_task *t) {
    t->x = read_state(b, t, (sent_state){"q", r->n_q, r->q, "mode_q", r->n_mode_q, r->mode_q});
    t->v = t->x ? read_state(b, t, (sent_state){"v", r->n_v, r->v, "mode_v", r->n_mode_v, r->mode_v}) : NULL;
    t->a = t->v ? read_state(b, t, (sent_state){"a", r->n_a, r->a, "mode_a", r->n_mode_a, r->mode_a}) : NULL;
    if (t->a && (r->n_tau > 0 || r->n_mode_tau > 0)) {
        t->given = read_state(b, t, (sent_state){"tau", r->n_tau, r->tau, "mode_tau", r->n_mode_tau, r->mode_tau});
        return t->given != NULL;
    }
    return t->a != NULL;
}

/* ---- computing --------------------------------------------------------------------------------------------------- */

/* Computes all results of a chain in state s. */
static dyn_status compute(const batch *b, const flexible_task *t, size_t s, dyn_flexible_chain *chain,
                          const flexible_result *to, dyn_error *error) {
    const double *gravity = b->values.gravity, *x = t->x + s * t->size, *v = t->v + s * t->size;
    double *joint_forces = to->M; /* M is computed last */
    dyn_base_motion base;
    dyn_flexible_chain_move_base(chain, batch_base(b, s, &base));
    dyn_status status = dyn_flexible_inverse_dynamics(chain, gravity, x, v, t->a + s * t->size, to->forces, error);
    if (status != DYN_OK) {
        return status;
    }
    memset(joint_forces, 0, t->size * sizeof *joint_forces);
    memcpy(joint_forces, to->forces, b->nv * sizeof *joint_forces);
    memcpy(t->tau + s * b->nv, to->forces, b->nv * sizeof *t->tau);
    status = dyn_flexible_forward_dynamics(chain, gravity, x, v, joint_forces, to->a_free, error);
    if (status == DYN_OK && t->given) {
        status = dyn_flexible_forward_dynamics(chain, gravity, x, v, t->given + s * t->size, to->a, error);
    }
    return status == DYN_OK ? dyn_flexible_inertia_matrix(chain, x, to->M, error) : status;
}

/* Stores the blocks of state s. */
static dyn_status store(const batch *b, const flexible_task *t, size_t s, const flexible_result *from,
                        dyn_error *error) {
    const int modes = (int)t->mode_count, size = (int)t->size;
    block_set found = {t->given ? 4 : 3,
                       {{"tau_modes", NULL, 1, {modes}, from->forces + b->nv},
                        {"M", NULL, 2, {size, size}, from->M},
                        {"a_free", NULL, 1, {size}, from->a_free},
                        {"a", NULL, 1, {size}, from->a}}};
    for (int i = 0; i < found.count; i++) {
        found.blocks[i].traits = dyn_formulation_find_block(FORMULATION, found.blocks[i].name);
    }
    return formulated_blocks_store(t->found, s, &found, error);
}

static dyn_status flexible_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                                dyn_error *error) {
    const flexible_task *t = context;
    double *scratch = w->scratch;
    const flexible_result result = {scratch, scratch + t->size, scratch + 2 * t->size, scratch + 3 * t->size};
    dyn_flexible_chain *chain = NULL;
    dyn_status status = dyn_flexible_chain_create(w->model, t->link_count, t->links, &chain, error);
    if (status != DYN_OK && error->site.argument && strcmp(error->site.argument, "links") == 0) {
        error->site.argument = "flexible_links";
    }
    for (size_t i = 0; status == DYN_OK && i < count && !formulated_blocks_exceed(t->found); i++) {
        status = compute(b, t, first + i, chain, &result, error);
        status = status == DYN_OK ? store(b, t, first + i, &result, error) : status;
        if (status != DYN_OK) {
            error->site.sample += i;
            error->site.index += i * error->site.width;
        } else if (!batch_proceed(b, 1)) {
            status = DYN_CANCELLED;
        }
    }
    dyn_flexible_chain_free(chain);
    return status;
}

void flexible_formulate(batch *b, const Dynamics__V1__FormulateRequest *r) {
    formulated_blocks found;
    flexible_task t = {.found = &found};
    formulated_blocks_open(b, &found);
    b->parts = 1;
    b->block_size = FORMULATED_STATES;
    if (check_query(b) && read_links(b, r, &t) && read_states(b, r, &t) && batch_begin(b, FORMULATED_STATE_COST)) {
        t.tau = batch_output(b, b->nv);
        if (t.tau && batch_run(b, flexible_step, &t, count_result(&t) * sizeof(double))) {
            formulate_reply(b, FORMULATION, t.tau, &found);
        }
    }
    formulated_blocks_close(&found);
}
