/* SPDX-License-Identifier: BSD-2-Clause */
/* Explain: splits the torques of one state into contributions, by term of the equation of motion and by link. */
#include <dynamics/dynamics.h>

#include "methods/coordinates.h"
#include "methods/methods.h"
#include "methods/motion.h"
#include "methods/motion_agreement.h"
#include "methods/passive_forces.h"

/* Number of inertial parameters of a body. */
enum { PARAMETERS = 10 };

/* Terms of the equation of motion. The first LINK_TERMS are sums over the links of the model; PAYLOAD and ROTOR are the
 * contributions of the payloads and of the rotors to these terms. Each kind of passive forces is a term. */
enum {
    INERTIAL,
    CORIOLIS,
    GRAVITY,
    EXTERNAL,
    PAYLOAD,
    ROTOR,
    GEAR,
    CONSTRAINT,
    PASSIVE,
    TERMS = PASSIVE + PASSIVE_KINDS
};
enum { LINK_TERMS = 3 };

static const char *const term_names[PASSIVE] = {"inertial", "coriolis", "gravity",   "external",
                                                "payload",  "rotor",    "gear_loss", "constraint"};

/* Approximate costs of one coordinate in a recursion, and of one joint in a row of the regressor, ns. */
static const double RECURSION_COST = 150;
static const double REGRESSOR_COST = 60;

/* Inputs and outputs of the step. Results are in the model's order. */
typedef struct explanation {
    motion m;
    double *tau;                               /* nv */
    double *terms[TERMS];                      /* nv each */
    double *link_terms[LINK_TERMS];            /* links x nv each */
    double *load_terms[LINK_TERMS];            /* payloads x nv each */
    double *regressor;                         /* nv x joints x PARAMETERS */
    double *rotor_part;                        /* nv: that of the rotors in a term */
    double *gear_memory;                       /* scratch memory of the losses of gears; NULL: they do not count */
    dyn_constrained_inverse_result *agreement; /* of the motion with constraints; NULL: there are none */
} explanation;

static const double WEIGHTLESS[3] = {0, 0, 0};

/* Inputs of the inverse dynamics that yield one term. Inputs that do not contribute to the term are zero. */
typedef struct cause {
    const double *gravity, *v, *a;
} cause;

static cause cause_of(const batch *b, const explanation *e, int term) {
    return (cause){
        .gravity = term == GRAVITY ? b->values.gravity : WEIGHTLESS,
        .v = term == CORIOLIS ? e->m.v : NULL,
        .a = term == INERTIAL ? e->m.a : NULL,
    };
}

/* Adds to tau the joint forces of an inertia in the frame of a link: the regressor's columns of the link's body, times
 * the parameters of the inertia, times `sign`. Adds nothing for a link that does not move. */
static void add_inertia(const batch *b, const explanation *e, int link, const dyn_inertia *inertia, double sign,
                        double *tau) {
    const dyn_link *from = dyn_model_link(b->model, link);
    if (from->moving_joint < 0) {
        return;
    }
    dyn_inertia moved;
    double p[PARAMETERS];
    dyn_inertia_transform(inertia, &from->pose, &moved);
    dyn_inertia_to_parameters(&moved, p);
    size_t columns = PARAMETERS * (size_t)dyn_model_joint_count(b->model);
    for (size_t i = 0; i < b->nv; i++) {
        const double *row = e->regressor + i * columns + PARAMETERS * (size_t)from->moving_joint;
        for (size_t k = 0; k < PARAMETERS; k++) {
            tau[i] += sign * row[k] * p[k];
        }
    }
}

/* Returns whether payload k replaces the inertia of its link, and no earlier payload does. */
static bool replaces_inertia(const batch *b, size_t k) {
    for (size_t i = 0; i < k; i++) {
        if (b->values.payloads[i].replaces && b->values.payloads[i].link == b->values.payloads[k].link) {
            return false;
        }
    }
    return b->values.payloads[k].replaces;
}

