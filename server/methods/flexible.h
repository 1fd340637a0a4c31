/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formulate for chains whose links bend: book_flexible with the modes of beams.
 */
#ifndef SERVER_METHODS_FLEXIBLE_H
#define SERVER_METHODS_FLEXIBLE_H

#include "methods/batch.h"

/* Returns whether the request has no flexible links. False also where modes are stated without links; then the call has
 * ended with an error. */
bool flexible_links_are_absent(batch *b, const Dynamics__V1__FormulateRequest *r);

/* Computes and answers a request with flexible links, whose batch is open. */
void flexible_formulate(batch *b, const Dynamics__V1__FormulateRequest *r);

#endif
