/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens fast channels, finds the requests that they can compute, and exchanges their arrays.
 */
#include "fast_channel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>

#include "error.h"
#include "fast_memory.h"
#include "monotonic.h"
#include "pool.h"
#include "quantities.h"

/* Time between two attempts to open a channel again, and the time that an attempt may take, s. */
static const double REOPEN_INTERVAL = 1, REOPEN_TIMEOUT = 0.1;

/* Channel of one model. The newest link of a model is in use. */
struct fast_link {
    fast_link *next;
    pthread_mutex_t mutex; /* guards the members below; one call at a time */
    Dynamics__V1__OpenFastChannelRequest *request;
    uint8_t *packed; /* the quantities of the request, for comparisons */
    size_t packed_size;
    uint8_t *scratch; /* packed_size bytes */
    fast_shared shared;
    Dynamics__V1__OpenFastChannelReply *layout; /* NULL: closed */
    bool is_wanted;                             /* opened, and not closed by the caller */
    double next_attempt;                        /* time of monotonic_now */
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
};

/* Rows of one array of a request. */
typedef struct sent_rows {
    size_t count;
    const double *values;
} sent_rows;

/* Request as a channel takes it. */
typedef struct fast_request {
    fast_call call;
    const Dynamics__V1__Query *query;
    sent_rows arrays[FAST_ARRAYS];
    const char *frame;
    uint32_t reference_frame;
    Dynamics__V1__EvaluateRequest *evaluate; /* NULL: another method */
} fast_request;

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static void read_evaluate(Dynamics__V1__EvaluateRequest *body, fast_request *r) {
    const sent_rows arrays[FAST_ARRAYS] = {
        [FAST_Q] = {body->n_q, body->q},    [FAST_V] = {body->n_v, body->v},
        [FAST_A] = {body->n_a, body->a},    [FAST_TAU] = {body->n_tau, body->tau},
        [FAST_DQ] = {body->n_dq, body->dq}, [FAST_DV] = {body->n_dv, body->dv},
        [FAST_DA] = {body->n_da, body->da}, [FAST_DTAU] = {body->n_dtau, body->dtau},
    };
    memcpy(r->arrays, arrays, sizeof arrays);
    r->call = FAST_QUANTITIES;
    r->query = body->query;
    r->evaluate = body;
    const Dynamics__V1__QuantityRequest *first = body->n_quantities == 1 ? body->quantities[0] : NULL;
    bool is_pose = first && first->quantity == DYNAMICS__V1__QUANTITY__QUANTITY_FRAME_POSE;
    bool is_jacobian = first && first->quantity == DYNAMICS__V1__QUANTITY__QUANTITY_FRAME_JACOBIAN;
    if ((is_pose || is_jacobian) && first->n_frames == 1 && strlen(first->frames[0]) < FAST_FRAME_SIZE) {
        r->call = is_pose ? FAST_FRAME_POSE : FAST_FRAME_JACOBIAN;
        r->frame = first->frames[0];
        r->reference_frame = (uint32_t)first->reference_frame;
    }
}