/* Computes the contribution of each payload to one of the first LINK_TERMS terms. */
static void split_payloads(const batch *b, const explanation *e, int term) {
    for (size_t k = 0; k < b->values.payload_count; k++) {
        const dyn_payload *load = &b->values.payloads[k];
        double *tau = e->load_terms[term] + k * b->nv;
        add_inertia(b, e, load->link, &load->inertia, 1, tau);
        if (replaces_inertia(b, k)) {
            add_inertia(b, e, load->link, &dyn_model_link(b->model, load->link)->inertia, -1, tau);
        }
    }
}

/* Moves the part of the rotors in one of the first LINK_TERMS terms to their own term. */
static dyn_status separate_rotors(const batch *b, dyn_workspace *w, const explanation *e, int term, dyn_error *error) {
    cause from = cause_of(b, e, term);
    dyn_status status = dyn_rotor_forces(b->model, w, 1, from.gravity, b->q, from.v, from.a, e->rotor_part, error);
    for (size_t i = 0; status == DYN_OK && i < b->nv; i++) {
        e->terms[term][i] -= e->rotor_part[i];
        e->terms[ROTOR][i] += e->rotor_part[i];
    }
    return status;
}

/* Computes one of the first LINK_TERMS terms: in total, by link and by payload. */
static dyn_status split_term(const batch *b, dyn_workspace *w, const explanation *e, int term, dyn_error *error) {
    cause from = cause_of(b, e, term);
    dyn_status status = dyn_rnea(b->model, w, 1, from.gravity, b->q, from.v, from.a, NULL, e->terms[term], error);
    if (status == DYN_OK && dyn_model_rotor_count(b->model) > 0) {
        status = separate_rotors(b, w, e, term, error);
    }
    if (status == DYN_OK) {
        status = dyn_torque_regressor(b->model, w, 1, from.gravity, b->q, from.v, from.a, e->regressor, error);
    }
    for (int l = 0; status == DYN_OK && l < dyn_model_link_count(b->model); l++) {
        add_inertia(b, e, l, &dyn_model_link(b->model, l)->inertia, 1, e->link_terms[term] + (size_t)l * b->nv);
    }
    if (status == DYN_OK) {
        split_payloads(b, e, term);
    }
    return status;
}

/* Computes the term of the payloads: the inverse dynamics with payloads, minus the inverse dynamics without. */
static dyn_status compute_payload_term(const batch *b, const batch_worker *w, const explanation *e, dyn_error *error) {
    double *loaded = e->terms[PAYLOAD], *empty = e->regressor;
    dyn_status status =
        dyn_rnea(w->model, w->workspace, 1, b->values.gravity, b->q, e->m.v, e->m.a, NULL, loaded, error);
    if (status == DYN_OK) {
        status = dyn_rnea(b->model, w->workspace, 1, b->values.gravity, b->q, e->m.v, e->m.a, NULL, empty, error);
    }
    for (size_t i = 0; status == DYN_OK && i < b->nv; i++) {
        loaded[i] -= empty[i];
    }
    return status;
}

/* Computes the terms of the passive forces that count, and adds them to tau. */
static dyn_status add_passive_terms(const batch *b, const explanation *e, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (int kind = 0; status == DYN_OK && kind < PASSIVE_KINDS; kind++) {
        dyn_passive_parts only = passive_forces_only(&b->values.passive, kind);
        double *term = e->terms[PASSIVE + kind];
        if (passive_forces_include(&b->values.passive, kind)) {
            status = dyn_add_passive_forces(b->model, 1, &only, -1, b->q, e->m.v, term, error);
        }
    }
    return status == DYN_OK ? passive_forces_add(b->model, 1, &b->values.passive, -1, b->q, e->m.v, e->tau, error)
                            : status;
}

/* Computes the term of the constraints, and adds it to tau: the inverse dynamics with constraints less that of the
 * tree. */
