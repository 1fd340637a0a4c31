/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions of fast channels: open them for a model and its quantities, and compute their calls. */
#include "methods/fast_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/v1/fast_channel.pb-c.h"
#include "methods/field_check.h"
#include "methods/methods.h"

#define METHOD(name) DYNAMICS__V1__REQUEST__METHOD_##name

/* Numbers of a pose, and of a Jacobian for each column. */
enum { POSE_NUMBERS = 7, JACOBIAN_ROWS = 6 };

/* Session of one channel. The messages of its calls refer to the arrays of the present call. */
typedef struct fast_session {
    service *service;
    call *call;
    transport_call transport;
    const fast_peer *peer;
    unsigned edition; /* of the policy by which the caller was found */
    arena memory;     /* of the decoded request */
    const Dynamics__V1__OpenFastChannelRequest *opened;
    uint64_t model_key;
    Dynamics__V1__Query query;
    Dynamics__V1__InverseDynamicsRequest inverse_dynamics;
    Dynamics__V1__ForwardDynamicsRequest forward_dynamics;
    Dynamics__V1__MassMatrixRequest mass_matrix;
    Dynamics__V1__GravityRequest gravity;
    Dynamics__V1__BiasForcesRequest bias_forces;
    Dynamics__V1__EvaluateRequest of_frame, quantities;
    Dynamics__V1__QuantityRequest frame_quantity, *frame_quantities[1];
    char *frames[1];
    Dynamics__V1__Request request;
    size_t nq, nv;
    fast_part *parts;
    size_t most_parts;
    uint8_t status[FAST_STATUS_SIZE];
} fast_session;

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static void init_messages(fast_session *f) {
    dynamics__v1__query__init(&f->query);
    f->query.model = f->opened->model;
    dynamics__v1__inverse_dynamics_request__init(&f->inverse_dynamics);
    dynamics__v1__forward_dynamics_request__init(&f->forward_dynamics);
    dynamics__v1__mass_matrix_request__init(&f->mass_matrix);
    dynamics__v1__gravity_request__init(&f->gravity);
    dynamics__v1__bias_forces_request__init(&f->bias_forces);
    dynamics__v1__evaluate_request__init(&f->of_frame);
    dynamics__v1__evaluate_request__init(&f->quantities);
    dynamics__v1__quantity_request__init(&f->frame_quantity);
    f->inverse_dynamics.query = f->forward_dynamics.query = f->mass_matrix.query = &f->query;
    f->gravity.query = f->bias_forces.query = f->of_frame.query = f->quantities.query = &f->query;
    f->frame_quantities[0] = &f->frame_quantity;
    f->frame_quantity.n_frames = 1;
    f->frame_quantity.frames = f->frames;
    f->of_frame.n_quantities = 1;
    f->of_frame.quantities = f->frame_quantities;
    f->quantities.n_quantities = f->opened->n_quantities;
    f->quantities.quantities = f->opened->quantities;
    dynamics__v1__request__init(&f->request);
}

static size_t count_rows(const fast_session *f, const fast_input *input, fast_array k) {
    return input->arrays[k] ? input->samples * (k == FAST_Q ? f->nq : f->nv) : 0;
}

/* Sets one array of a message. */
static void set(const fast_session *f, const fast_input *input, fast_array k, size_t *count, double **values) {
    *count = count_rows(f, input, k);
    *values = (double *)(uintptr_t)input->arrays[k];
}

static void set_evaluate(fast_session *f, const fast_input *input, Dynamics__V1__EvaluateRequest *body) {
    set(f, input, FAST_Q, &body->n_q, &body->q);
    set(f, input, FAST_V, &body->n_v, &body->v);
    set(f, input, FAST_A, &body->n_a, &body->a);
    set(f, input, FAST_TAU, &body->n_tau, &body->tau);
    set(f, input, FAST_DQ, &body->n_dq, &body->dq);
    set(f, input, FAST_DV, &body->n_dv, &body->dv);
    set(f, input, FAST_DA, &body->n_da, &body->da);
    set(f, input, FAST_DTAU, &body->n_dtau, &body->dtau);
    f->request.method_case = METHOD(EVALUATE);
    f->request.evaluate = body;
}

static void set_frame(fast_session *f, const fast_input *input) {
    bool is_pose = input->call == FAST_FRAME_POSE;
    f->frames[0] = (char *)(uintptr_t)input->frame;
    f->frame_quantity.quantity =
        is_pose ? DYNAMICS__V1__QUANTITY__QUANTITY_FRAME_POSE : DYNAMICS__V1__QUANTITY__QUANTITY_FRAME_JACOBIAN;
    f->frame_quantity.reference_frame = (Dynamics__V1__ReferenceFrame)input->reference_frame;
    set_evaluate(f, input, &f->of_frame);
}

