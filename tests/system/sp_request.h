/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends requests of dynamics.v1 over connections of sp_wire.h, without a client library, and checks the replies.
 */
#ifndef DYNAMICS_TESTS_SP_REQUEST_H
#define DYNAMICS_TESTS_SP_REQUEST_H

#include "dynamics/v1/envelope.pb-c.h"
#include "system/sp_wire.h"

/* Time in which every request must be answered, in seconds. */
#define SP_PATIENCE 20.0

/* Time that sp_call_bytes waits for a reply, in seconds: SP_PATIENCE, unless a test sets another one. */
extern double sp_call_patience;

/* Sends bytes as the body of a request and returns the reply, which must arrive within sp_call_patience; sp_free_reply
 * frees it. */
Dynamics__V1__Reply *sp_call_bytes(const sp_peer *peer, const void *bytes, size_t size);

/* Sends a request and returns the reply; sp_free_reply frees it. */
Dynamics__V1__Reply *sp_call(const sp_peer *peer, const Dynamics__V1__Request *request);

void sp_free_reply(Dynamics__V1__Reply *reply);

/* Returns a serialized request; the caller frees it. */
uint8_t *sp_pack(const Dynamics__V1__Request *request, size_t *size);

/* Checks that the reply is an error with that code, that field and these words in its message, and has no result. Frees
 * it. */
void sp_expect_error(Dynamics__V1__Reply *reply, Dynamics__V1__Code code, const char *field, const char *words);

/* Checks that the reply is a success; does not free it. */
void sp_expect_ok(const Dynamics__V1__Reply *reply);

/* Requests torques of the two-link arm at one random state and compares them with equations 8.9 to 8.10 of Modern
 * Robotics, which shows that the daemon works. */
void sp_expect_right_answer(const sp_peer *peer);

/* Computes tau of the two-link arm with unit masses and lengths at (q, v, a), by equations 8.9 to 8.10 of Modern
 * Robotics. */
void sp_two_link_torques(const double q[2], const double v[2], const double a[2], double tau[2]);

#endif
