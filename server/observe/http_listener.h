/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small HTTP server for pages that monitoring programs read (GET and HEAD, RFC 9112). Each connection has one request
 * and is closed after its answer.
 *
 * A client cannot hold up others: at most 16 connections are open, each for at most five seconds; one more takes the
 * place of the one that has waited longest without a complete request. nng's HTTP server has neither bound, so the
 * loop serves these pages. All functions are for the thread of the loop.
 */
#ifndef SERVER_OBSERVE_HTTP_LISTENER_H
#define SERVER_OBSERVE_HTTP_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <uv.h>

enum { HTTP_ERROR_SIZE = 384 };

typedef struct http_listener http_listener;

/* Writes the page of a path, without a query, to `body`. Returns its status: 200, 404 or 503. */
typedef unsigned (*http_pages)(void *context, const char *path, FILE *body);

/* Checks an address: "tcp://" with an IPv4 address, an IPv6 address in brackets or "localhost", then ":" and a port; 0:
 * the system chooses one. On failure writes a sentence to `error` and returns false. */
bool http_listener_check(const char *address, char error[HTTP_ERROR_SIZE]);

/* Starts to listen. On failure writes a sentence to `error` and returns NULL; the loop must then run until it has
 * closed its handles. */
http_listener *http_listener_create(uv_loop_t *loop, const char *address, http_pages pages, void *context,
                                    char error[HTTP_ERROR_SIZE]);

/* Returns the address for clients, such as "http://127.0.0.1:7403". */
const char *http_listener_address(const http_listener *l);

/* Stops listening and closes all connections; the loop must run on until they are closed. NULL is ignored. */
void http_listener_stop(http_listener *l);

/* Frees a listener that was stopped, after the loop has closed its handles. NULL is ignored. */
void http_listener_free(http_listener *l);

#endif