/* Sets the request of a call. */
static void set_request(fast_session *f, const fast_input *input) {
    switch (input->call) {
    case FAST_INVERSE_DYNAMICS:
        set(f, input, FAST_Q, &f->inverse_dynamics.n_q, &f->inverse_dynamics.q);
        set(f, input, FAST_V, &f->inverse_dynamics.n_v, &f->inverse_dynamics.v);
        set(f, input, FAST_A, &f->inverse_dynamics.n_a, &f->inverse_dynamics.a);
        f->request.method_case = METHOD(INVERSE_DYNAMICS);
        f->request.inverse_dynamics = &f->inverse_dynamics;
        break;
    case FAST_FORWARD_DYNAMICS:
        set(f, input, FAST_Q, &f->forward_dynamics.n_q, &f->forward_dynamics.q);
        set(f, input, FAST_V, &f->forward_dynamics.n_v, &f->forward_dynamics.v);
        set(f, input, FAST_TAU, &f->forward_dynamics.n_tau, &f->forward_dynamics.tau);
        f->request.method_case = METHOD(FORWARD_DYNAMICS);
        f->request.forward_dynamics = &f->forward_dynamics;
        break;
    case FAST_MASS_MATRIX:
        set(f, input, FAST_Q, &f->mass_matrix.n_q, &f->mass_matrix.q);
        f->request.method_case = METHOD(MASS_MATRIX);
        f->request.mass_matrix = &f->mass_matrix;
        break;
    case FAST_GRAVITY:
        set(f, input, FAST_Q, &f->gravity.n_q, &f->gravity.q);
        f->request.method_case = METHOD(GRAVITY);
        f->request.gravity = &f->gravity;
        break;
    case FAST_BIAS_FORCES:
        set(f, input, FAST_Q, &f->bias_forces.n_q, &f->bias_forces.q);
        set(f, input, FAST_V, &f->bias_forces.n_v, &f->bias_forces.v);
        f->request.method_case = METHOD(BIAS_FORCES);
        f->request.bias_forces = &f->bias_forces;
        break;
    case FAST_FRAME_POSE:
    case FAST_FRAME_JACOBIAN:
        set_frame(f, input);
        break;
    case FAST_QUANTITIES:
        set_evaluate(f, input, &f->quantities);
        break;
    }
}

/* ---- caller ------------------------------------------------------------------------------------------------------ */

/* Finds the caller by the token, if there is one, and else by what the system states. Returns false for an unknown
 * token. */
static bool find_caller(fast_session *f) {
    access_guard *access = f->call->service->access;
    access_caller *caller = &f->call->caller;
    const char *token = f->opened->token;
    f->edition = access ? access_edition(access) : 0;
    if (token[0] != '\0') {
        return strlen(token) <= ACCESS_TOKEN_LENGTH && access && access_find(access, token, caller);
    }
    caller->role = access ? access_find_role(access, &f->peer->facts) : ACCESS_ADMINISTRATOR;
    snprintf(caller->name, sizeof caller->name, "uid:%u", f->peer->facts.user);
    return true;
}

