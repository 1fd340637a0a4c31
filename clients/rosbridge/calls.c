/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues calls to the daemon, runs them on a pool of threads, and sends their answers from the event loop.
 */
#include "calls.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include <dynamics/v1/simulation.pb-c.h>

#include "daemon_link.h"
#include "joint_state.h"
#include "json_text.h"
#include "model_joints.h"

/* Values of the status of action_result. */
enum { GOAL_SUCCEEDED = 4, GOAL_CANCELED = 5, GOAL_ABORTED = 6 };

/* CANCEL_TIME: seconds that the daemon has to cancel a call. CANCEL_PAUSE: seconds before the first repetition of a
 * cancellation; it doubles each time. */
static const double CANCEL_TIME = 5, CANCEL_PAUSE = 0.05;

/* Timeout, in s, of a call whose deadline passed while its joints were requested. The call fails like any other
 * timeout. */
static const double LEAST_TIME = 1e-3;

static const char cancelled_early[] = "cancelled before it began (CANCELLED)";
static const char gateway_stops[] = "the gateway stops (UNAVAILABLE)";

typedef struct call_queue {
    call *first, *last;
} call_queue;

struct call_pool {
    bridge *bridge;
    daemon_link link;
    size_t thread_count;
    pthread_t *threads;
    uv_async_t wake;                 /* calls have ended */
    size_t waiting_bytes, under_way; /* used by the event loop */

    pthread_mutex_t mutex; /* guards the fields below */
    pthread_cond_t changed;
    call_queue urgent, waiting, over;
    size_t started_threads;
    bool stops;
};

static void push(call_queue *to, call *added) {
    added->next = NULL;
    if (to->last) {
        to->last->next = added;
    } else {
        to->first = added;
    }
    to->last = added;
}

static call *pop(call_queue *from) {
    call *popped = from->first;
    if (popped) {
        from->first = popped->next;
    }
    if (!from->first) {
        from->last = NULL;
    }
    return popped;
}

static void call_free(call *freed) {
    json_decref(freed->arguments);
    json_decref(freed->answer);
    buffer_list_free(&freed->messages);
    if (freed->result) {
        protobuf_c_message_free_unpacked(freed->result, NULL);
    }
    if (freed->peer) {
        peer_release(freed->peer);
    }
    free(freed);
}

/* ---- on the threads ---------------------------------------------------------------------------------------------- */

/* Completes the answer of a call that failed. */
static void fail(call *failed, call_outcome outcome, const char *reason) {
    failed->outcome = outcome;
    if (!failed->peer) {
        snprintf(failed->reason, sizeof failed->reason, "%s", reason);
        return;
    }
    json_object_set_new(failed->answer, "values", json_text(reason));
    json_object_set_new(failed->answer, "result", json_false());
    if (failed->is_action) {
        json_object_set_new(failed->answer, "status",
                            json_integer(outcome == CALL_CANCELLED ? GOAL_CANCELED : GOAL_ABORTED));
    }
    encode_message(failed->answer, NULL, &failed->encoding, &failed->messages);
}

/* Returns true if the result is that of steps that a cancellation ended. The steps that were done are no error. */
static bool is_cancelled_result(const ProtobufCMessage *result) {
    return result && result->descriptor == &dynamics__v1__step_simulation_reply__descriptor &&
           ((const Dynamics__V1__StepSimulationReply *)(const void *)result)->ended_by ==
               DYNAMICS__V1__STEPS_END__STEPS_END_CANCELLED;
}

static void succeed(call *done, const ProtobufCMessage *result) {
    done->outcome = CALL_SUCCEEDED;
    json_object_set_new(done->answer, "result", json_true());
    if (done->is_action) {
        json_object_set_new(done->answer, "status",
                            json_integer(is_cancelled_result(result) ? GOAL_CANCELED : GOAL_SUCCEEDED));
    }
    if (!encode_message(done->answer, result, &done->encoding, &done->messages)) {
        buffer_list_free(&done->messages);
        fail(done, CALL_FAILED, "out of memory (RESOURCE_EXHAUSTED)");
    }
}

/* Ends a call with an error of the client library. */
static void fail_client(const daemon_link *link, call *failed, const dyn_client_error *error) {
    char reason[METHOD_ERROR_SIZE + 64];
    if (link->is_aborted) {
        fail(failed, CALL_FAILED, gateway_stops);
        return;
    }
    snprintf(reason, sizeof reason, "%s%s%s (%s)", error->field, error->field[0] != '\0' ? ": " : "", error->message,
             dyn_client_status_name(error->status));
    fail(failed, error->status == DYN_CLIENT_CANCELLED ? CALL_CANCELLED : CALL_FAILED, reason);
}

/* Returns an unpredictable number, or 0 if the system provides none. */
static uint64_t draw_number(void) {
    uint64_t number;
    return getrandom(&number, sizeof number, 0) == sizeof number ? number : 0;
}

