/* SPDX-License-Identifier: BSD-2-Clause */
/* Excite: searches a motion from which parameters can be identified well. */
#include <dynamics/excitation.h>
#include <string.h>

#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/parameter_choice.h"

/* Approximate cost of one sample of one motion per cube of the coordinates, ns; samples for each harmonic. */
static const double COST = 60, SAMPLES = 20;

/* Reads the options of the request. The library checks their ranges. */
static void read_options(const Dynamics__V1__ExciteRequest *r, dyn_excitation_options *o) {
    *o = (dyn_excitation_options)DYN_EXCITATION_OPTIONS_INIT();
    o->criterion = (dyn_excitation_criterion)r->criterion;
    o->harmonics = r->harmonics != 0 ? r->harmonics : o->harmonics;
    o->period = r->period != 0 ? r->period : o->period;
    o->rate = r->rate != 0 ? r->rate : o->rate;
    o->trials = r->trials != 0 ? r->trials : o->trials;
    o->seed = r->seed;
    if (r->optional_margin_case == DYNAMICS__V1__EXCITE_REQUEST__OPTIONAL_MARGIN_MARGIN) {
        o->margin = r->margin;
    }
}

/* Opens the model and sets the rows of the reply as the samples. Counts that the library refuses are one row. */
static bool open_rows(call *c, batch *b, const Dynamics__V1__ExciteRequest *r, const dyn_excitation_options *o) {
    double rows = o->period * o->rate + 0.5;
    if (!batch_open_model(c, b, r->query, QUERY_JOINT_NAMES | QUERY_GRAVITY) ||
        !batch_set_samples(b, rows >= 1 && rows <= DYN_EXCITATION_ROWS ? (uint64_t)rows : 1)) {
        return false;
    }
    batch_expect(b, 1 + b->nq + 3 * b->nv);
    return parameter_choice_fits(b);
}

static bool read_choice(batch *b, const Dynamics__V1__ExciteRequest *r, dyn_identification_options *o) {
    const parameter_choice choice = {.term_count = r->n_drive_terms,
                                     .terms = r->drive_terms,
                                     .ignore_drives = r->ignore_drives,
                                     .drives_only = r->drives_only,
                                     .friction_velocity = r->friction_velocity,
                                     .stribeck_velocity = r->stribeck_velocity,
                                     .link_count = r->n_links,
                                     .links = r->links,
                                     .payload_link = r->payload_link};
    *o = (dyn_identification_options)DYN_IDENTIFICATION_OPTIONS_INIT();
    return parameter_choice_read(b, &choice, o);
}

/* Copies rows of nv numbers into the memory of the reply, in the caller's order. */
static double *copy_vectors(batch *b, const double *from) {
    double *to = batch_output(b, b->nv);
    if (!to) {
        return NULL;
    }
    memcpy(to, from, b->n * b->nv * sizeof *to);
    return batch_vectors(b, to);
}

static void write_motion(batch *b, const dyn_excitation *found, Dynamics__V1__ExciteReply *reply) {
    double *time = batch_output(b, 1), *q = batch_output(b, b->nq);
    if (!time || !q) {
        return;
    }
    memcpy(time, found->time, b->n * sizeof *time);
    memcpy(q, found->q, b->n * b->nq * sizeof *q);
    reply->rows = b->n;
    reply->n_time = b->n, reply->time = time;
    reply->n_q = b->n * b->nq, reply->q = batch_ordered_configurations(b, q);
    reply->n_v = reply->n_a = reply->n_tau = b->n * b->nv;
    reply->v = copy_vectors(b, found->v);
    reply->a = copy_vectors(b, found->a);
    reply->tau = copy_vectors(b, found->tau);
}

static void write_uses(batch *b, const dyn_excitation *found, Dynamics__V1__ExciteReply *reply) {
    Dynamics__V1__LimitUse *list = call_allocate(b->call, b->nv + 1, sizeof *list);
    reply->uses = call_allocate(b->call, b->nv + 1, sizeof *reply->uses);
    for (size_t k = 0; k < b->nv && !call_has_ended(b->call); k++) {
        Dynamics__V1__LimitUse *use = reply->uses[reply->n_uses++] = &list[k];
        dynamics__v1__limit_use__init(use);
        use->joint = call_string(b->call, joint_of_coordinate(b->model, (int)k)->name);
        use->position = found->uses[k].position;
        use->velocity = found->uses[k].velocity;
        use->effort = found->uses[k].effort;
    }
}

static void answer(batch *b, const dyn_excitation *found) {
    Dynamics__V1__ExciteReply *reply = create_excite_reply(b->call);
    if (!reply) {
        return;
    }
    reply->estimates = (uint32_t)found->estimate_count;
    reply->rank = (uint32_t)found->rank;
    reply->condition = found->condition;
    reply->log_determinant = found->log_determinant;
    reply->trials = (uint32_t)found->trials;
    write_motion(b, found, reply);
    write_uses(b, found, reply);
}

void method_excite(call *c) {
    const Dynamics__V1__ExciteRequest *r = c->request->excite;
    batch b;
    dyn_excitation_options options;
    dyn_identification_options sought;
    dyn_excitation *found = NULL;
    dyn_error error;
    read_options(r, &options);
    bool is_ready = open_rows(c, &b, r, &options) && read_choice(&b, r, &sought);
    double nv = is_ready ? (double)b.nv : 0, samples = SAMPLES * (double)options.harmonics * (double)options.trials;
    if (is_ready && batch_begin(&b, COST * nv * nv * nv * samples / (double)b.n)) {
        options.identification = &sought;
        dyn_status status = dyn_excite(b.model, &options, &found, &error);
        if (status == DYN_OK) {
            answer(&b, found);
        } else if (!call_has_ended(c)) {
            parameter_choice_fail(&b, &error);
        }
    }
    dyn_excitation_free(found);
    batch_close(&b);
}