static dyn_status add_constraint_term(const batch *b, const batch_worker *w, const explanation *e,
                                      const dyn_external_forces *forces, dyn_error *error) {
    const dyn_passive_parts *passive = passive_forces_count(&b->values.passive) ? &b->values.passive : NULL;
    dyn_constrained_inverse_options options = b->values.motion;
    options.passive = passive;
    double *term = e->terms[CONSTRAINT];
    dyn_status status = dyn_constrained_inverse_dynamics(w->model, w->workspace, 1, b->values.gravity, b->q, e->m.v,
                                                         e->m.a, forces, &options, term, NULL, e->agreement, error);
    for (size_t i = 0; status == DYN_OK && i < b->nv; i++) {
        term[i] -= e->tau[i];
        e->tau[i] += term[i];
    }
    return status;
}

/* Computes the term of the losses of gears, and adds it to tau. */
static dyn_status add_gear_term(const batch *b, const batch_worker *w, const explanation *e,
                                const dyn_external_forces *forces, dyn_error *error) {
    const dyn_geared_states at = {.n = 1,
                                  .gravity = b->values.gravity,
                                  .q = b->q,
                                  .v = e->m.v,
                                  .forces = forces,
                                  .parts = b->values.passive,
                                  .motion = &b->values.motion,
                                  .memory = e->gear_memory};
    dyn_status status = dyn_gear_losses_of_motion(w->model, w->workspace, &at, e->m.a, e->terms[GEAR], error);
    for (size_t i = 0; status == DYN_OK && i < b->nv; i++) {
        e->terms[GEAR][i] = -e->terms[GEAR][i];
        e->tau[i] += e->terms[GEAR][i];
    }
    return status;
}

static dyn_status explain_step(const batch *b, const batch_worker *w, const void *context, size_t first, size_t count,
                               dyn_error *error) {
    const explanation *e = context;
    dyn_external_forces list;
    const dyn_external_forces *forces = batch_forces(b, first, w->scratch, &list);
    dyn_status status =
        dyn_rnea(w->model, w->workspace, count, b->values.gravity, b->q, e->m.v, e->m.a, forces, e->tau, error);
    for (int term = 0; status == DYN_OK && term < LINK_TERMS; term++) {
        status = split_term(b, w->workspace, e, term, error);
    }
    if (status == DYN_OK) {
        status =
            dyn_rnea(b->model, w->workspace, count, WEIGHTLESS, b->q, NULL, NULL, forces, e->terms[EXTERNAL], error);
    }
    if (status == DYN_OK) {
        status = add_passive_terms(b, e, error);
    }
    if (status == DYN_OK && dyn_model_constraint_rows(b->model) > 0) {
        status = add_constraint_term(b, w, e, forces, error);
    }
    if (status == DYN_OK && e->gear_memory) {
        status = add_gear_term(b, w, e, forces, error);
    }
    return status == DYN_OK && b->values.payload_count > 0 ? compute_payload_term(b, w, e, error) : status;
}

static double larger(double largest, double difference) {
    double magnitude = difference < 0 ? -difference : difference;
    return magnitude > largest ? magnitude : largest;
}

/* Returns the sum of coordinate i over `count` rows. */
static double sum_rows(const batch *b, const double *rows, size_t count, size_t i) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        sum += rows[k * b->nv + i];
    }
    return sum;
}

/* Returns the largest difference between a total and the sum of its parts: the torques and their terms, a term and its
 * links, the term of the payloads and the payloads. */