/* Reads a request of a method that channels have. Returns false for other methods. */
static bool read_request(const Dynamics__V1__Request *from, fast_request *r) {
    *r = (fast_request){.call = FAST_QUANTITIES};
    switch (from->method_case) {
    case DYNAMICS__V1__REQUEST__METHOD_INVERSE_DYNAMICS: {
        const Dynamics__V1__InverseDynamicsRequest *body = from->inverse_dynamics;
        *r = (fast_request){.call = FAST_INVERSE_DYNAMICS, .query = body->query};
        r->arrays[FAST_Q] = (sent_rows){body->n_q, body->q};
        r->arrays[FAST_V] = (sent_rows){body->n_v, body->v};
        r->arrays[FAST_A] = (sent_rows){body->n_a, body->a};
        return true;
    }
    case DYNAMICS__V1__REQUEST__METHOD_FORWARD_DYNAMICS: {
        const Dynamics__V1__ForwardDynamicsRequest *body = from->forward_dynamics;
        *r = (fast_request){.call = FAST_FORWARD_DYNAMICS, .query = body->query};
        r->arrays[FAST_Q] = (sent_rows){body->n_q, body->q};
        r->arrays[FAST_V] = (sent_rows){body->n_v, body->v};
        r->arrays[FAST_TAU] = (sent_rows){body->n_tau, body->tau};
        return true;
    }
    case DYNAMICS__V1__REQUEST__METHOD_MASS_MATRIX:
        *r = (fast_request){.call = FAST_MASS_MATRIX, .query = from->mass_matrix->query};
        r->arrays[FAST_Q] = (sent_rows){from->mass_matrix->n_q, from->mass_matrix->q};
        return true;
    case DYNAMICS__V1__REQUEST__METHOD_GRAVITY:
        *r = (fast_request){.call = FAST_GRAVITY, .query = from->gravity->query};
        r->arrays[FAST_Q] = (sent_rows){from->gravity->n_q, from->gravity->q};
        return true;
    case DYNAMICS__V1__REQUEST__METHOD_BIAS_FORCES:
        *r = (fast_request){.call = FAST_BIAS_FORCES, .query = from->bias_forces->query};
        r->arrays[FAST_Q] = (sent_rows){from->bias_forces->n_q, from->bias_forces->q};
        r->arrays[FAST_V] = (sent_rows){from->bias_forces->n_v, from->bias_forces->v};
        return true;
    case DYNAMICS__V1__REQUEST__METHOD_EVALUATE:
        read_evaluate(from->evaluate, r);
        return true;
    default:
        return false;
    }
}

/* Returns whether a query has nothing but its model. */
static bool is_plain(const Dynamics__V1__Query *query) {
    return query->n_joint_names == 0 && !query->gravity && query->n_payloads == 0 && query->n_external_forces == 0 &&
           query->precision == DYNAMICS__V1__PRECISION__PRECISION_DOUBLE &&
           query->on_error == DYNAMICS__V1__ON_ERROR__ON_ERROR_FAIL && query->formulation[0] == '\0' &&
           !query->passive_forces && query->expected_digest[0] == '\0' && query->n_constraints == 0 &&
           query->n_tip_constraints == 0 && query->time == 0 && !query->base_motion && !query->rows &&
           !query->without_rotors && !query->motion_options;
}

/* Returns whether the request asks for the quantities of the channel. Its quantities stand beside no other member, so
 * that equal bytes are equal quantities. */
static bool has_quantities(fast_link *link, const Dynamics__V1__EvaluateRequest *body) {
    Dynamics__V1__OpenFastChannelRequest asked = DYNAMICS__V1__OPEN_FAST_CHANNEL_REQUEST__INIT;
    asked.n_quantities = body->n_quantities;
    asked.quantities = body->quantities;
    if (link->packed_size == 0 || body->contact_step != 0 ||
        dynamics__v1__open_fast_channel_request__get_packed_size(&asked) != link->packed_size) {
        return false;
    }
    dynamics__v1__open_fast_channel_request__pack(&asked, link->scratch);
    return memcmp(link->scratch, link->packed, link->packed_size) == 0;
}

/* Sets the number of samples. Returns false if the arrays do not have as many rows, or if there are too many. */
static bool count_samples(const fast_link *link, const fast_request *r, size_t *samples) {
    const fast_shared *s = &link->shared;
    *samples = r->arrays[FAST_Q].count / s->nq;
    bool fits = *samples > 0 && *samples <= s->samples && *samples * s->nq == r->arrays[FAST_Q].count;
    for (int k = FAST_V; fits && k < FAST_ARRAYS; k++) {
        fits = r->arrays[k].count == 0 || r->arrays[k].count == *samples * s->nv;
    }
    return fits;
}

