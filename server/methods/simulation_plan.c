/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates simulations from requests, snapshots and recordings, and reads their inputs. */
#include "methods/simulation_plan.h"

#include <dynamics/text.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/recorded_model.h"
#include "methods/stepping.h"
#include "models/object_cache.h"

/* Parts of the query that a simulation supports: it steps in double precision. */
static const query_parts SIMULATION_PARTS =
    (QUERY_ALL & ~QUERY_PRECISION) | QUERY_ADDED_CONSTRAINTS | QUERY_BASE_MOTION;

static const value_range RATE = {"rate", 1, 1e-3, 1000}, PUBLISH_RATE = {"publish_rate", 100, 1e-6, 1e6};

/* Reads the initial state: by default the home configuration at rest. */
static bool read_state(const robot *r, const Dynamics__V1__CreateSimulationRequest *m, double *q, double *v,
                       refusal *why) {
    if (m->n_q == 0) {
        dyn_home_configuration(r->model, q);
    } else if (!robot_read_q(r, "q", m->n_q, m->q, q, why)) {
        return false;
    }
    return m->n_v == 0 || robot_read_v(r, "v", m->n_v, m->v, v, why);
}

/* Reads the request into options, whose arrays live in the session's memory. Fills defaults into the session's copy of
 * the request. */
static bool read_options(live *l, simulation_session *session, simulation_options *options, refusal *why) {
    Dynamics__V1__CreateSimulationRequest *m = session->request;
    const robot *r = &session->robot;
    const value_range lease = {"lease", atomic_load(&l->options.limits->lease_time), 0.1, 86400};
    double *state = arena_array(&session->memory, r->nq + r->nv, sizeof *state);
    if (!m->stepping) {
        m->stepping = arena_allocate(&session->memory, sizeof *m->stepping);
        if (m->stepping) {
            dynamics__v1__stepping__init(m->stepping);
        }
    }
    if (!state || !m->stepping) {
        return refuse_memory(why);
    }
    bool is_good = value_check_choice("pace", (int)m->pace, 2, why) && value_fill(&RATE, &m->rate, why) &&
                   value_fill(&PUBLISH_RATE, &m->publish_rate, why) && value_fill(&lease, &m->lease, why) &&
                   stepping_read(r, session->values.gravity, m->stepping, &session->memory, &options->stepping, why) &&
                   robot_read_gains(r, "disturbance", m->n_disturbance, m->disturbance, &session->memory,
                                    &options->deviation, why) &&
                   read_state(r, m, state, state + r->nq, why) &&
                   robot_read_forces(r, "query.external_forces", m->query->n_external_forces, m->query->external_forces,
                                     &options->forces, why) &&
                   robot_read_base("query.base_motion", m->query->base_motion, &options->base, why);
    options->stepping.base_may_move = true;
    options->payload_count = session->values.payload_count;
    options->payloads = session->values.payloads;
    options->is_paced = m->pace == DYNAMICS__V1__PACE__PACE_CLOCK;
    options->rate = m->rate;
    options->publish_rate = m->publish_rate;
    options->seed = m->seed;
    options->lease = m->lease;
    options->keep = m->keep;
    options->q = state;
    options->v = state + r->nq;
    return is_good;
}

static void free_session(void *attachment) {
    simulation_session *session = attachment;
    topics_free(&session->topics);
    arena_free(&session->memory);
    free(session->rows);
    free(session);
}

/* Copies the request to the session's memory. Returns false when out of memory. */
static bool copy_request(simulation_session *session, const Dynamics__V1__CreateSimulationRequest *request) {
    size_t size = dynamics__v1__create_simulation_request__get_packed_size(request);
    uint8_t *bytes = malloc(size ? size : 1);
    if (bytes) {
        dynamics__v1__create_simulation_request__pack(request, bytes);
        session->request = dynamics__v1__create_simulation_request__unpack(&session->memory.allocator, size, bytes);
    }
    free(bytes);
    return session->request != NULL;
}

static simulation_session *create_session(const Dynamics__V1__CreateSimulationRequest *request, model_entry *entry,
                                          refusal *why) {
    simulation_session *session = calloc(1, sizeof *session);
    if (!session) {
        refuse_memory(why);
        return NULL;
    }
    arena_init(&session->memory);
    arena_reset(&session->memory, SIZE_MAX);
    size_t nq = (size_t)dyn_model_nq(entry->model), nv = (size_t)dyn_model_nv(entry->model);
    session->rows = calloc(SIMULATION_BATCH * (nq + 2 * nv) + nv, sizeof *session->rows);
    bool is_good = session->rows && copy_request(session, request);
    if (!is_good) {
        refuse_memory(why);
    } else {
        is_good = query_check(session->request->query, SIMULATION_PARTS, "create_simulation", why) &&
                  query_read(session->request->query, entry, &session->memory, &session->robot, &session->values, why);
    }
    if (!is_good) {
        free_session(session);
        return NULL;
    }
    return session;
}

