/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks a configuration beyond its text: addresses that other machines reach, directories and files of robots.
 */
#ifndef SERVER_CONFIG_CHECK_H
#define SERVER_CONFIG_CHECK_H

#include "config.h"

/* Checks that no endpoint can be reached by other machines without encryption, unless the configuration allows that.
 * Returns false with an error that names the first such address. */
bool config_check_plaintext(const config *c, char error[CONFIG_ERROR_SIZE]);

/* Checks that there are certificates if an endpoint uses TLS, and reads them. Returns false with an error that names
 * the endpoint or the file. */
bool config_check_tls(const config *c, char error[CONFIG_ERROR_SIZE]);

/* Logs a warning for each list of endpoints that other machines can reach. Returns whether there is none. */
bool config_check_access(const config *c, logger *log);

/* Checks addresses, directories and files, and loads the configured robots as a start does. Writes warnings and errors
 * to standard error. Returns whether there are none. */
bool config_check(const config *c);

#endif