/* Returns whether the channel computes the request now. Sets the number of samples. */
static bool can_compute(fast_link *link, fast_request *r, bool of_quantities, size_t *samples) {
    if (!fast_shared_is_free(&link->shared) || !count_samples(link, r, samples)) {
        return false;
    }
    if (r->evaluate && of_quantities) {
        r->call = FAST_QUANTITIES;
        return has_quantities(link, r->evaluate);
    }
    return r->call != FAST_QUANTITIES && (!r->evaluate || r->evaluate->contact_step == 0);
}

/* ---- exchange ---------------------------------------------------------------------------------------------------- */

static void write_question(fast_link *link, const fast_request *r, size_t samples) {
    fast_memory *m = link->shared.memory;
    double *to = (double *)(m + 1);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    m->question.call = (uint32_t)r->call;
    m->question.samples = (uint32_t)samples;
    m->question.inputs = 0;
    m->question.reference_frame = r->reference_frame;
    m->question.sent = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    if (r->frame) {
        memcpy(m->question.frame, r->frame, strlen(r->frame) + 1);
    } else {
        m->question.frame[0] = '\0';
    }
    for (unsigned k = 0; k < FAST_ARRAYS; k++) {
        size_t count = r->arrays[k].count;
        if (count > 0) {
            memcpy(to, r->arrays[k].values, count * sizeof *to);
            m->question.inputs |= 1U << k;
            to += count;
        }
    }
}

/* Copies the result to the targets, or the error of the daemon. */
static dyn_client_status read_answer(const fast_shared *s, const fast_target *targets, size_t target_count,
                                     dyn_client_error *error) {
    const fast_answer *answer = &s->memory->answer;
    const double *from = (const double *)((const char *)s->memory + fast_results_offset(s->input_numbers));
    size_t count = 0;
    if (answer->code != DYNAMICS__V1__CODE__CODE_OK) {
        return call_read_status((const uint8_t *)from, answer->status_bytes, (int)answer->code, error);
    }
    for (size_t i = 0; i < target_count; i++) {
        count += targets[i].count;
    }
    if (answer->numbers != count || count > s->output_numbers) {
        return fail_bad_reply(error, "the result does not hold as many values as asked for");
    }
    for (size_t i = 0; i < target_count; i++) {
        if (targets[i].count > 0) {
            memcpy(targets[i].values, from, targets[i].count * sizeof *from);
        }
        from += targets[i].count;
    }
    if (error) {
        error->marked = 0;
    }
    return DYN_CLIENT_OK;
}