/* Fills a refusal from an error of the library about the options or the query. */
static void refuse_library(refusal *why, const dyn_error *error) {
    char path[ERROR_PATH_SIZE];
    refuse(why, reason_of_error(error), stepping_error_path(error, path), "%s", error->message);
}

/* Refuses a simulation that requires compiled steps but has none. */
static bool check_code(simulation *s, const step_code *code, refusal *why) {
    char reason[STEP_CODE_REASON];
    if (!code->must_be_compiled || stepper_is_compiled(s->stepper)) {
        return true;
    }
    step_code_explain(s->entry, reason);
    return refuse(why, REASON_NOT_COMPILED, "stepping.compiled", "%s", reason);
}

/* Writes the digest of what the simulations of a cohort have in common: all of the request that is not stated below,
 * the model and the code. Returns false when out of memory. */
static bool write_cohort(const simulation_session *session, const model_entry *entry, const step_code *code,
                         char cohort[DIGEST_SIZE]) {
    Dynamics__V1__CreateSimulationRequest common = *session->request;
    Dynamics__V1__Query query = *common.query;
    static char none[] = "";
    query.model = query.expected_digest = none;
    query.n_external_forces = 0;
    query.base_motion = NULL;
    common.query = &query;
    common.name = none;
    common.n_q = common.n_v = common.n_disturbance = 0;
    common.is_paused = common.keep = false;
    common.publish_rate = common.lease = 0;
    common.seed = 0;
    size_t size = dynamics__v1__create_simulation_request__get_packed_size(&common);
    size_t tail = strlen(entry->digest) + 1 + strlen(code->object) + 1;
    uint8_t *bytes = malloc(size + tail);
    if (!bytes) {
        return false;
    }
    dynamics__v1__create_simulation_request__pack(&common, bytes);
    snprintf((char *)bytes + size, tail, "%s %s", entry->digest, code->object);
    digest_write(bytes, size + tail, cohort);
    free(bytes);
    return true;
}

/* Creates a simulation. `code` computes its steps; NULL: the code that the request selects. Returns NULL, and fills
 * `why`, on failure. */
static simulation *make_simulation(live *l, const Dynamics__V1__CreateSimulationRequest *request, model_entry *entry,
                                   const step_code *code, refusal *why) {
    char name[SIMULATION_NAME_SIZE], cohort[DIGEST_SIZE];
    step_code chosen;
    simulation_options options = {0};
    dyn_error error = {0};
    simulation *s = NULL;
    simulation_session *session = create_session(request, entry, why);
    if (!session || !live_name(l, "simulation", request->name, "name", name, why) ||
        !read_options(l, session, &options, why)) {
        goto failed;
    }
    chosen = code ? *code : step_code_choose(entry, session->request->stepping->compiled);
    options.compiled = chosen.compiled, options.object = chosen.object;
    options.cohort = write_cohort(session, entry, &chosen, cohort) ? cohort : NULL;
    dyn_status status = simulation_create(entry, name, &options, l->pacer, &live_simulation_hooks, l, &error, &s);
    if (status != DYN_OK) {
        refuse_library(why, &error);
        goto failed;
    }
    if (!check_code(s, &chosen, why)) {
        simulation_release(s);
        goto failed;
    }
    char *own_name = arena_allocate(&session->memory, sizeof name);
    session->request->name = own_name ? strcpy(own_name, name) : session->request->name;
    s->attachment = session;
    s->free_attachment = free_session;
    topics_name(&session->topics, l->options.instance, "simulation", name, "state");
    return s;
failed:
    if (session) {
        free_session(session);
    }
    return NULL;
}

simulation *plan_simulation(live *l, const Dynamics__V1__CreateSimulationRequest *request, model_entry *entry,
                            refusal *why) {
    return make_simulation(l, request, entry, NULL, why);
}

bool plan_input(simulation *s, const char *field, const Dynamics__V1__SimulationInput *m, refusal *why) {
    const robot *r = &session_of(s)->robot;
    char place[REFUSAL_FIELD_SIZE];
    double *rows = calloc(s->nq + 3 * s->nv, sizeof *rows);
    if (!rows) {
        return refuse_memory(why);
    }
    double *q_ref = rows, *tau = q_ref + s->nq, *v_ref = tau + s->nv, *a_ref = v_ref + s->nv;
    snprintf(place, sizeof place, "%s.q_ref", field);
    bool is_good = m->n_q_ref == 0 || robot_read_q(r, place, m->n_q_ref, m->q_ref, q_ref, why);
    const struct {
        const char *name;
        size_t count;
        const double *values;
        double *to;
    } parts[] = {
        {"tau", m->n_tau, m->tau, tau}, {"v_ref", m->n_v_ref, m->v_ref, v_ref}, {"a_ref", m->n_a_ref, m->a_ref, a_ref}};
    for (int i = 0; is_good && i < 3; i++) {
        snprintf(place, sizeof place, "%s.%s", field, parts[i].name);
        is_good = parts[i].count == 0 || robot_read_v(r, place, parts[i].count, parts[i].values, parts[i].to, why);
    }
    stepper_forces forces;
    stepper_base base;
    snprintf(place, sizeof place, "%s.external_forces", field);
    is_good = is_good && robot_read_forces(r, place, m->n_external_forces, m->external_forces, &forces, why);
    snprintf(place, sizeof place, "%s.base_motion", field);
    is_good = is_good && robot_read_base(place, m->base_motion, &base, why);
    if (is_good) {
        bool has_forces = m->n_external_forces > 0 || m->clear_external_forces;
        simulation_set_input(s, &(stepper_input){
                                    .tau = m->n_tau ? tau : NULL,
                                    .q_ref = m->n_q_ref ? q_ref : NULL,
                                    .v_ref = m->n_v_ref ? v_ref : NULL,
                                    .a_ref = m->n_a_ref ? a_ref : NULL,
                                    .forces = has_forces ? &forces : NULL,
                                    .base = m->base_motion ? &base : NULL,
                                });
    }
    free(rows);
    return is_good;
}

