/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts the daemon's service without a network, with two models, and passes requests to it. */
#include "service_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/text.h>

#include "observe/clock.h"

static const char arm[] =
    "<robot name='arm'><link name='base'><inertial><mass value='3'/>"
    "<inertia ixx='.2' ixy='0' ixz='0' iyy='.2' iyz='0' izz='.2'/></inertial></link>"
    "<joint name='shoulder' type='continuous'><parent link='base'/><child link='upper'/><axis xyz='0 1 0'/></joint>"
    "<link name='upper'><inertial><origin xyz='0.5 0 0'/><mass value='2'/>"
    "<inertia ixx='.1' ixy='0' ixz='0' iyy='.1' iyz='0' izz='.1'/></inertial></link>"
    "<joint name='elbow' type='prismatic'><parent link='upper'/><child link='lower'/><origin xyz='1 0 0'/>"
    "<axis xyz='1 0 0'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
    "<link name='lower'><inertial><mass value='1'/>"
    "<inertia ixx='.1' ixy='0' ixz='0' iyy='.1' iyz='0' izz='.1'/></inertial></link></robot>";

void require(bool holds, const char *property) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", property);
        abort();
    }
}

static uint8_t *store_buffer(transport_call *base, size_t size) {
    stored_call *stored = (stored_call *)base;
    free(stored->reply);
    stored->reply = malloc(size + 1);
    stored->size = size;
    return stored->reply;
}

static void store_reply(transport_call *base) {
    ((stored_call *)base)->answers++;
}

static void ignore_role(transport_call *base, access_role role) {
    (void)base;
    (void)role;
}

static const transport_carrier storing = {.reply_buffer = store_buffer, .send = store_reply, .vouch = ignore_role};

/* Runs a task on the calling thread and returns true. The service calls this function for long requests, in the place
 * of worker_pool_submit. */
static bool run_at_once(void *pool, void (*run)(void *task), void *task) {
    (void)pool;
    run(task);
    return true;
}

/* Runs a task of a user at once, in place of worker_pool_submit_for. */
static bool run_for_user(void *pool, uint64_t user, void (*run)(void *task), void *task) {
    (void)user;
    return run_at_once(pool, run, task);
}

static void load(bench *b, const char *name, dyn_base base) {
    model_entry *entry;
    dyn_error error;
    const model_options options = {.base = base};
    dyn_status status = model_entry_create(arm, strlen(arm), name, "", &options, 100, &error, &entry);
    require(status == DYN_OK && model_store_insert(b->store, entry, NULL, NULL) == MODEL_INSERTED, "the arm loads");
    model_entry_release(entry);
}

void bench_start(bench *b, const char *state_directory) {
    static const char *const ingest[] = {"inproc://ingest"};
    memory_budget_set(&b->budget, 1 << 30, 0);
    b->limits.message_bytes = 1 << 16;
    b->limits.reply_bytes = 1 << 18;
    b->limits.samples = 1000;
    b->limits.models = 4;
    b->limits.links = 100;
    b->limits.request_time = 0.02; /* a rollout may request any number of steps */
    b->limits.jobs = 8;
    b->limits.job_bytes = 1 << 20;
    b->limits.job_time = 0.02;
    b->limits.job_result_time = 60;
    b->limits.simulations = 4;
    b->limits.streams = 4;
    b->limits.stream_points = 64;
    b->limits.recording_bytes = 1 << 20;
    b->limits.recordings_bytes = 1 << 24;
    b->limits.recordings = 16;
    b->limits.lease_time = 60;
    b->limits.user_requests = 4;
    b->limits.user_samples = 1000;
    b->limits.samples_under_way = 1000;
    b->limits.user_memory_bytes = 1 << 28;
    b->limits.user_models = b->limits.user_simulations = b->limits.user_streams = 3;
    b->limits.user_recordings = 8;
    b->limits.user_recordings_bytes = 1 << 23;
    b->limits.user_jobs = 4;
    b->limits.user_job_bytes = 1 << 19;
    log_configure(&b->log, LOG_LEVEL_ERROR, LOG_FORMAT_PLAIN);
    health_init(&b->health);
    b->store = model_store_create(4);
    const live_options lives = {.store = b->store,
                                .limits = &b->limits,
                                .counters = &b->counters,
                                .budget = &b->budget,
                                .log = &b->log,
                                .threads = 1,
                                .state_directory = state_directory};
    b->live = live_create(&lives);
    require(b->live != NULL, "the service starts");
    live_attach(b->live, NULL, ingest, 1);
    const service_options options = {.store = b->store,
                                     .live = b->live,
                                     .limits = &b->limits,
                                     .counters = &b->counters,
                                     .budget = &b->budget,
                                     .health = &b->health,
                                     .log = &b->log,
                                     .submit = run_at_once,
                                     .submit_for = run_for_user,
                                     .workers = 1,
                                     .job_threads = 1};
    b->service = service_create(&options);
    require(b->store && b->live && b->service, "the service starts");
    load(b, "arm", DYN_BASE_FIXED);
    load(b, "walker", DYN_BASE_FLOATING);
}

void bench_stop(bench *b) {
    live_free(b->live);
    service_free(b->service);
    model_store_free(b->store);
    health_free(&b->health);
    memset(b, 0, sizeof *b);
}

void bench_handle(bench *b, const uint8_t *request, size_t size, stored_call *stored) {
    *stored = (stored_call){.call = {.carrier = &storing,
                                     .request = request,
                                     .request_size = size,
                                     .arrival = clock_now(),
                                     .identity = {TRANSPORT_ORIGIN_USER, 1},
                                     .caller = {.role = ACCESS_ADMINISTRATOR, .name = "fuzz"},
                                     .peer = "fuzz"}};
    service_handle(b->service, &stored->call);
}

Dynamics__V1__Reply *bench_reply(const stored_call *stored, const Dynamics__V1__Request *request) {
    require(stored->answers == 1, "each request is answered once");
    Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, stored->size, stored->reply);
    require(reply && reply->status, "the answer is a Reply with a status");
    bool is_ok = reply->status->code == DYNAMICS__V1__CODE__CODE_OK;
    require(is_ok == (reply->result_case != DYNAMICS__V1__REPLY__RESULT__NOT_SET), "there is a result if it is OK");
    require(is_ok == (reply->status->message[0] == '\0'), "errors have a message");
    require(dyn_text_is_printable(reply->status->message) && dyn_text_is_printable(reply->status->field),
            "words are printable");
    require(reply->status->code != DYNAMICS__V1__CODE__CODE_INTERNAL, "there are no internal errors");
    require(!request || reply->id == request->id, "the answer has the request's id");
    require(request || !is_ok, "what is no request is refused");
    require(!is_ok || (int)reply->result_case == (int)request->method_case, "the result is the method's");
    return reply;
}

Dynamics__V1__Reply *bench_try(bench *b, const Dynamics__V1__Request *request) {
    uint8_t bytes[1024];
    stored_call stored;
    require(dynamics__v1__request__get_packed_size(request) <= sizeof bytes, "the request is short");
    bench_handle(b, bytes, dynamics__v1__request__pack(request, bytes), &stored);
    Dynamics__V1__Reply *reply = bench_reply(&stored, request);
    free(stored.reply);
    return reply;
}

Dynamics__V1__Reply *bench_call(bench *b, const Dynamics__V1__Request *request) {
    Dynamics__V1__Reply *reply = bench_try(b, request);
    require(reply->status->code == DYNAMICS__V1__CODE__CODE_OK, reply->status->message);
    return reply;
}