/* Sends the request whose question is written. Returns false if the daemon has closed the channel. */
static bool exchange(dyn_client *client, fast_link *link, const call_terms *terms, const fast_target *targets,
                     size_t target_count, dyn_client_status *status, dyn_client_error *error) {
    fast_list *list = client_fast_channels(client);
    double timeout = terms->timeout > 0 ? terms->timeout : client_timeout(client);
    switch (fast_shared_exchange(&link->shared, list->spin, timeout, &list->is_aborted)) {
    case FAST_ANSWERED:
        *status = read_answer(&link->shared, targets, target_count, error);
        return true;
    case FAST_TIMED_OUT:
        *status = fail(error, DYN_CLIENT_TIMEOUT, NULL, "no reply over the fast channel within %g s", timeout);
        return true;
    case FAST_ABORTED:
        *status = fail(error, DYN_CLIENT_CANCELLED, NULL, "the client was aborted");
        return true;
    case FAST_CLOSED:
        break;
    }
    return false;
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

void fast_list_init(fast_list *list, double spin) {
    pthread_mutex_init(&list->mutex, NULL);
    list->spin = spin;
}

void fast_list_abort(fast_list *list) {
    atomic_store(&list->is_aborted, true);
}

/* Closes the channel of a link. */
static void close_link(fast_link *link) {
    if (link->layout) {
        fast_shared_close(&link->shared);
        dynamics__v1__open_fast_channel_reply__free_unpacked(link->layout, NULL);
        link->layout = NULL;
    }
}

static void free_link(fast_link *link) {
    close_link(link);
    if (link->request) {
        explicit_bzero(link->request->token, strlen(link->request->token));
        dynamics__v1__open_fast_channel_request__free_unpacked(link->request, NULL);
    }
    pthread_mutex_destroy(&link->mutex);
    free(link->packed);
    free(link->scratch);
    free(link);
}

void fast_list_free(fast_list *list) {
    fast_link *link = atomic_load(&list->first);
    while (link) {
        fast_link *next = link->next;
        free_link(link);
        link = next;
    }
    pthread_mutex_destroy(&list->mutex);
}

/* Opens the channel of a link within `timeout` s. */
static dyn_client_status open_link(fast_link *link, double timeout, dyn_client_error *error) {
    close_link(link);
    link->next_attempt = monotonic_now() + REOPEN_INTERVAL;
    return fast_shared_open(link->path, link->request, timeout, &link->shared, &link->layout, error);
}

/* Returns whether the channel is open. Opens it again if the daemon has closed it some time ago. */
static bool is_open(fast_link *link) {
    if (!link->layout && link->is_wanted && monotonic_now() >= link->next_attempt) {
        open_link(link, REOPEN_TIMEOUT, NULL);
    }
    return link->layout;
}

static fast_link *find_link(dyn_client *client, const char *model) {
    fast_link *link = atomic_load(&client_fast_channels(client)->first);
    while (link && strcmp(link->request->model, model) != 0) {
        link = link->next;
    }
    return link;
}

/* Returns the open channel, locked, that computes the request; NULL: there is none. */
static fast_link *take_link(dyn_client *client, const call_terms *terms, bool of_quantities, fast_request *r,
                            size_t *samples) {
    const fast_list *list = client_fast_channels(client);
    bool may = atomic_load(&list->first) && !atomic_load(&list->is_aborted) && !terms->job && !terms->progress &&
               !client_uses_jobs(client) && r->query && is_plain(r->query);
    fast_link *link = may ? find_link(client, r->query->model) : NULL;
    if (!link) {
        return NULL;
    }
    pthread_mutex_lock(&link->mutex);
    if (is_open(link) && can_compute(link, r, of_quantities, samples)) {
        return link;
    }
    pthread_mutex_unlock(&link->mutex);
    return NULL;
}

/* Exchanges a request over a locked channel, and unlocks it. Returns false if the daemon has closed the channel. */
static bool use_link(dyn_client *client, fast_link *link, const call_terms *terms, const fast_target *targets,
                     size_t target_count, dyn_client_status *status, dyn_client_error *error) {
    bool is_answered = exchange(client, link, terms, targets, target_count, status, error);
    if (!is_answered) {
        close_link(link);
    }
    pthread_mutex_unlock(&link->mutex);
    return is_answered;
}

bool fast_channel_compute(dyn_client *client, const Dynamics__V1__Request *request, const call_terms *terms,
                          const fast_target *targets, size_t target_count, dyn_client_status *status,
                          dyn_client_error *error) {
    fast_request r;
    size_t samples;
    if (!atomic_load(&client_fast_channels(client)->first) || !read_request(request, &r)) {
        return false;
    }
    fast_link *link = take_link(client, terms, false, &r, &samples);
    if (!link) {
        return false;
    }
    write_question(link, &r, samples);
    return use_link(client, link, terms, targets, target_count, status, error);
}

/* ---- quantities -------------------------------------------------------------------------------------------------- */

/* Copies the layout of the channel's quantities for a number of samples, with room for their values. Returns NULL when
 * out of memory. */
static Dynamics__V1__EvaluateReply *create_reply(const fast_link *link, size_t samples) {
    const Dynamics__V1__EvaluateReply *layout = link->layout->quantities;
    size_t size = layout ? dynamics__v1__evaluate_reply__get_packed_size(layout) : 0;
    uint8_t *bytes = layout ? malloc(size + 1) : NULL;
    if (!bytes) {
        return NULL;
    }
    dynamics__v1__evaluate_reply__pack(layout, bytes);
    Dynamics__V1__EvaluateReply *reply = dynamics__v1__evaluate_reply__unpack(NULL, size, bytes);
    free(bytes);
    bool is_whole = reply;
    for (size_t i = 0; is_whole && i < reply->n_results; i++) {
        for (size_t k = 0; is_whole && k < reply->results[i]->n_blocks; k++) {
            Dynamics__V1__Block *block = reply->results[i]->blocks[k];
            size_t width = 1;
            for (size_t axis = 0; axis < block->n_shape; axis++) {
                width = width <= link->shared.output_numbers ? width * block->shape[axis] : width;
            }
            is_whole = width <= link->shared.output_numbers;
            block->values = is_whole ? calloc(samples * width + 1, sizeof *block->values) : NULL;
            is_whole = block->values;
            block->n_values = is_whole ? samples * width : 0;
        }
    }
    if (reply) {
        reply->samples = samples;
    }
    if (!is_whole && reply) {
        dynamics__v1__evaluate_reply__free_unpacked(reply, NULL);
    }
    return is_whole ? reply : NULL;
}

/* Lists the values of all blocks. Returns NULL when out of memory. */
static fast_target *list_targets(const Dynamics__V1__EvaluateReply *reply, size_t *count) {
    *count = 0;
    for (size_t i = 0; i < reply->n_results; i++) {
        *count += reply->results[i]->n_blocks;
    }
    fast_target *targets = calloc(*count + 1, sizeof *targets), *next = targets;
    for (size_t i = 0; targets && i < reply->n_results; i++) {
        for (size_t k = 0; k < reply->results[i]->n_blocks; k++) {
            const Dynamics__V1__Block *block = reply->results[i]->blocks[k];
            *next++ = (fast_target){block->values, block->n_values};
        }
    }
    return targets;
}

bool fast_channel_evaluate(dyn_client *client, Dynamics__V1__EvaluateRequest *body, const call_terms *terms,
                           Dynamics__V1__EvaluateReply **reply, dyn_client_status *status, dyn_client_error *error) {
    fast_request r = {0};
    size_t samples, count;
    if (!atomic_load(&client_fast_channels(client)->first)) {
        return false;
    }
    read_evaluate(body, &r);
    fast_link *link = take_link(client, terms, true, &r, &samples);
    if (!link) {
        return false;
    }
    Dynamics__V1__EvaluateReply *made = create_reply(link, samples);
    fast_target *targets = made ? list_targets(made, &count) : NULL;
    bool is_answered = false;
    if (targets) {
        write_question(link, &r, samples);
        is_answered = use_link(client, link, terms, targets, count, status, error);
    } else {
        pthread_mutex_unlock(&link->mutex);
    }
    free(targets);
    if (made && (!is_answered || *status != DYN_CLIENT_OK)) {
        dynamics__v1__evaluate_reply__free_unpacked(made, NULL);
    } else {
        *reply = made;
    }
    return is_answered;
}

/* ---- the caller's functions -------------------------------------------------------------------------------------- */

/* Fills the request for a channel, and its quantities alone as bytes. */
static dyn_client_status fill_request(dyn_client *client, const char *model,
                                      const Dynamics__V1__EvaluateRequest *quantities, fast_link *link,
                                      dyn_client_error *error) {
    Dynamics__V1__OpenFastChannelRequest asked = DYNAMICS__V1__OPEN_FAST_CHANNEL_REQUEST__INIT;
    asked.n_quantities = quantities->n_quantities;
    asked.quantities = quantities->quantities;
    link->packed_size = dynamics__v1__open_fast_channel_request__get_packed_size(&asked);
    link->packed = malloc(link->packed_size + 1);
    link->scratch = malloc(link->packed_size + 1);
    if (!link->packed || !link->scratch) {
        return fail_memory(error);
    }
    dynamics__v1__open_fast_channel_request__pack(&asked, link->packed);
    asked.model = (char *)(uintptr_t)model;
    asked.token = (char *)(uintptr_t)client_token(client);
    asked.min_revision = client_min_revision(client);
    size_t size = dynamics__v1__open_fast_channel_request__get_packed_size(&asked);
    uint8_t *bytes = malloc(size + 1);
    if (bytes) {
        dynamics__v1__open_fast_channel_request__pack(&asked, bytes);
        link->request = dynamics__v1__open_fast_channel_request__unpack(NULL, size, bytes);
    }
    free(bytes);
    return link->request ? DYN_CLIENT_OK : fail_memory(error);
}

/* Sets the path of the daemon's socket, which follows from the address of the connection. */
static dyn_client_status find_path(dyn_client *client, fast_link *link, dyn_client_error *error) {
    static const char scheme[] = "ipc://";
    const char *url = connection_url(client_connection(client));
    bool is_local = strncmp(url, scheme, strlen(scheme)) == 0 && !connection_is_shared(client_connection(client));
    int length = is_local ? snprintf(link->path, sizeof link->path, "%s" FAST_SUFFIX, url + strlen(scheme)) : 0;
    if (!is_local) {
        return fail(error, DYN_CLIENT_FAILED_PRECONDITION, "client",
                    "a fast channel needs a daemon of the same machine: connect to its unix socket, ipc://PATH");
    }
    return length < (int)sizeof link->path ? DYN_CLIENT_OK
                                           : fail(error, DYN_CLIENT_UNREACHABLE, "client",
                                                  "%s" FAST_SUFFIX ": the path is longer than a socket allows", url);
}

/* Creates a link for a model and its quantities. */
static dyn_client_status create_link(dyn_client *client, const char *model, size_t quantity_count,
                                     const dyn_client_quantity_request *quantities, fast_link **created,
                                     dyn_client_error *error) {
    Dynamics__V1__EvaluateRequest body = DYNAMICS__V1__EVALUATE_REQUEST__INIT;
    const dyn_client_evaluate_request asked = {.quantity_count = quantity_count, .quantities = quantities};
    pool memory = {0};
    fast_link *link = calloc(1, sizeof *link);
    if (!link) {
        return fail_memory(error);
    }
    pthread_mutex_init(&link->mutex, NULL);
    link->shared.connection = -1;
    dyn_client_status status = find_path(client, link, error);
    if (status == DYN_CLIENT_OK && quantity_count > 0) {
        status = quantities_encode(&asked, (sample_range){0, 1, 1}, &memory, &body, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = fill_request(client, model, &body, link, error);
    }
    pool_free(&memory);
    if (status != DYN_CLIENT_OK) {
        free_link(link);
        return status;
    }
    *created = link;
    return DYN_CLIENT_OK;
}

dyn_client_status dyn_client_open_fast_channel(dyn_client *client, const char *model, size_t quantity_count,
                                               const dyn_client_quantity_request *quantities, double timeout,
                                               dyn_client_error *error) {
    fast_link *link;
    if (!client || !model) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, client ? "model" : "client", "%s is NULL",
                    client ? "model" : "client");
    }
    dyn_client_status status = create_link(client, model, quantity_count, quantities, &link, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    dyn_client_close_fast_channel(client, model);
    status = open_link(link, timeout > 0 ? timeout : client_timeout(client), error);
    if (status != DYN_CLIENT_OK) {
        free_link(link);
        return status;
    }
    fast_list *list = client_fast_channels(client);
    link->is_wanted = true;
    pthread_mutex_lock(&list->mutex);
    link->next = atomic_load(&list->first);
    atomic_store(&list->first, link);
    pthread_mutex_unlock(&list->mutex);
    return DYN_CLIENT_OK;
}

bool dyn_client_has_fast_channel(dyn_client *client, const char *model) {
    fast_link *link = find_link(client, model);
    if (!link) {
        return false;
    }
    pthread_mutex_lock(&link->mutex);
    bool is_there = link->layout && !atomic_load(&link->shared.memory->is_closed);
    pthread_mutex_unlock(&link->mutex);
    return is_there;
}

void dyn_client_close_fast_channel(dyn_client *client, const char *model) {
    fast_link *link = find_link(client, model);
    if (link) {
        pthread_mutex_lock(&link->mutex);
        link->is_wanted = false;
        close_link(link);
        pthread_mutex_unlock(&link->mutex);
    }
}