/* Reads the deflections of bristles; a file of an older release has none, which stands for zeros. */
static bool read_bristles(simulation *s, const Dynamics__V1__SimulationSnapshot *snapshot, refusal *why) {
    size_t count;
    double *bristles = stepper_bristles(s->stepper, &count);
    if (snapshot->n_bristles == 0) {
        stepper_release_bristles(s->stepper);
        return true;
    }
    if (snapshot->n_bristles != count) {
        return refuse(why, REASON_DAMAGED_FILE, "bristles",
                      "the snapshot has %zu deflections of bristles, the model %zu", snapshot->n_bristles, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(snapshot->bristles[i])) {
            return refuse(why, REASON_DAMAGED_FILE, "bristles", "bristles[%zu] is %g", i, snapshot->bristles[i]);
        }
    }
    memcpy(bristles, snapshot->bristles, count * sizeof *bristles);
    return true;
}

bool plan_jump(simulation *s, const Dynamics__V1__SimulationSnapshot *snapshot, refusal *why) {
    const Dynamics__V1__SimulationState *state = snapshot->state;
    const robot *r = &session_of(s)->robot;
    if (!state || !snapshot->input || snapshot->n_generator != 4) {
        return refuse(why, REASON_DAMAGED_FILE, "", "the snapshot lacks its state, input or generator");
    }
    const uint64_t *words = snapshot->generator;
    if ((words[0] | words[1] | words[2] | words[3]) == 0) {
        /* A generator of zeros yields only zeros, so that the search for a normal number would never end. */
        return refuse(why, REASON_DAMAGED_FILE, "", "the snapshot's generator consists of zeros");
    }
    if (!robot_read_q(r, "state.q", state->n_q, state->q, s->q, why) ||
        !robot_read_v(r, "state.v", state->n_v, state->v, s->v, why) ||
        !robot_read_v(r, "state.tau", state->n_tau, state->tau, s->tau, why) ||
        !plan_input(s, "input", snapshot->input, why) || !read_bristles(s, snapshot, why)) {
        return false;
    }
    memcpy(s->generator.words, snapshot->generator, sizeof s->generator.words);
    s->step = state->step;
    contact_watch_clear(s->contact_watch);
    atomic_store(&s->time, (double)s->step * s->step_length);
    s->stamp_ns = state->stamp_ns;
    s->condition = snapshot->condition == DYNAMICS__V1__SIMULATION_CONDITION__SIMULATION_CONDITION_DIVERGED
                       ? SIMULATION_DIVERGED
                       : SIMULATION_PAUSED;
    return true;
}

model_entry *plan_restored_model(live *l, const Dynamics__V1__SimulationSnapshot *snapshot,
                                 const Dynamics__V1__ModelDescription *description, refusal *why) {
    if (!snapshot->options || !snapshot->options->query) {
        refuse(why, REASON_DAMAGED_FILE, "", "the snapshot lacks its options or their query");
        return NULL;
    }
    if (!dyn_text_is_printable(snapshot->options->query->model)) {
        refuse(why, REASON_DAMAGED_FILE, "", "the name of its model, \"%s\", is not printable",
               snapshot->options->query->model);
        return NULL;
    }
    /* A model that the request names by its digest is named as in its description. */
    const char *name =
        strncmp(snapshot->options->query->model, "sha256:", 7) == 0 ? "" : snapshot->options->query->model;
    return recorded_model_find(&l->options, name, snapshot->digest, description, why);
}

simulation *plan_restored(live *l, const Dynamics__V1__SimulationSnapshot *snapshot, model_entry *entry, refusal *why) {
    step_code code = {0};
    if (strstr(snapshot->computed_with, COMPUTED_WITH_COMPILED)) {
        object_cache_load(l->compiled, entry);
        code.compiled = model_entry_compiled(entry, code.object);
    }
    simulation *s = make_simulation(l, snapshot->options, entry, &code, why);
    if (s && !plan_jump(s, snapshot, why)) {
        simulation_release(s);
        s = NULL;
    }
    return s;
}
