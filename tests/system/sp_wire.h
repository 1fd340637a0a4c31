/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Speaks the wire protocol of nng over plain sockets, so that tests can send bytes that no client library sends.
 *
 * Both sides send a greeting of 00 'S' 'P' 00, a protocol of 16 bits and two zero bytes. Then each message is a
 * big-endian length of 64 bits (over ipc after a byte 1) and that many bytes; those of REQ and REP start with a request
 * number of 32 bits whose highest bit is set.
 */
#ifndef DYNAMICS_TESTS_SP_WIRE_H
#define DYNAMICS_TESTS_SP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SP_REQ = 0x30, SP_SUB = 0x21, SP_GREETING_SIZE = 8, SP_MAX_HEAD = 13 };

typedef struct sp_peer {
    int descriptor;
    bool is_ipc;
} sp_peer;

/* Connects to "ipc:///path" or "tcp://127.0.0.1:port" and sends nothing. Fails the test where that is refused. */
sp_peer sp_connect(const char *url);

/* Connects like sp_connect, but returns -1 as descriptor, with errno, where the connection is refused. */
sp_peer sp_try_connect(const char *url);

/* Connects over tcp from a local address, such as "127.0.0.2". Fails the test where that is refused. */
sp_peer sp_connect_from(const char *url, const char *from);

/* Sends a greeting and waits for the other side's; returns false, with the connection closed, where that does not
 * arrive in time. */
bool sp_greet(sp_peer *peer, uint16_t protocol, double seconds);

/* Connects, sends the greeting of a protocol, and waits for the other side's greeting. Fails the test where that does
 * not arrive. */
sp_peer sp_open(const char *url, uint16_t protocol);

/* Connects and greets with a protocol; returns false, with the connection closed, where the other side does not greet
 * within `seconds`. */
bool sp_try_open(const char *url, uint16_t protocol, double seconds, sp_peer *peer);

void sp_close(sp_peer *peer);

/* Writes the greeting of a protocol. */
void sp_greeting(uint16_t protocol, uint8_t greeting[SP_GREETING_SIZE]);

/* Writes the bytes before the body of a message of `size` bytes; returns their length. */
size_t sp_head(const sp_peer *peer, uint64_t size, uint8_t head[SP_MAX_HEAD]);

/* Sends bytes unchanged; returns false when the other side has closed the connection. */
bool sp_send_bytes(const sp_peer *peer, const void *bytes, size_t size);

/* Sends a request of the REQ protocol; returns false when the other side has closed the connection. */
bool sp_send_request(const sp_peer *peer, uint32_t number, const void *body, size_t size);

typedef enum sp_result { SP_MESSAGE, SP_CLOSED, SP_TIMEOUT } sp_result;

/* Waits up to `seconds` for a reply of the REP protocol. The caller frees *body, which is NULL where there is no
 * message. */
sp_result sp_receive_reply(const sp_peer *peer, double seconds, uint32_t *number, uint8_t **body, size_t *size);

/* Waits up to `seconds` for a message of any protocol; `body` receives the bytes after its head. The caller frees
 * *body, which is NULL where there is no message. */
sp_result sp_receive(const sp_peer *peer, double seconds, uint8_t **body, size_t *size);

/* Returns whether the other side closes the connection within `seconds`; drops the bytes that it sends meanwhile. */
bool sp_is_closed_within(const sp_peer *peer, double seconds);

/* Returns CLOCK_MONOTONIC in seconds. */
double sp_now(void);
void sp_pause(double seconds);

#endif