/* Sends the request and unpacks the result. Returns NULL if the call failed. */
static ProtobufCMessage *exchange(daemon_link *link, call *made) {
    char error[METHOD_ERROR_SIZE];
    size_t size, reply_size;
    dyn_client_error failure = {0};
    double left = made->deadline - monotonic_time();
    if (made->is_cancelled || left <= 0) {
        fail(made, made->is_cancelled ? CALL_CANCELLED : CALL_FAILED,
             made->is_cancelled ? cancelled_early
                                : "the time for the call was over before it began (DEADLINE_EXCEEDED)");
        return NULL;
    }
    coordinates joints = {0};
    char names_path[JOINT_STATE_PATH_SIZE];
    joint_state_path(method_request(made->method), made->arguments, names_path);
    bool has_joints = !joint_state_needs_joints(method_request(made->method), made->arguments) ||
                      model_joints_request(link, made->arguments, left, &joints, error);
    if (made->wants_feedback) {
        made->progress = draw_number();
    }
    uint8_t *request =
        has_joints ? method_pack(made->method, made->arguments, &joints, made->progress, &size, error) : NULL;
    coordinates_free(&joints);
    if (!request) {
        fail(made, CALL_FAILED, error);
        return NULL;
    }
    void *reply = NULL;
    ProtobufCMessage *result = NULL;
    dyn_client *client = daemon_link_get(link, &failure);
    uint64_t client_number = 0, number = 0;
    if (client) {
        dyn_client_draw_numbers(client, &client_number, &number);
    }
    made->client_number = client_number;
    made->number = number;
    if (made->is_cancelled) {
        fail(made, CALL_CANCELLED, cancelled_early);
    } else if (!client || dyn_client_call_numbered(client, client_number, number, request, size,
                                                   fmax(made->deadline - monotonic_time(), LEAST_TIME), &reply,
                                                   &reply_size, &failure) != DYN_CLIENT_OK) {
        fail_client(link, made, &failure);
    } else {
        result = method_unpack(made->method, reply, reply_size, error);
        if (!result) {
            joint_state_rename(names_path, error);
            fail(made, made->is_cancelled ? CALL_CANCELLED : CALL_FAILED, error);
        }
    }
    daemon_link_put(link, client, &failure);
    dyn_client_free(reply);
    free(request);
    return result;
}

static void make(daemon_link *link, call *made) {
    if (made->task) {
        made->task(link, made->user, made->reason);
        return;
    }
    if (!made->arguments || json_is_null(made->arguments)) {
        json_decref(made->arguments);
        made->arguments = json_object();
    }
    ProtobufCMessage *result = exchange(link, made);
    if (!made->peer) {
        made->result = result;
    } else if (result) {
        succeed(made, result);
        protobuf_c_message_free_unpacked(result, NULL);
    }
}

