/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reply of Formulate: joint forces, and blocks of inner quantities.
 */
#ifndef SERVER_METHODS_FORMULATE_REPLY_H
#define SERVER_METHODS_FORMULATE_REPLY_H

#include <dynamics/formulation.h>

#include "methods/batch.h"

/* Answers Formulate with `count` blocks, which it copies. The source is a static string. */
void formulate_reply(batch *b, const char *source, double *tau, int count, const dyn_formulation_block *list);

#endif
