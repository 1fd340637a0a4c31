/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks a configuration beyond its text: addresses that other machines reach, directories and files of robots.
 */
#ifndef SERVER_CONFIG_CHECK_H
#define SERVER_CONFIG_CHECK_H

#include "config.h"

/* Logs a warning for each list of endpoints that other machines can reach. Returns whether there is none. */
bool config_check_access(const config *c, logger *log);

/* Checks addresses, directories and files, and loads the configured robots as a start does. Writes warnings and errors
 * to standard error. Returns whether there are none. */
bool config_check(const config *c);

#endif