/* Runs calls. The first thread runs only urgent calls, so that these never wait for long ones. */
static void *work(void *user) {
    call_pool *pool = user;
    pthread_mutex_lock(&pool->mutex);
    bool is_for_urgent = pool->started_threads++ == 0;
    while (!pool->stops) {
        call *next = pop(&pool->urgent);
        if (!next && !is_for_urgent) {
            next = pop(&pool->waiting);
        }
        if (!next) {
            pthread_cond_wait(&pool->changed, &pool->mutex);
            continue;
        }
        pthread_mutex_unlock(&pool->mutex);
        make(&pool->link, next);
        pthread_mutex_lock(&pool->mutex);
        bool is_first = !pool->over.first;
        push(&pool->over, next);
        if (is_first) {
            uv_async_send(&pool->wake);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* ---- on the event loop ------------------------------------------------------------------------------------------- */

/* Sends the answer, or passes the result of the gateway's own request to its callback. */
static void end(bridge *of, call *ended) {
    if (!ended->peer) {
        ended->on_result(of, ended->user, ended->result, ended->reason);
        call_free(ended);
        return;
    }
    metrics *counted = &ended->peer->bridge->metrics;
    counted->counters[COUNTER_CALLS_FAILED] += ended->outcome != CALL_SUCCEEDED;
    if (ended->on_end) {
        ended->on_end(ended);
    }
    peer_send_encoded(ended->peer, &ended->messages);
    call_free(ended);
}

static void on_over(uv_async_t *handle) {
    call_pool *pool = handle->data;
    pthread_mutex_lock(&pool->mutex);
    call_queue over = pool->over;
    pool->over = (call_queue){0};
    pthread_mutex_unlock(&pool->mutex);
    for (call *ended = pop(&over); ended; ended = pop(&over)) {
        pool->under_way--;
        pool->waiting_bytes -= ended->size;
        pool->bridge->metrics.gauges[GAUGE_CALLS_UNDER_WAY]--;
        if (ended->peer) {
            ended->peer->calls--;
        }
        end(pool->bridge, ended);
    }
}

bool call_pool_start(bridge *of) {
    call_pool *pool = calloc(1, sizeof *pool);
    if (!pool) {
        return false;
    }
    pool->bridge = of;
    pool->threads = calloc(of->config->threads + 1, sizeof *pool->threads);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->changed, NULL);
    daemon_link_init(&pool->link, of->config->request, of->config->daemon_token);
    uv_async_init(of->loop, &pool->wake, on_over);
    pool->wake.data = pool;
    while (pool->threads && pool->thread_count <= of->config->threads &&
           pthread_create(&pool->threads[pool->thread_count], NULL, work, pool) == 0) {
        pool->thread_count++;
    }
    of->calls = pool;
    if (pool->thread_count > 1) {
        return true;
    }
    call_pool_stop(of);
    return false;
}

daemon_link *call_pool_link(bridge *of) {
    return &of->calls->link;
}

static void on_closed(uv_handle_t *handle) {
    call_pool *pool = handle->data;
    daemon_link_close(&pool->link);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->threads);
    free(pool);
}

/* Removes the next waiting call. The gateway's own calls come first. */
static call *pop_any(call_pool *from) {
    call *popped = pop(&from->urgent);
    return popped ? popped : pop(&from->waiting);
}

void call_pool_stop(bridge *of) {
    call_pool *stopped = of->calls;
    if (!stopped) {
        return;
    }
    pthread_mutex_lock(&stopped->mutex);
    stopped->stops = true;
    pthread_cond_broadcast(&stopped->changed);
    pthread_mutex_unlock(&stopped->mutex);
    daemon_link_abort(&stopped->link);
    for (size_t i = 0; i < stopped->thread_count; i++) {
        pthread_join(stopped->threads[i], NULL);
    }
    for (call *left = pop_any(stopped); left; left = pop_any(stopped)) {
        fail(left, CALL_FAILED, gateway_stops);
        push(&stopped->over, left);
    }
    of->calls = NULL;
    on_over(&stopped->wake);
    uv_close((uv_handle_t *)&stopped->wake, on_closed);
}

void call_refuse(call *refused, const char *format, ...) {
    char reason[METHOD_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    fail(refused, CALL_FAILED, reason);
    end(refused->peer->bridge, refused);
}

/* Queues a call for the threads. The gateway's own requests are urgent. */
static void submit(call_pool *pool, call *submitted) {
    pool->under_way++;
    pool->waiting_bytes += submitted->size;
    pool->bridge->metrics.gauges[GAUGE_CALLS_UNDER_WAY]++;
    pthread_mutex_lock(&pool->mutex);
    push(!submitted->peer && !submitted->task ? &pool->urgent : &pool->waiting, submitted);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
}

void call_start(bridge *of, call *started) {
    call_pool *pool = of->calls;
    of->metrics.counters[COUNTER_CALLS]++;
    if (started->peer->calls >= of->config->calls) {
        call_refuse(started, "%zu calls of this connection are under way, no more are allowed (RESOURCE_EXHAUSTED)",
                    started->peer->calls);
    } else if (!pool) {
        call_refuse(started, "%s", gateway_stops);
    } else if (pool->under_way >= of->config->queued_calls ||
               (pool->under_way > 0 && pool->waiting_bytes + started->size > of->config->queued_bytes)) {
        call_refuse(started, "too much is under way; ask again soon (RESOURCE_EXHAUSTED)");
    } else {
        started->peer->calls++;
        submit(pool, started);
    }
}

void call_send(bridge *of, const char *service, json_t *arguments, double timeout, question_end on_result, void *user) {
    call *requested = of->calls ? calloc(1, sizeof *requested) : NULL;
    if (!requested) {
        json_decref(arguments);
        on_result(of, user, NULL, of->calls ? "out of memory (RESOURCE_EXHAUSTED)" : gateway_stops);
        return;
    }
    requested->method = method_find(service);
    requested->arguments = arguments;
    requested->deadline = monotonic_time() + timeout;
    requested->on_result = on_result;
    requested->user = user;
    submit(of->calls, requested);
}

void call_work(bridge *of, call_task task, question_end on_end, void *user) {
    call *made = of->calls ? calloc(1, sizeof *made) : NULL;
    if (!made) {
        on_end(of, user, NULL, of->calls ? "out of memory (RESOURCE_EXHAUSTED)" : gateway_stops);
        return;
    }
    made->task = task;
    made->on_result = on_end;
    made->user = user;
    submit(of->calls, made);
}

static void on_cancelled(bridge *of, void *user, const ProtobufCMessage *result, const char *reason) {
    (void)of, (void)user, (void)result, (void)reason;
}

void call_cancel(bridge *of, call *cancelled) {
    char client_number[24];
    double now = monotonic_time();
    cancelled->is_cancelled = true;
    if (cancelled->number == 0 || now < cancelled->next_cancel) {
        return;
    }
    cancelled->cancel_pause = cancelled->cancel_pause > 0 ? 2 * cancelled->cancel_pause : CANCEL_PAUSE;
    cancelled->next_cancel = now + cancelled->cancel_pause;
    snprintf(client_number, sizeof client_number, "%llu", (unsigned long long)cancelled->client_number);
    call_send(of, "/dynamics/cancel",
              json_pack("{ss sI}", "client", client_number, "id", (json_int_t)cancelled->number), CANCEL_TIME,
              on_cancelled, NULL);
}
