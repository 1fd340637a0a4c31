/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends requests of dynamics.v1 over connections of sp_wire.h and checks the replies. */
#include "system/sp_request.h"

#include <check.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const double GRAVITY = 9.81;

double sp_call_patience = SP_PATIENCE;

Dynamics__V1__Reply *sp_call_bytes(const sp_peer *peer, const void *bytes, size_t size) {
    static atomic_uint next_number = 1;
    uint32_t number = atomic_fetch_add(&next_number, 1), answered = 0;
    uint8_t *body;
    size_t body_size;
    ck_assert_msg(sp_send_request(peer, number, bytes, size), "the daemon closed the connection");
    sp_result result = sp_receive_reply(peer, sp_call_patience, &answered, &body, &body_size);
    ck_assert_msg(result != SP_CLOSED, "the daemon closed the connection instead of answering %zu bytes", size);
    ck_assert_msg(result == SP_MESSAGE, "%zu bytes were not answered", size);
    ck_assert_uint_eq(answered, number);
    Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, body_size, body);
    free(body);
    ck_assert_msg(reply && reply->status != NULL, "the answer is no Reply with a status");
    return reply;
}

uint8_t *sp_pack(const Dynamics__V1__Request *request, size_t *size) {
    *size = dynamics__v1__request__get_packed_size(request);
    uint8_t *bytes = malloc(*size + 1);
    ck_assert_ptr_nonnull(bytes);
    dynamics__v1__request__pack(request, bytes);
    return bytes;
}

Dynamics__V1__Reply *sp_call(const sp_peer *peer, const Dynamics__V1__Request *request) {
    size_t size;
    uint8_t *bytes = sp_pack(request, &size);
    Dynamics__V1__Reply *reply = sp_call_bytes(peer, bytes, size);
    free(bytes);
    ck_assert_uint_eq(reply->id, request->id);
    return reply;
}

void sp_free_reply(Dynamics__V1__Reply *reply) {
    dynamics__v1__reply__free_unpacked(reply, NULL);
}

void sp_expect_error(Dynamics__V1__Reply *reply, Dynamics__V1__Code code, const char *field, const char *words) {
    const Dynamics__V1__Status *status = reply->status;
    ck_assert_msg(status->code == code, "code %d instead of %d; field \"%s\", message \"%s\"", status->code, code,
                  status->field, status->message);
    ck_assert_msg(strcmp(status->field, field) == 0, "field \"%s\" instead of \"%s\"; message \"%s\"", status->field,
                  field, status->message);
    ck_assert_msg(strstr(status->message, words) != NULL, "message \"%s\" lacks \"%s\"", status->message, words);
    ck_assert_msg(status->reason[0] != '\0', "there is no reason beside the message \"%s\"", status->message);
    ck_assert_int_eq(reply->result_case, DYNAMICS__V1__REPLY__RESULT__NOT_SET);
    sp_free_reply(reply);
}

void sp_expect_ok(const Dynamics__V1__Reply *reply) {
    ck_assert_msg(reply->status->code == DYNAMICS__V1__CODE__CODE_OK, "code %d, field \"%s\", message \"%s\"",
                  reply->status->code, reply->status->field, reply->status->message);
}

void sp_two_link_torques(const double q[2], const double v[2], const double a[2], double tau[2]) {
    double c2 = cos(q[1]), s2 = sin(q[1]);
    tau[0] = (3 + 2 * c2) * a[0] + (1 + c2) * a[1] - s2 * (2 * v[0] * v[1] + v[1] * v[1]) +
             GRAVITY * (2 * cos(q[0]) + cos(q[0] + q[1]));
    tau[1] = (1 + c2) * a[0] + a[1] + s2 * v[0] * v[0] + GRAVITY * cos(q[0] + q[1]);
}

void sp_expect_right_answer(const sp_peer *peer) {
    char model[] = "two_link";
    double q[2] = {0.3, -1.1}, v[2] = {0.7, 0.4}, a[2] = {-0.2, 1.3}, tau[2];
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__InverseDynamicsRequest method = DYNAMICS__V1__INVERSE_DYNAMICS_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = model;
    method.query = &query;
    method.n_q = method.n_v = method.n_a = 2;
    method.q = q;
    method.v = v;
    method.a = a;
    request.id = 77;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_INVERSE_DYNAMICS;
    request.inverse_dynamics = &method;
    Dynamics__V1__Reply *reply = sp_call(peer, &request);
    sp_expect_ok(reply);
    ck_assert_int_eq(reply->result_case, DYNAMICS__V1__REPLY__RESULT_INVERSE_DYNAMICS);
    ck_assert_uint_eq(reply->inverse_dynamics->n_tau, 2);
    sp_two_link_torques(q, v, a, tau);
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq_tol(reply->inverse_dynamics->tau[i], tau[i], 1e-12);
    }
    sp_free_reply(reply);
}
