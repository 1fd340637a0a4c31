/*
 * Any bytes as a request: the service answers each exactly once, with a Reply that can be decoded, that has a result if
 * and only if its code is OK, and whose words are UTF-8.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/v1/envelope.pb-c.h"
#include "methods/live.h"
#include "methods/service.h"
#include "methods/text.h"
#include "observe/clock.h"
#include "target.h"

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

/* The service without a network. */
typedef struct bench {
    service_limits limits;
    counters counters;
    health health;
    logger log;
    model_store *store;
    live *live; /* without a transport: nothing is published */
    service *service;
} bench;

/* A call that keeps its reply. */
typedef struct kept_call {
    transport_call call;
    uint8_t *reply;
    size_t size;
    unsigned answers;
} kept_call;

static void require(bool holds, const char *property) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", property);
        abort();
    }
}

static uint8_t *keep_buffer(transport_call *base, size_t size) {
    kept_call *call = (kept_call *)base;
    free(call->reply);
    call->reply = malloc(size + 1);
    call->size = size;
    return call->reply;
}

static void keep_reply(transport_call *base) {
    ((kept_call *)base)->answers++;
}

static const transport_carrier keeping = {.reply_buffer = keep_buffer, .send = keep_reply};

/* The worker that takes long requests is this thread. */
static bool run_at_once(void *pool, void (*run)(void *task), void *task) {
    (void)pool;
    run(task);
    return true;
}

static void load(bench *b, const char *name, dyn_base base) {
    model_entry *entry;
    dyn_error error;
    const model_options options = {.base = base};
    dyn_status status = model_entry_create(arm, strlen(arm), name, "", &options, 100, &error, &entry);
    require(status == DYN_OK && model_store_insert(b->store, entry, false, NULL) == MODEL_INSERTED, "the arm loads");
    model_entry_release(entry);
}

static void start(bench *b) {
    b->limits.message_bytes = 1 << 16;
    b->limits.reply_bytes = 1 << 18;
    b->limits.samples = 1000;
    b->limits.models = 4;
    b->limits.links = 100;
    b->limits.request_time = 0.02; /* a rollout may ask for any number of steps */
    b->limits.simulations = 4;
    b->limits.streams = 4;
    log_configure(&b->log, LOG_LEVEL_ERROR, LOG_FORMAT_PLAIN);
    health_init(&b->health);
    b->store = model_store_create(4);
    const live_options lives = {.store = b->store,
                                .limits = &b->limits,
                                .counters = &b->counters,
                                .log = &b->log,
                                .threads = 1,
                                .state_directory = ""};
    b->live = live_create(&lives);
    const service_options options = {.store = b->store,
                                     .live = b->live,
                                     .limits = &b->limits,
                                     .counters = &b->counters,
                                     .health = &b->health,
                                     .log = &b->log,
                                     .submit = run_at_once,
                                     .workers = 1};
    b->service = service_create(&options);
    require(b->store && b->live && b->service, "the service starts");
    load(b, "arm", DYN_BASE_FIXED);
    load(b, "walker", DYN_BASE_FLOATING);
}

static void stop(bench *b) {
    live_free(b->live);
    service_free(b->service);
    model_store_free(b->store);
    health_free(&b->health);
    memset(b, 0, sizeof *b);
}

/* What holds of every answer. Returns whether the store may have changed. */
static bool check_reply(const kept_call *call, const Dynamics__V1__Request *request) {
    require(call->answers == 1, "each request is answered once");
    Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, call->size, call->reply);
    require(reply && reply->status, "the answer is a Reply with a status");
    bool is_ok = reply->status->code == DYNAMICS__V1__CODE__CODE_OK;
    require(is_ok == (reply->result_case != DYNAMICS__V1__REPLY__RESULT__NOT_SET), "there is a result if it is OK");
    require(is_ok == (reply->status->message[0] == '\0'), "errors have a message");
    require(text_is_utf8(reply->status->message) && text_is_utf8(reply->status->field), "words are UTF-8");
    require(reply->status->code != DYNAMICS__V1__CODE__CODE_INTERNAL, "there are no internal errors");
    require(!request || reply->id == request->id, "the answer has the request's id");
    require(request || !is_ok, "what is no request is refused");
    require(!is_ok || (int)reply->result_case == (int)request->method_case, "the result is the method's");
    bool is_change = reply->result_case == DYNAMICS__V1__REPLY__RESULT_LOAD_MODEL ||
                     reply->result_case == DYNAMICS__V1__REPLY__RESULT_DERIVE_MODEL ||
                     reply->result_case == DYNAMICS__V1__REPLY__RESULT_UNLOAD_MODEL;
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return is_change;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bench b;
    if (!b.service) {
        start(&b);
    }
    kept_call call = {
        .call = {.carrier = &keeping, .request = data, .request_size = size, .arrival = clock_now(), .peer = "fuzz"}};
    service_handle(b.service, &call.call);
    Dynamics__V1__Request *request = dynamics__v1__request__unpack(NULL, size, data);
    if (check_reply(&call, request)) {
        stop(&b);
    }
    dynamics__v1__request__free_unpacked(request, NULL);
    free(call.reply);
    return 0;
}
