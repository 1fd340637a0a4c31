/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TLS of endpoints "tls+tcp://host:port": certificates from files, and the certificate of a client.
 *
 * nng encrypts with mbedTLS. nng 1.5.2 speaks TLS 1.2, and tells of a client's certificate only whether it is valid.
 * nng calls mbedTLS through the dynamic linker, as it does the C library (nng_transit.c), so that the daemon's own
 * definitions see the session of a connection, from which mbedTLS tells the certificate. The same definitions report
 * the messages of such a connection to transit.h, where readv and sendmsg only see encrypted bytes.
 */
#ifndef SERVER_TRANSPORT_TLS_H
#define SERVER_TRANSPORT_TLS_H

#include <nng/nng.h>
#include <nng/supplemental/tls/tls.h>

#include "transport/transport.h"

/* Returns whether an address is one of TLS. */
bool tls_is_address(const char *address);

/* Reads the files, and checks that the key belongs to the certificate and that the certificate is in force. On failure
 * writes a sentence to `error` and returns NULL. The caller frees the result with tls_free. */
nng_tls_config *tls_load(const transport_tls *from, char error[TRANSPORT_ERROR_SIZE]);

/* Drops the caller's reference. Connections keep their own. NULL is ignored, unlike in nng 1.5.2. */
void tls_free(nng_tls_config *config);

/* Returns the session of a connection, which lives as long as the connection. Returns NULL for one without TLS. */
const void *tls_session(nng_pipe pipe);

/* Writes the name of the client that a verified certificate states: its common name, or "#" and the first digits of its
 * SHA-256 where that is no name of letters, digits, "_", "-" and ".". Writes "" if the client has sent none. */
void tls_client_name(const void *session, char name[ACCESS_TOKEN_NAME + 1]);

#endif
