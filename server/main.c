/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the command line of dynamicsd, the server of rigid-body dynamics, and runs or checks it. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config_check.h"
#include "config_file.h"
#include "daemon.h"

enum { EXIT_USAGE = 2 };

static const char help[] =
    "Usage: dynamicsd [OPTION]...\n"
    "\n"
    "Computes rigid-body dynamics of robots for its clients: joint torques, mass matrices, accelerations, Jacobians.\n"
    "\n"
    "  --config FILE      read this configuration; without it " CONFIG_DEFAULT_PATH ", if there is one\n"
    "  --endpoint URL     address for requests, in place of those of the configuration; may be repeated:\n"
    "                     ipc:///absolute/path or tcp://address:port\n"
    "  --events URL       address for events; may be repeated (default with --endpoint ipc://PATH: PATH.events)\n"
    "  --ingest URL       address for points of streams; may be repeated (default with --endpoint ipc://PATH:\n"
    "                     PATH.ingest)\n"
    "  --state DIR        directory for recordings and for simulations that survive a restart (default with "
    "--endpoint:\n"
    "                     none)\n"
    "  --models DIR       directory whose *.urdf files are loaded\n"
    "  --log-level LEVEL  error, warning, info or debug\n"
    "  --log-format FORM  auto, plain, journal or json\n"
    "  --check-config     check the configuration, load its robots and exit\n"
    "  --version          print the version and exit\n"
    "  --help             print this text and exit\n"
    "\n"
    "Signals: SIGTERM and SIGINT finish running requests and stop; SIGHUP reloads configuration and models.\n"
    "Exit status: 0 after a clean stop, 1 after a failure, 2 for a wrong command line or configuration.\n"
    "\n"
    "Example, without privileges:\n"
    "  dynamicsd --endpoint ipc:///tmp/dynamicsd.sock --models ./robots\n"
    "  dynamicsctl --endpoint ipc:///tmp/dynamicsd.sock id ur5\n";

enum option_number {
    OPTION_CONFIG = 1,
    OPTION_ENDPOINT,
    OPTION_EVENTS,
    OPTION_INGEST,
    OPTION_STATE,
    OPTION_MODELS,
    OPTION_LEVEL,
    OPTION_FORMAT,
    OPTION_CHECK,
    OPTION_VERSION,
    OPTION_HELP,
};

