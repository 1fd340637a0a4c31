/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists all keys of the configuration with their values in effect.
 */
#ifndef SERVER_CONFIG_SETTINGS_H
#define SERVER_CONFIG_SETTINGS_H

#include "config.h"

/* Replaces the list by all keys with their values in effect. `path` is the file that was read, or NULL. Without memory
 * the list keeps its earlier settings, and the result is false. */
bool config_list_settings(const config *c, const char *path, setting_list *list);

#endif
