/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the address of the daemon.
 */
#ifndef CLI_ENDPOINT_H
#define CLI_ENDPOINT_H

#include "arguments.h"

enum { ENDPOINT_SIZE = 512 };

/* Finds the daemon's address, the first of: --endpoint; the environment variable DYNAMICSD_ENDPOINT (unless --config is
 * present); the first address of `request` in the section [endpoints] of --config, or of /etc/dynamicsd/dynamicsd.conf;
 * ipc:///run/dynamicsd/dynamicsd.sock. Reports errors. */
exit_code find_endpoint(const arguments *args, char endpoint[ENDPOINT_SIZE]);

#endif