/* Returns whether the caller is known under the present policy, and finds its role again after a reload. */
static bool is_caller_known(fast_session *f) {
    access_guard *access = f->call->service->access;
    return !access || access_edition(access) == f->edition || find_caller(f);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static size_t list_part(fast_session *f, const double *numbers, size_t count) {
    f->parts[0] = (fast_part){numbers, count};
    return 1;
}

/* Lists the values of all blocks. */
static size_t list_blocks(fast_session *f, const Dynamics__V1__EvaluateReply *reply) {
    size_t count = 0;
    for (size_t i = 0; i < reply->n_results; i++) {
        const Dynamics__V1__QuantityResult *result = reply->results[i];
        for (size_t k = 0; k < result->n_blocks && count < f->most_parts; k++) {
            f->parts[count++] = (fast_part){result->blocks[k]->values, result->blocks[k]->n_values};
        }
    }
    return count;
}

/* Lists the parts of the result of the call. Returns their number. */
static size_t list_parts(fast_session *f) {
    const Dynamics__V1__Reply *reply = &f->call->reply;
    switch (reply->result_case) {
    case DYNAMICS__V1__REPLY__RESULT_INVERSE_DYNAMICS:
        return list_part(f, reply->inverse_dynamics->tau, reply->inverse_dynamics->n_tau);
    case DYNAMICS__V1__REPLY__RESULT_FORWARD_DYNAMICS:
        return list_part(f, reply->forward_dynamics->a, reply->forward_dynamics->n_a);
    case DYNAMICS__V1__REPLY__RESULT_MASS_MATRIX:
        return list_part(f, reply->mass_matrix->mass_matrix, reply->mass_matrix->n_mass_matrix);
    case DYNAMICS__V1__REPLY__RESULT_GRAVITY:
        return list_part(f, reply->gravity->g, reply->gravity->n_g);
    case DYNAMICS__V1__REPLY__RESULT_BIAS_FORCES:
        return list_part(f, reply->bias_forces->h, reply->bias_forces->n_h);
    case DYNAMICS__V1__REPLY__RESULT_EVALUATE:
        return list_blocks(f, reply->evaluate);
    default:
        return 0;
    }
}

/* Serializes the status of a call that has failed. Leaves out texts that do not fit. */
static void write_status(fast_session *f, fast_output *output) {
    Dynamics__V1__Status *status = &f->call->status;
    size_t size = dynamics__v1__status__get_packed_size(status);
    if (size > sizeof f->status) {
        status->joint = (char *)protobuf_c_empty_string;
        status->field = (char *)protobuf_c_empty_string;
        size = dynamics__v1__status__get_packed_size(status);
    }
    output->code = (uint32_t)status->code;
    output->status = f->status;
    output->status_size = size <= sizeof f->status ? dynamics__v1__status__pack(status, f->status) : 0;
}

static bool has_failed(const fast_session *f) {
    return f->call->status.code != DYNAMICS__V1__CODE__CODE_OK;
}

static size_t count_bytes(const fast_session *f, const fast_input *input) {
    size_t count = 0;
    for (int k = 0; k < FAST_ARRAYS; k++) {
        count += count_rows(f, input, (fast_array)k);
    }
    return count * sizeof(double);
}

static void compute(void *session, const fast_input *input, fast_output *output) {
    fast_session *f = session;
    size_t bytes_out = 0;
    *output = (fast_output){.parts = f->parts};
    if (!is_caller_known(f)) {
        output->must_close = true;
        return;
    }
    set_request(f, input);
    service_run_session(f->call, &f->request);
    /* Another model under the name may have other joints: the client asks again by a request, and so it does where its
     * role has become too low, which leaves the model unknown. */
    output->must_close = f->call->reply.model_key != f->model_key;
    if (has_failed(f)) {
        write_status(f, output);
    } else {
        output->part_count = list_parts(f);
    }
    for (size_t i = 0; i < output->part_count; i++) {
        bytes_out += output->parts[i].count * sizeof(double);
    }
    service_count_session(f->call, count_bytes(f, input), bytes_out);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Decodes the request for a channel. On failure ends the call. */
static void decode(fast_session *f, const uint8_t *bytes, size_t size) {
    call *c = f->call;
    uint32_t number;
    arena_reset(&f->memory, DECODED_FACTOR * size + DECODED_MARGIN);
    f->opened = dynamics__v1__open_fast_channel_request__unpack(&f->memory.allocator, size, bytes);
    if (!f->opened) {
        call_fail(c, REASON_MALFORMED_REQUEST,
                  "the %zu bytes are no serialized dynamics.v1.OpenFastChannelRequest that fits into memory", size);
    } else if (f->opened->min_revision > SERVICE_REVISION) {
        call_fail(c, REASON_LATER_REVISION,
                  "the request needs revision %u of dynamics.v1; this daemon speaks revision %d",
                  f->opened->min_revision, SERVICE_REVISION);
    } else if (field_check_find(&dynamics__v1__open_fast_channel_request__descriptor, bytes, size, c->field,
                                sizeof c->field, &number) != FIELD_FITS) {
        call_fail(c, REASON_UNKNOWN_FIELD, "the request has a field that this daemon does not know, or a zero byte");
    } else {
        c->field[0] = '\0';
    }
}

/* Finds the caller and checks the role. On failure ends the call. */
static void check_caller(fast_session *f) {
    call *c = f->call;
    if (!find_caller(f)) {
        snprintf(c->field, sizeof c->field, "token");
        call_fail(c, REASON_UNKNOWN_TOKEN,
                  "the daemon knows no such token; its file of tokens is set by access.tokens in the configuration");
    } else if (c->caller.role < ACCESS_READER) {
        call_fail(c, REASON_ROLE_TOO_LOW,
                  "a fast channel needs the role reader, and %s has no role; pass a token, or let the administrator "
                  "give the role ([access] in the configuration)",
                  c->caller.name);
    }
}

/* Computes the mass matrix of the home configuration, which finds the model. On failure ends the call. */
static void find_model(fast_session *f) {
    call *c = f->call;
    model_entry *entry = call_find_model(c, f->opened->model);
    if (!entry) {
        return;
    }
    call_set_model(c, entry);
    f->model_key = c->reply.model_key;
    f->nq = (size_t)dyn_model_nq(entry->model);
    f->nv = (size_t)dyn_model_nv(entry->model);
    double *q = arena_array(&f->memory, FAST_SAMPLES * f->nq, sizeof *q);
    for (size_t i = 0; q && i < FAST_SAMPLES; i++) {
        dyn_home_configuration(entry->model, q + i * f->nq);
    }
    model_entry_release(entry);
    f->quantities.q = q;
    if (!q) {
        call_fail_memory(c);
    }
}

/* Evaluates the quantities in `samples` home configurations, where states that fail are marked. On failure ends the
 * call. */
static void try_quantities(fast_session *f, size_t samples) {
    if (f->opened->n_quantities > 0) {
        f->quantities.n_q = samples * f->nq;
        f->query.on_error = DYNAMICS__V1__ON_ERROR__ON_ERROR_MARK;
        f->request.method_case = METHOD(EVALUATE);
        f->request.evaluate = &f->quantities;
        service_run_session(f->call, &f->request);
        f->query.on_error = DYNAMICS__V1__ON_ERROR__ON_ERROR_FAIL;
    }
}

/* Copies the layout of the quantities of one state into the reply: the answer to Evaluate without values. `numbers`
 * receives the values of one state. */
static void describe_quantities(fast_session *f, Dynamics__V1__OpenFastChannelReply *reply, size_t *numbers) {
    Dynamics__V1__EvaluateReply *layout =
        f->call->reply.result_case == DYNAMICS__V1__REPLY__RESULT_EVALUATE ? f->call->reply.evaluate : NULL;
    *numbers = 0;
    f->most_parts = 1;
    for (size_t i = 0; layout && i < layout->n_results; i++) {
        for (size_t k = 0; k < layout->results[i]->n_blocks; k++) {
            Dynamics__V1__Block *block = layout->results[i]->blocks[k];
            *numbers += block->n_values;
            block->n_values = 0;
            f->most_parts++;
        }
    }
    f->most_parts = f->most_parts > 2 ? f->most_parts : 2; /* a pose has two */
    if (layout) {
        layout->agreement = NULL; /* that of one home configuration; replies through the channel have none */
    }
    reply->quantities = layout;
}

static size_t largest(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Sets the size of the channel for its states: as many as were asked for, or as many as fit. On failure ends the
 * call. */
static void size_channel(fast_session *f, size_t numbers, fast_offer *offer) {
    call *c = f->call;
    uint64_t limit = atomic_load(&c->service->limits->fast_channel_bytes);
    size_t width = largest(largest(f->nv * f->nv, numbers), largest(POSE_NUMBERS, JACOBIAN_ROWS * f->nv));
    size_t row = f->nq + (FAST_ARRAYS - 1) * f->nv, asked = f->opened->samples, samples = asked ? asked : FAST_SAMPLES;
    size_t size;
    if (samples > FAST_SAMPLES) {
        snprintf(c->field, sizeof c->field, "samples");
        call_fail(c, REASON_TOO_MANY_SAMPLES, "%zu samples; a fast channel has at most %d", samples, FAST_SAMPLES);
        return;
    }
    for (;; samples--) {
        offer->input_numbers = samples * row;
        offer->output_numbers = largest(samples * width, FAST_STATUS_SIZE / sizeof(double));
        size = fast_memory_size(offer->input_numbers, offer->output_numbers);
        if (size <= limit || asked || samples == 1) {
            break;
        }
    }
    if (size > limit) {
        call_fail(c, REASON_REPLY_TOO_LARGE,
                  "a fast channel for %zu sample%s would have %zu bytes; the limit is %llu (fast.channel_bytes)",
                  samples, samples == 1 ? "" : "s", size, (unsigned long long)limit);
    }
    offer->nq = f->nq;
    offer->nv = f->nv;
    offer->samples = samples;
}

/* Computes each call once with the largest number of states, and reserves the memory that they take: later calls
 * allocate nothing. States that fail are marked. Counts nothing. */
static bool warm_up(fast_session *f, size_t samples) {
    size_t most = 0;
    char world[] = "world";
    fast_input input = {.samples = samples, .arrays = {[FAST_Q] = f->quantities.q}, .frame = world};
    f->query.on_error = DYNAMICS__V1__ON_ERROR__ON_ERROR_MARK;
    for (fast_call k = FAST_INVERSE_DYNAMICS; k <= FAST_QUANTITIES; k++) {
        if (k != FAST_QUANTITIES || f->opened->n_quantities > 0) {
            input.call = k;
            set_request(f, &input);
            service_run_session(f->call, &f->request);
            most = largest(most, f->call->memory.used);
        }
    }
    f->query.on_error = DYNAMICS__V1__ON_ERROR__ON_ERROR_FAIL;
    f->parts = calloc(f->most_parts, sizeof *f->parts);
    return f->parts && service_reserve_session(f->call, most);
}

/* Serializes the reply into the offer. Without memory the offer has none. */
static void write_reply(fast_session *f, Dynamics__V1__OpenFastChannelReply *reply, fast_offer *offer) {
    Dynamics__V1__Status *status = &f->call->status;
    if (status->code != DYNAMICS__V1__CODE__CODE_OK) {
        dynamics__v1__open_fast_channel_reply__init(reply);
    }
    reply->status = status;
    offer->reply = malloc(dynamics__v1__open_fast_channel_reply__get_packed_size(reply));
    offer->reply_size = offer->reply ? dynamics__v1__open_fast_channel_reply__pack(reply, offer->reply) : 0;
}

/* Opens the session for the decoded request and fills the reply. On failure ends the call. */
static void open_channel(fast_session *f, Dynamics__V1__OpenFastChannelReply *reply, fast_offer *offer) {
    size_t numbers = 0;
    init_messages(f);
    find_model(f);
    if (!has_failed(f)) {
        try_quantities(f, 1);
    }
    if (!has_failed(f)) {
        describe_quantities(f, reply, &numbers);
        size_channel(f, numbers, offer);
    }
    reply->model_key = f->model_key;
    reply->nq = (uint32_t)f->nq;
    reply->nv = (uint32_t)f->nv;
    reply->samples = (uint32_t)offer->samples;
    reply->input_numbers = offer->input_numbers;
    reply->output_numbers = offer->output_numbers;
    write_reply(f, reply, offer);
}

static void close_session(void *session) {
    fast_session *f = session;
    service_close_session(f->call);
    arena_free(&f->memory);
    free(f->parts);
    free(f);
}

static fast_session *create_session(service *s, const fast_peer *peer) {
    fast_session *f = calloc(1, sizeof *f);
    if (!f) {
        return NULL;
    }
    f->service = s;
    f->peer = peer;
    f->transport.identity.origin = TRANSPORT_ORIGIN_USER;
    snprintf(f->transport.peer, sizeof f->transport.peer, "%s", peer->name);
    arena_init(&f->memory);
    f->call = service_open_session(s, &f->transport);
    if (!f->call) {
        free(f);
        return NULL;
    }
    f->call->method = &methods[METHOD(EVALUATE)];
    return f;
}

static void *open_session(void *context, const fast_peer *peer, const uint8_t *bytes, size_t size, fast_offer *offer) {
    Dynamics__V1__OpenFastChannelReply reply = DYNAMICS__V1__OPEN_FAST_CHANNEL_REPLY__INIT;
    fast_session *f = create_session(context, peer);
    if (!f) {
        return NULL;
    }
    decode(f, bytes, size);
    if (!has_failed(f)) {
        check_caller(f);
    }
    if (!has_failed(f) && peer->exceeded) {
        call_fail(f->call, REASON_QUOTA, "%u fast channels are open, as many as %s allows; close one, or use requests",
                  peer->open, peer->exceeded);
    }
    if (!has_failed(f)) {
        open_channel(f, &reply, offer);
    } else {
        write_reply(f, &reply, offer);
    }
    bool is_refused = has_failed(f), is_ready = !is_refused && offer->reply && warm_up(f, offer->samples);
    if (!is_ready && !is_refused) {
        free(offer->reply);
        offer->reply = NULL;
    }
    if (!is_ready) {
        close_session(f);
    }
    return is_ready ? f : NULL;
}

fast_handler fast_session_handler(service *s) {
    return (fast_handler){open_session, compute, close_session, s};
}
