/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the address of the daemon, and the token of the caller.
 */
#ifndef CLI_ENDPOINT_H
#define CLI_ENDPOINT_H

#include "arguments.h"

enum { ENDPOINT_SIZE = 2048, TOKEN_SIZE = 256 };

/* Finds the daemon's address, the first of: --endpoint; the environment variable DYNAMICSD_ENDPOINT (unless --config is
 * present); the first address of `request` in the section [endpoints] of --config, or of /etc/dynamicsd/dynamicsd.conf;
 * ipc:///run/dynamicsd/dynamicsd.sock. Reports errors. */
exit_code find_endpoint(const arguments *args, char endpoint[ENDPOINT_SIZE]);

/* Reads the caller's token: the first line of the file of --token-file, or of that in the environment variable
 * DYNAMICSD_TOKEN_FILE. `token` is empty if there is neither. Reports errors. */
exit_code find_token(const arguments *args, char token[TOKEN_SIZE]);

#endif
