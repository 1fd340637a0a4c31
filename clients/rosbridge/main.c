/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses the command line of dynamics-rosbridge, which offers the daemon's methods and events to clients of the
 * rosbridge protocol, and runs the gateway.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "help.h"
#include "life.h"

enum { EXIT_USAGE = 2 };

enum option_number {
    OPTION_CONFIG = 1,
    OPTION_SET,
    OPTION_ENDPOINT,
    OPTION_EVENTS,
    OPTION_PORT,
    OPTION_DIAL,
    OPTION_VERBOSE,
    OPTION_CHECK,
    OPTION_VERSION,
    OPTION_HELP,
};

static const struct option options[] = {
    {"config", required_argument, NULL, OPTION_CONFIG},
    {"set", required_argument, NULL, OPTION_SET},
    {"endpoint", required_argument, NULL, OPTION_ENDPOINT},
    {"events", required_argument, NULL, OPTION_EVENTS},
    {"port", required_argument, NULL, OPTION_PORT},
    {"dial", required_argument, NULL, OPTION_DIAL},
    {"verbose", no_argument, NULL, OPTION_VERBOSE},
    {"check-config", no_argument, NULL, OPTION_CHECK},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

/* Sets a key from text such as "limits.calls=10". Returns false, with an error, for other text. */
static bool set_key(config *c, const char *text, char error[CONFIG_ERROR_SIZE]) {
    char section[CONFIG_WORD], key[CONFIG_WORD];
    int length = 0;
    if (sscanf(text, "%255[^.=].%255[^=]=%n", section, key, &length) == 2 && length > 0) {
        return config_set(c, section, key, text + length, error);
    }
    snprintf(error, CONFIG_ERROR_SIZE, "--set %.200s: pass SECTION.KEY=VALUE", text);
    return false;
}

/* Applies one option that sets a key; other options are ignored. */
static bool apply_option(config *c, int option, const char *value, char error[CONFIG_ERROR_SIZE]) {
    switch (option) {
    case OPTION_SET:
        return set_key(c, value, error);
    case OPTION_ENDPOINT:
        return config_set(c, "daemon", "request", value, error);
    case OPTION_EVENTS:
        return config_set(c, "daemon", "events", value, error);
    case OPTION_PORT:
        return config_set(c, "server", "port", value, error);
    case OPTION_DIAL:
        return config_set(c, "dial", "url", value, error);
    case OPTION_VERBOSE:
        return config_set(c, "log", "verbose", "yes", error);
    default:
        return true;
    }
}

/* Returns the path of the configuration: that of --config, else the default path if it can be read, else NULL. Ends the
 * program for --help, --version and a wrong option. */
static const char *find_config(int argc, char **argv) {
    const char *path = access(CONFIG_DEFAULT_PATH, R_OK) == 0 ? CONFIG_DEFAULT_PATH : NULL;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == OPTION_CONFIG) {
            path = optarg;
        } else if (option == OPTION_HELP) {
            help_write(stdout);
            exit(EXIT_SUCCESS);
        } else if (option == OPTION_VERSION) {
            puts("dynamics-rosbridge " DYNAMICS_VERSION);
            exit(EXIT_SUCCESS);
        } else if (option == '?') {
            fputs("Try dynamics-rosbridge --help.\n", stderr);
            exit(EXIT_USAGE);
        }
    }
    return path;
}

int main(int argc, char **argv) {
    static config c;
    char error[CONFIG_ERROR_SIZE];
    bool only_checks = false;
    config_init(&c);
    const char *path = find_config(argc, argv);
    bool is_right = !path || config_read(path, &c, error);
    optind = 1;
    for (int option; is_right && (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        only_checks |= option == OPTION_CHECK;
        is_right = apply_option(&c, option, optarg, error);
    }
    if (is_right && optind < argc) {
        snprintf(error, sizeof error, "unexpected argument \"%.200s\"; see --help", argv[optind]);
        is_right = false;
    }
    if (!is_right || !config_complete(&c, error)) {
        bridge_report("%s", error);
        return EXIT_USAGE;
    }
    if (only_checks) {
        printf("%s: the configuration is right\n", path ? path : "defaults");
        return EXIT_SUCCESS;
    }
    signal(SIGPIPE, SIG_IGN);
    if (bridge_run(&c, error)) {
        return EXIT_SUCCESS;
    }
    bridge_report("%s", error);
    return EXIT_FAILURE;
}