static const struct option options[] = {
    {"config", required_argument, NULL, OPTION_CONFIG},
    {"endpoint", required_argument, NULL, OPTION_ENDPOINT},
    {"events", required_argument, NULL, OPTION_EVENTS},
    {"ingest", required_argument, NULL, OPTION_INGEST},
    {"state", required_argument, NULL, OPTION_STATE},
    {"models", required_argument, NULL, OPTION_MODELS},
    {"log-level", required_argument, NULL, OPTION_LEVEL},
    {"log-format", required_argument, NULL, OPTION_FORMAT},
    {"check-config", no_argument, NULL, OPTION_CHECK},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

/* Parsed command line: the arguments of the daemon, the paths to which they point, and the actions other than
 * running. */
typedef struct command {
    daemon_arguments arguments;
    char directory[PATH_MAX], state_directory[PATH_MAX];
    bool only_checks, is_done, has_config;
} command;

static int fail(const char *message) {
    fprintf(stderr, "dynamicsd: %s\nTry dynamicsd --help.\n", message);
    return EXIT_USAGE;
}

/* Makes a path absolute, so that a later reload finds the same directory. Returns false, with an error, if there is no
 * such path. */
static bool resolve_directory(const char *option, const char *path, char absolute[PATH_MAX], const char **resolved,
                              char error[CONFIG_ERROR_SIZE]) {
    if (!realpath(path, absolute)) {
        snprintf(error, CONFIG_ERROR_SIZE, "%s: there is no directory %s", option, path);
        return false;
    }
    *resolved = absolute;
    return true;
}

/* Applies one option to the command. Returns false, with an error, if the option or its value is not valid. */
static bool apply_option(command *c, int option, const char *value, char error[CONFIG_ERROR_SIZE]) {
    daemon_arguments *a = &c->arguments;
    switch (option) {
    case OPTION_CONFIG:
        a->config_path = value;
        c->has_config = true;
        return true;
    case OPTION_ENDPOINT:
        return config_add_address(&a->request, "--endpoint", value, error);
    case OPTION_EVENTS:
        a->has_events = true;
        return config_add_address(&a->events, "--events", value, error);
    case OPTION_MODELS:
        return resolve_directory("--models", value, c->directory, &a->directory, error);
    case OPTION_INGEST:
        a->has_ingest = true;
        return config_add_address(&a->ingest, "--ingest", value, error);
    case OPTION_STATE:
        return resolve_directory("--state", value, c->state_directory, &a->state_directory, error);
    case OPTION_LEVEL:
        a->has_level = true;
        return config_parse_level(value, &a->level, error);
    case OPTION_FORMAT:
        a->has_format = true;
        return config_parse_format(value, &a->format, error);
    case OPTION_CHECK:
        c->only_checks = true;
        return true;
    case OPTION_VERSION:
        printf("dynamicsd %s\n", DYNAMICSD_VERSION);
        c->is_done = true;
        return true;
    case OPTION_HELP:
        fputs(help, stdout);
        c->is_done = true;
        return true;
    default:
        snprintf(error, CONFIG_ERROR_SIZE, "the command line is wrong");
        return false;
    }
}

/* Derives the endpoints for events and the state directory of a daemon that has --endpoint but no --config. Without
 * --events, events are published at PATH.events of each ipc endpoint; without --state, no state is stored. So no
 * endpoint or file conflicts with another daemon. */
static bool derive_others(daemon_arguments *a, char error[CONFIG_ERROR_SIZE]) {
    bool had_events = a->has_events;
    a->has_events = true;
    a->state_directory = a->state_directory ? a->state_directory : "";
    for (size_t i = 0; !had_events && i < a->request.count; i++) {
        char address[2 * TRANSPORT_ADDRESS_SIZE];
        snprintf(address, sizeof address, "%s.events", a->request.address[i]);
        if (strncmp(address, "ipc://", 6) == 0 && !config_add_address(&a->events, "--endpoint", address, error)) {
            return false;
        }
    }
    return true;
}

static bool parse(int argc, char **argv, command *c, char error[CONFIG_ERROR_SIZE]) {
    for (;;) {
        int option = getopt_long(argc, argv, "", options, NULL);
        if (option == -1) {
            break;
        }
        if (!apply_option(c, option, optarg, error)) {
            return false;
        }
        if (c->is_done) {
            return true;
        }
    }
    if (optind < argc) {
        snprintf(error, CONFIG_ERROR_SIZE, "unexpected argument \"%.200s\"", argv[optind]);
        return false;
    }
    if (c->arguments.request.count > 0 && !c->has_config && !derive_others(&c->arguments, error)) {
        return false;
    }
    if (!c->has_config && access(CONFIG_DEFAULT_PATH, F_OK) == 0) {
        c->arguments.config_path = CONFIG_DEFAULT_PATH;
    }
    return true;
}

int main(int argc, char **argv) {
    static command c;
    static config configuration;
    char error[CONFIG_ERROR_SIZE];
    if (!parse(argc, argv, &c, error)) {
        return fail(error);
    }
    if (c.is_done) {
        return EXIT_SUCCESS;
    }
    if (!daemon_configure(&c.arguments, &configuration, error)) {
        fprintf(stderr, "dynamicsd: %s\n", error);
        return EXIT_USAGE;
    }
    if (c.only_checks) {
        bool is_clean = config_check(&configuration);
        printf("%s: %s\n", c.arguments.config_path ? c.arguments.config_path : "defaults",
               is_clean ? "the configuration is right" : "the daemon can start, but see the messages above");
        config_free(&configuration);
        return EXIT_SUCCESS;
    }
    return daemon_run(&c.arguments, &configuration);
}
