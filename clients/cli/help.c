/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the help of the program and of its commands, in lines of HELP_COLUMNS.
 */
#include "help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"

static const char STATES_HELP[] =
    "States come from --q (and --v, --a, --tau), from --states FILE, or by name from --state;\n"
    "the default is the home configuration: zero, or mid-range where zero is outside the limits.\n"
    "FILE holds one JSON object a line, {\"q\": [..], \"v\": [..], ..}, or CSV whose heading names its columns:\n"
    "q.JOINT (q.JOINT[2] for a joint with several coordinates) or q0, q1, ..; likewise v, a, tau. v, a and tau may be\n"
    "absent (zeros). The command ignores arrays that it does not need.\n";

/* Help text of commands that return one result for each state. The details of such a command begin with the JSON of a
 * result. */
static const char RESULTS_HELP[] = "Results come in the order of the states. Each line of CSV begins with the number "
                                   "of its state, from 1. With --json "
                                   "each is an object on a line of its own:\n";

static const char FORCES_HELP[] =
    "A JSON state may carry \"external_forces\": [{\"link\": NAME, \"reference_frame\": \"local\",\n"
    "\"force\": [x, y, z], \"torque\": [x, y, z]}];\n--force holds for all states. Forces are those that the "
    "environment applies to the link.\n";

static const char ADDRESS_HELP[] =
    "The daemon's address is the first of: --endpoint; the configuration --config; the environment variable\n"
    "DYNAMICSD_ENDPOINT; /etc/dynamicsd/dynamicsd.conf; ipc:///run/dynamicsd/dynamicsd.sock. With TLS it is\n"
    "tls+tcp://host:port?ca=FILE&certificate=FILE&key=FILE; ca is needed unless the system knows the authority.\n"
    "The daemon knows its caller by the user of the connection, or by the token of --token-file or\n"
    "DYNAMICSD_TOKEN_FILE; info prints the caller and its role.\n";

static const char EXIT_CODES[] = "Exit codes: 0 done; 1 refused by the daemon; 2 wrong arguments or input file; 3 no\n"
                                 "connection to the daemon; 4 no answer in time; 5 other errors.\n";

/* Column at which the summaries begin in the list of commands. */
enum { SUMMARY_COLUMN = 35 };

static void print_summary(const command *known) {
    int width = printf("  %s %s", known->name, known->operands);
    if (width > SUMMARY_COLUMN - 2) {
        width = printf("\n") - 1;
    }
    printf("%*s", SUMMARY_COLUMN - width, "");
    page_print(known->summary, SUMMARY_COLUMN, SUMMARY_COLUMN, HELP_COLUMNS);
}

void print_program_help(size_t count, const command *commands) {
    static const char *const titles[GROUPS] = {
        [GROUP_NONE] = "Others",       [GROUP_DAEMON] = "Daemon",   [GROUP_MODELS] = "Models",
        [GROUP_DYNAMICS] = "Dynamics", [GROUP_MOTIONS] = "Motions", [GROUP_SIMULATIONS] = "Simulations"};
    printf("dynamicsctl: command line of dynamicsd, the rigid-body dynamics service\n\nUsage: dynamicsctl COMMAND "
           "[ARGUMENTS] [OPTIONS]\n");
    for (int group = 0; group < GROUPS; group++) {
        const char *title = titles[group];
        for (size_t i = 0; i < count; i++) {
            if ((int)commands[i].group == group) {
                printf("%s%s%s", title ? "\n" : "", title ? title : "", title ? "\n" : "");
                print_summary(&commands[i]);
                title = NULL;
            }
        }
    }
    printf("\nOptions of every command\n");
    print_options(COMMON_OPTIONS, NULL);
    fputc('\n', stdout);
    page_print_paragraphs(ADDRESS_HELP, HELP_COLUMNS);
    fputc('\n', stdout);
    page_print_paragraphs(EXIT_CODES, HELP_COLUMNS);
    printf("\nFirst steps\n  dynamicsctl ping\n  dynamicsctl models\n  dynamicsctl id ur5\n"
           "  dynamicsctl help COMMAND     options and an example of each command\n");
}

/* Prints the names of all quantities. */
static void print_quantity_names(void) {
    int column = 0;
    fputs("The quantities are", stdout);
    for (int i = 1; i < DYN_CLIENT_QUANTITY_NUMBERS; i++) {
        const char *name = dyn_client_quantity_name((dyn_client_quantity)i);
        if (name && (column == 0 || column + 2 + (int)strlen(name) > HELP_COLUMNS - 1)) {
            column = printf("%s\n  %s", column == 0 ? "" : ",", name);
        } else if (name) {
            column += printf(", %s", name);
        }
    }
    fputs("\n", stdout);
}

/* Prints command lines. A line that is too long is broken with a backslash. */
static void print_example(const char *lines) {
    size_t indent = 2, next;
    while (*lines != '\0') {
        size_t whole = strcspn(lines, "\n"), room = HELP_COLUMNS - indent;
        size_t length = whole <= room ? whole : page_line(lines, room - 2, &next);
        printf("%*s%.*s%s\n", (int)indent, "", (int)length, lines, length < whole ? " \\" : "");
        lines += length;
        indent = length < whole ? 6 : 2;
        lines += strspn(lines, " \n");
    }
}

/* Prints the first line of the details, which is the JSON of a result. Returns its number of bytes. */
static size_t print_result(const char *details) {
    size_t length = strcspn(details, "\n");
    char *line = strndup(details, length);
    printf("  ");
    page_print(line ? line : "", 2, 4, HELP_COLUMNS);
    free(line);
    return length + (details[length] == '\n');
}

void print_command_help(const command *known) {
    const char *details = known->details;
    bool has_states = (known->options & WITH(OPTION_STATES)) != 0;
    printf("dynamicsctl %s: ", known->name);
    page_print(known->summary, strlen("dynamicsctl : ") + strlen(known->name), 2, HELP_COLUMNS);
    printf("\nUsage: dynamicsctl %s %s%s[OPTIONS]\n\n", known->name, known->operands,
           known->operands[0] != '\0' ? " " : "");
    if (has_states) {
        page_print_paragraphs(STATES_HELP, HELP_COLUMNS);
    }
    if (has_states && (known->options & WITH(OPTION_PLOT)) == 0) {
        page_print_paragraphs(RESULTS_HELP, HELP_COLUMNS);
        details += print_result(details);
    }
    page_print_paragraphs(details, HELP_COLUMNS);
    if ((known->options & WITH(OPTION_QUANTITY)) != 0) {
        print_quantity_names();
    }
    if ((known->options & WITH(OPTION_FORCE)) != 0 && has_states && (known->options & WITH(OPTION_PLOT)) == 0) {
        page_print_paragraphs(FORCES_HELP, HELP_COLUMNS);
    }
    if (known->details[0] != '\0' || has_states) {
        fputc('\n', stdout);
    }
    if (known->options != 0) {
        printf("Options\n");
        print_options(known->options, known->words);
        printf("\n");
    }
    printf("Options of every command\n");
    print_options(COMMON_OPTIONS, NULL);
    printf("\nExample\n");
    print_example(known->example);
    printf("\n");
    page_print_paragraphs(EXIT_CODES, HELP_COLUMNS);
}