static double residual(const batch *b, const explanation *e) {
    double largest = 0;
    size_t links = (size_t)dyn_model_link_count(b->model);
    for (size_t i = 0; i < b->nv; i++) {
        double sum = 0, of_payloads = 0;
        for (int term = 0; term < TERMS; term++) {
            sum += e->terms[term][i];
        }
        largest = larger(largest, sum - e->tau[i]);
        for (int term = 0; term < LINK_TERMS; term++) {
            largest = larger(largest, sum_rows(b, e->link_terms[term], links, i) - e->terms[term][i]);
            of_payloads += sum_rows(b, e->load_terms[term], b->values.payload_count, i);
        }
        largest = larger(largest, of_payloads - e->terms[PAYLOAD][i]);
    }
    return largest;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Returns whether a term is part of the reply. */
static bool is_present(const batch *b, int term) {
    return term == PAYLOAD      ? b->values.payload_count > 0
           : term == ROTOR      ? dyn_model_rotor_count(b->model) > 0
           : term == GEAR       ? b->values.passive.gear_losses
           : term == CONSTRAINT ? dyn_model_constraint_rows(b->model) > 0
                                : term < PASSIVE || passive_forces_include(&b->values.passive, term - PASSIVE);
}

static void add_terms(batch *b, const explanation *e, Dynamics__V1__ExplainReply *reply) {
    reply->terms = call_allocate(b->call, TERMS, sizeof *reply->terms);
    for (int i = 0; !call_has_ended(b->call) && i < TERMS; i++) {
        Dynamics__V1__ExplainTerm *term = is_present(b, i) ? call_allocate(b->call, 1, sizeof *term) : NULL;
        if (term) {
            dynamics__v1__explain_term__init(term);
            term->name = (char *)(uintptr_t)(i < PASSIVE ? term_names[i] : passive_names[i - PASSIVE]);
            term->n_tau = b->nv;
            term->tau = batch_vectors(b, e->terms[i]);
            reply->terms[reply->n_terms++] = term;
        }
    }
}

/* Returns whether a link moves and has an inertia. */
static bool contributes(const dyn_link *link) {
    bool has_inertia = link->inertia.mass != 0;
    for (int k = 0; k < 6; k++) {
        has_inertia = has_inertia || link->inertia.rotational[k] != 0;
    }
    return link->moving_joint >= 0 && has_inertia;
}

static Dynamics__V1__LinkContribution *contribution(batch *b, const explanation *e, size_t l) {
    const dyn_link *link = dyn_model_link(b->model, (int)l);
    Dynamics__V1__LinkContribution *part = call_allocate(b->call, 1, sizeof *part);
    if (!part) {
        return NULL;
    }
    dynamics__v1__link_contribution__init(part);
    /* The model of a request may end before its reply is sent. */
    part->link = call_string(b->call, link->name);
    part->moving_joint = call_string(b->call, dyn_model_joint(b->model, link->moving_joint)->name);
    part->mass = link->inertia.mass;
    part->n_inertial = part->n_coriolis = part->n_gravity = b->nv;
    part->inertial = batch_vectors(b, e->link_terms[INERTIAL] + l * b->nv);
    part->coriolis = batch_vectors(b, e->link_terms[CORIOLIS] + l * b->nv);
    part->gravity = batch_vectors(b, e->link_terms[GRAVITY] + l * b->nv);
    return part;
}

static void add_links(batch *b, const explanation *e, Dynamics__V1__ExplainReply *reply) {
    size_t count = (size_t)dyn_model_link_count(b->model);
    reply->links = call_allocate(b->call, count, sizeof *reply->links);
    for (size_t l = 0; !call_has_ended(b->call) && l < count; l++) {
        if (contributes(dyn_model_link(b->model, (int)l))) {
            reply->links[reply->n_links++] = contribution(b, e, l);
        }
    }
}

static Dynamics__V1__PayloadContribution *payload_contribution(batch *b, const explanation *e, size_t k) {
    int joint = dyn_model_link(b->model, b->values.payloads[k].link)->moving_joint;
    Dynamics__V1__PayloadContribution *part = call_allocate(b->call, 1, sizeof *part);
    if (!part) {
        return NULL;
    }
    dynamics__v1__payload_contribution__init(part);
    part->link = b->call->request->explain->query->payloads[k]->link;
    part->moving_joint = call_string(b->call, joint >= 0 ? dyn_model_joint(b->model, joint)->name : "");
    part->mass = b->values.payloads[k].inertia.mass;
    part->n_inertial = part->n_coriolis = part->n_gravity = b->nv;
    part->inertial = batch_vectors(b, e->load_terms[INERTIAL] + k * b->nv);
    part->coriolis = batch_vectors(b, e->load_terms[CORIOLIS] + k * b->nv);
    part->gravity = batch_vectors(b, e->load_terms[GRAVITY] + k * b->nv);
    return part;
}

static void add_payloads(batch *b, const explanation *e, Dynamics__V1__ExplainReply *reply) {
    reply->payloads = call_allocate(b->call, b->values.payload_count, sizeof *reply->payloads);
    for (size_t k = 0; !call_has_ended(b->call) && k < b->values.payload_count; k++) {
        reply->payloads[reply->n_payloads++] = payload_contribution(b, e, k);
    }
}

static void answer(batch *b, const explanation *e) {
    call *c = b->call;
    Dynamics__V1__ExplainReply *reply = create_explain_reply(c);
    if (!reply) {
        return;
    }
    reply->nv = (uint32_t)b->nv;
    if (coordinates_name(b, &reply->joints, &reply->units)) {
        reply->n_joints = reply->n_units = b->nv;
    }
    reply->residual = residual(b, e);
    reply->n_tau = b->nv;
    reply->tau = batch_vectors(b, e->tau);
    reply->passive_forces = passive_forces_write(c, &b->values.passive);
    reply->agreement = motion_agreement_write(b, e->agreement);
    add_terms(b, e, reply);
    add_links(b, e, reply);
    add_payloads(b, e, reply);
}

/* ---- the work ---------------------------------------------------------------------------------------------------- */

static bool read_inputs(batch *b, const Dynamics__V1__ExplainRequest *r, explanation *e) {
    size_t joints = (size_t)dyn_model_joint_count(b->model), links = (size_t)dyn_model_link_count(b->model);
    e->m.v = batch_input(b, r->n_v, r->v);
    e->m.a = batch_input(b, r->n_a, r->a);
    e->tau = batch_output(b, b->nv);
    for (int i = 0; i < TERMS; i++) {
        e->terms[i] = batch_output(b, b->nv);
    }
    for (int i = 0; i < LINK_TERMS; i++) {
        e->link_terms[i] = batch_output(b, links * b->nv);
        e->load_terms[i] = batch_output(b, b->values.payload_count * b->nv);
    }
    e->regressor = batch_output(b, b->nv * joints * PARAMETERS);
    e->rotor_part = batch_output(b, b->nv);
    e->gear_memory = b->values.passive.gear_losses ? batch_output(b, dyn_geared_memory(b->model, 1) + 1) : NULL;
    e->agreement = dyn_model_constraint_rows(b->model) > 0 ? call_allocate(b->call, b->n, sizeof *e->agreement) : NULL;
    return !call_has_ended(b->call);
}

void method_explain(call *c) {
    const Dynamics__V1__ExplainRequest *r = c->request->explain;
    const query_parts supported = (QUERY_ALL & ~QUERY_PRECISION) | QUERY_PASSIVE_FORCES | QUERY_CONSTRAINTS |
                                  QUERY_ADDED_CONSTRAINTS | QUERY_MOTION_OPTIONS;
    batch b;
    explanation e = {0};
    if (batch_open(c, &b, r->query, supported, r->n_q, r->q) && batch_check_one_state(&b) &&
        batch_check(&b, "v", r->n_v) && batch_check(&b, "a", r->n_a)) {
        size_t joints = (size_t)dyn_model_joint_count(b.model), links = (size_t)dyn_model_link_count(b.model);
        batch_expect(&b, (1 + TERMS + LINK_TERMS * (links + b.values.payload_count)) * b.nv);
        double cost = (RECURSION_COST + REGRESSOR_COST * (double)joints) * (double)b.nv;
        if (batch_begin(&b, cost) && read_inputs(&b, r, &e) && batch_run(&b, explain_step, &e, batch_forces_size(&b))) {
            answer(&b, &e);
        }
    }
    batch_close(&b);
}
