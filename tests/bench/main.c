/* SPDX-License-Identifier: BSD-2-Clause */
/* Program dynamics-bench: measures what dynamicsd and its library cost, beside other libraries and a bare echo. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "echo_server.h"
#include "nats_echo.h"
#include "sections.h"

enum { EXIT_USAGE = 2 };

static const char help[] =
    "Usage: dynamics-bench [OPTION]...\n"
    "\n"
    "Measures the library beside Orocos KDL, MuJoCo, DART and Simbody, and a daemon that it starts itself beside a "
    "bare nng echo.\n"
    "What stands beside each other is measured in turns in one run; compare the ratios. Use an idle machine.\n"
    "\n"
    "What to measure; without any of these all but the last:\n"
    "  --kernels       nanoseconds per state of each algorithm, on sample robots and chains of 6 to 1000 bodies\n"
    "  --compiled      the same of algorithms compiled for one robot; needs a C compiler\n"
    "  --peak          the share of the core's peak that the kernels reach, by counted operations\n"
    "  --operations    multiplications and additions of one state, beside published formulas\n"
    "  --rollouts      steps forward in time per second and core, beside MuJoCo without contacts; needs a C compiler\n"
    "  --contacts      the same of a quadruped that stands on a plane, beside MuJoCo with the same contacts\n"
    "  --constraints   methods of forward dynamics with constraints, and 6-D contacts beside MuJoCo and Simbody\n"
    "  --rotors        the cost of a rotor beside that of a link\n"
    "  --tasks         dynamics of a task in operational space, and the search for base parameters\n"
    "  --round-trip    percentiles of one InverseDynamics over ipc, tcp and fast channels\n"
    "  --throughput    states per second through the daemon, by states per request\n"
    "  --fleet         one InverseDynamics over NATS, and batches by the number of daemons; needs nats-server\n"
    "  --rosbridge     percentiles of one InverseDynamics through the gateway, and many clients at once\n"
    "  --python        calls through the Python client, one state and batches\n"
    "  --live          pace of simulations in the daemon, and latency and rate of streamed points\n"
    "  --fairness      latency of a caller at 1 kHz beside batches and simulations of others\n"
    "  --memory        resident memory of the daemon\n"
    "  --instructions  instructions per state, counted by callgrind; needs valgrind\n"
    "\n"
    "How:\n"
    "  --robot NAME    kernels and instructions of one robot alone: \"arm 6\", \"arm 7\", \"quadruped 18\",\n"
    "                  \"humanoid 38\", \"chain of 6\" ... \"chain of 1000\"\n"
    "  --algorithm NAME  kernels and instructions of one algorithm alone, by its name in the tables\n"
    "  --quick         a few seconds: shows that all works, measures badly\n"
    "  --json FILE     write the figures to a file as well\n"
    "  --daemon FILE   the daemon's program; otherwise dynamicsd beside this program\n"
    "  --help          print this, and end\n"
    "\n"
    "Exit status: 0 after a run, 1 after a failure, 2 for a wrong command line.\n"
    "\n"
    "Example:\n"
    "  dynamics-bench --round-trip --json round_trip.json\n";

typedef void section(const bench_options *options, report *r);

enum {
    KERNELS,
    COMPILED,
    PEAK,
    OPERATIONS,
    ROLLOUTS,
    CONTACTS,
    CONSTRAINTS,
    ROTORS,
    TASKS,
    ROUND_TRIP,
    THROUGHPUT,
    FLEET,
    ROSBRIDGE,
    PYTHON,
    LIVE,
    FAIRNESS,
    MEMORY,
    INSTRUCTIONS,
    SECTIONS
};

static section *const sections[SECTIONS] = {
    bench_kernels,     bench_compiled, bench_peak,  bench_operations, bench_rollouts,   bench_contacts,
    bench_constraints, bench_rotors,   bench_tasks, bench_round_trip, bench_throughput, bench_fleet,
    bench_rosbridge,   bench_python,   bench_live,  bench_fairness,   bench_memory,     bench_instructions};

/* Options after those of the sections. */
enum { OPTION_QUICK = SECTIONS, OPTION_ROBOT, OPTION_ALGORITHM, OPTION_JSON, OPTION_DAEMON, OPTION_HELP };

