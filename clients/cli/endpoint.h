/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address of the daemon.
 */
#ifndef CLI_ENDPOINT_H
#define CLI_ENDPOINT_H

#include "arguments.h"

enum { ENDPOINT_SIZE = 512 };

/* The daemon's address, from the first of: --endpoint; the environment's DYNAMICSD_ENDPOINT (unless --config is given);
 * the first address of `request` in the section [endpoints] of --config, or of /etc/dynamicsd/dynamicsd.conf;
 * ipc:///run/dynamicsd/dynamicsd.sock. */
exit_code find_endpoint(const arguments *given, char endpoint[ENDPOINT_SIZE]);

#endif
