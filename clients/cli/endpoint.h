/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address of the daemon.
 */
#ifndef CLI_ENDPOINT_H
#define CLI_ENDPOINT_H

#include "arguments.h"

enum { ENDPOINT_SIZE = 512 };

/* Finds the daemon's address. It is the first of: --endpoint; DYNAMICSD_ENDPOINT of the environment (unless --config is
 * present); the first address of `request` in the section [endpoints] of --config, or of /etc/dynamicsd/dynamicsd.conf;
 * ipc:///run/dynamicsd/dynamicsd.sock. */
exit_code find_endpoint(const arguments *args, char endpoint[ENDPOINT_SIZE]);

#endif