static const struct option long_options[] = {
    {"kernels", no_argument, NULL, KERNELS},
    {"peak", no_argument, NULL, PEAK},
    {"compiled", no_argument, NULL, COMPILED},
    {"operations", no_argument, NULL, OPERATIONS},
    {"rollouts", no_argument, NULL, ROLLOUTS},
    {"contacts", no_argument, NULL, CONTACTS},
    {"constraints", no_argument, NULL, CONSTRAINTS},
    {"rotors", no_argument, NULL, ROTORS},
    {"tasks", no_argument, NULL, TASKS},
    {"round-trip", no_argument, NULL, ROUND_TRIP},
    {"throughput", no_argument, NULL, THROUGHPUT},
    {"fleet", no_argument, NULL, FLEET},
    {"rosbridge", no_argument, NULL, ROSBRIDGE},
    {"python", no_argument, NULL, PYTHON},
    {"live", no_argument, NULL, LIVE},
    {"fairness", no_argument, NULL, FAIRNESS},
    {"memory", no_argument, NULL, MEMORY},
    {"instructions", no_argument, NULL, INSTRUCTIONS},
    {"quick", no_argument, NULL, OPTION_QUICK},
    {"robot", required_argument, NULL, OPTION_ROBOT},
    {"algorithm", required_argument, NULL, OPTION_ALGORITHM},
    {"json", required_argument, NULL, OPTION_JSON},
    {"daemon", required_argument, NULL, OPTION_DAEMON},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const bench_options usual = {.effort = {.rounds = 15, .slice_ns = 5e6},
                                    .longest_peer_chain = 1000,
                                    .round_trips = 20000,
                                    .idle_seconds = 2,
                                    .live_seconds = 3};

static const bench_options quick = {.effort = {.rounds = 3, .slice_ns = 2e5},
                                    .longest_peer_chain = 100,
                                    .round_trips = 300,
                                    .idle_seconds = 0.2,
                                    .live_seconds = 0.2};

/* Runs this process as a child of another benchmark process where the command line asks for it: as an echo server,
 * which does not return, or as the process that counts instructions, which exits. The help does not show these command
 * lines. */
static void serve_parent(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--serve-echo") == 0) {
        serve_echo(argv[2], strtoul(argv[3], NULL, 10));
    }
    if (argc == 4 && strcmp(argv[1], "--serve-nats-echo") == 0) {
        serve_nats_echo(argv[2], strtoul(argv[3], NULL, 10));
    }
    if (argc == 4 && strcmp(argv[1], "--count-instructions") == 0) {
        bench_options options = {.robot = *argv[2] ? argv[2] : NULL, .algorithm = *argv[3] ? argv[3] : NULL};
        count_instructions(&options);
        exit(EXIT_SUCCESS);
    }
}

/* Parsed command line. */
typedef struct command {
    bool chosen[SECTIONS];
    bool is_quick;
    const char *json, *daemon, *robot, *algorithm;
} command;

static void choose_usual_sections(command *c) {
    bool any = false;
    for (int i = 0; i < SECTIONS; i++) {
        any = any || c->chosen[i];
    }
    for (int i = 0; i < INSTRUCTIONS && !any; i++) {
        c->chosen[i] = true;
    }
}

/* Parses the command line. Ends the program where the command line is wrong or asks for help. */
static command parse(int argc, char **argv) {
    command c = {0};
    int option;
    while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        switch (option) {
        case OPTION_QUICK:
            c.is_quick = true;
            break;
        case OPTION_ROBOT:
            c.robot = optarg;
            break;
        case OPTION_ALGORITHM:
            c.algorithm = optarg;
            break;
        case OPTION_JSON:
            c.json = optarg;
            break;
        case OPTION_DAEMON:
            c.daemon = optarg;
            break;
        case OPTION_HELP:
        case 'h':
            fputs(help, stdout);
            exit(EXIT_SUCCESS);
        case '?':
            fputs("Try dynamics-bench --help.\n", stderr);
            exit(EXIT_USAGE);
        default:
            c.chosen[option] = true;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "dynamics-bench: unexpected argument %s\nTry dynamics-bench --help.\n", argv[optind]);
        exit(EXIT_USAGE);
    }
    choose_usual_sections(&c);
    return c;
}

int main(int argc, char **argv) {
    serve_parent(argc, argv);
    command c = parse(argc, argv);
    bench_options options = c.is_quick ? quick : usual;
    options.daemon = c.daemon, options.robot = c.robot, options.algorithm = c.algorithm;
    check_names(&options);
    report *r = report_create();
    for (int i = 0; i < SECTIONS; i++) {
        if (c.chosen[i]) {
            sections[i](&options, r);
        }
    }
    bool written = !c.json || report_write(r, c.json);
    if (!written) {
        perror(c.json);
    }
    report_free(r);
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
