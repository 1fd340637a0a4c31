/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dialers of nng for the addresses of daemons. Those of TLS state their files:
 *
 *     tls+tcp://HOST:PORT[?NAME=VALUE[&NAME=VALUE]...]
 *
 * The names are ca (file of certificates of authorities; default: those of the system), certificate and key (files of
 * the client's own), and name (name in the daemon's certificate; default: HOST).
 */
#ifndef CLIENTS_NNG_DIALER_H
#define CLIENTS_NNG_DIALER_H

#include <nng/nng.h>
#include <stdbool.h>

enum { NNG_DIALER_REASON = 512 };

/* Returns whether an address is one of TLS. */
bool nng_dialer_is_secure(const char *address);

/* Creates a dialer of `address`, which the caller starts. For an address of TLS, `settings` states the files and the
 * name: it is the same address, or that of another endpoint of the daemon. Returns nng's code; where a file or a
 * setting is at fault, `reason` receives a sentence about it, and else "". */
int nng_dialer_make(nng_socket socket, const char *address, const char *settings, nng_dialer *dialer,
                    char reason[NNG_DIALER_REASON]);

#endif
