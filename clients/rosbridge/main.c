/*
 * dynamics-rosbridge: the daemon's methods and events for clients of the rosbridge protocol.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "life.h"

enum { EXIT_USAGE = 2 };

static const char help[] =
    "Usage: dynamics-rosbridge [OPTION]...\n"
    "\n"
    "Speaks the rosbridge protocol (JSON and CBOR over WebSocket) to roslibjs, roslibpy, ROS# and others, and "
    "dynamicsd's\n"
    "protocol to the daemon. ROS need not be installed.\n"
    "\n"
    "Options\n"
    "  --config FILE           read this configuration; without it " CONFIG_DEFAULT_PATH ", if there is one\n"
    "  --set SECTION.KEY=VALUE set one key of the configuration; may be repeated\n"
    "  --endpoint URL          the daemon's request endpoint: ipc:///path or tcp://address:port\n"
    "  --events URL            the daemon's event endpoint\n"
    "  --port PORT             listen on this port of the loopback interface; 0: any that is free\n"
    "  --dial URL              connect to the rosbridge server at ws://host:port and offer everything to its nodes\n"
    "  --verbose               log connections to standard error\n"
    "  --check-config          say whether the configuration is right, and end\n"
    "  --version               print the version, and end\n"
    "  --help                  print this, and end\n"
    "\n"
    "Services\n"
    "  Every method of the daemon is /dynamics/METHOD, such as /dynamics/inverse_dynamics of the type\n"
    "  dynamics_msgs/srv/InverseDynamics (dynamics_msgs/InverseDynamics in ROS 1). Arguments are the fields of the\n"
    "  request by name, or an array of them in order. Where a request has joint_names and q, it also takes\n"
    "  \"joint_state\": a sensor_msgs/JointState or an array of them, joints in any order; an empty or missing "
    "velocity or\n"
    "  effort stands for zeros. /rosapi/services, /rosapi/topics and their like list what there is.\n"
    "  /dynamics/check_health is the daemon's health as std_srvs/Trigger.\n"
    "\n"
    "Topics\n"
    "  /diagnostics                    diagnostic_msgs/DiagnosticArray: the health of the daemon; the last is kept\n"
    "  /dynamics/models                dynamics_msgs/ModelEvent: a model was loaded, replaced or unloaded\n"
    "  /dynamics/simulations/NAME/joint_states  sensor_msgs/JointState of the joints with one coordinate\n"
    "  /dynamics/simulations/NAME/state         dynamics_msgs/SimulationStateEvent: all coordinates\n"
    "  /dynamics/simulations/NAME/events        dynamics_msgs/SimulationEvent\n"
    "  /dynamics/simulations/NAME/command       to be published to: sensor_msgs/JointState with the input of the\n"
    "                                           simulation, and in header.frame_id the token that commands it\n"
    "  /dynamics/simulations/NAME/wrench        to be published to: geometry_msgs/WrenchStamped, an external force in "
    "the\n"
    "                                           axes of a link and about its origin; header.frame_id is TOKEN/LINK;\n"
    "                                           zeros end it\n"
    "  /dynamics/streams/NAME/joint_trajectory  to be published to: trajectory_msgs/JointTrajectory, joints in any "
    "order,\n"
    "                                           and in header.frame_id the key of open_stream; time_from_start is the\n"
    "                                           time of a point, simulated time where a simulation is fed\n"
    "  /dynamics/streams/NAME/effort            sensor_msgs/JointState: the torques of each point\n"
    "  /dynamics/streams/NAME/torques           dynamics_msgs/StreamTorques: all coordinates\n"
    "  /dynamics/streams/NAME/events            dynamics_msgs/StreamEvent: lost, late and refused points, the credit\n"
    "  Clients may also advertise topics, services and actions of their own to one another.\n"
    "\n"
    "Actions\n"
    "  Every method is also an action under the same name. Goals can be cancelled; long ones (/dynamics/rollout) tell\n"
    "  their progress: {fraction, elapsed}.\n"
    "\n"
    "Access\n"
    "  It listens on the loopback interface. Web pages are let in by their origin (server.origins); with\n"
    "  server.token_file everybody needs the token, as \"Authorization: Bearer TOKEN\" or as ?token=TOKEN in the "
    "address;\n"
    "  server.certificate and server.key make it wss://. /metrics and /healthz answer plain HTTP on the same port.\n"
    "\n"
    "Signals: SIGTERM and SIGINT end it.\n"
    "Exit status: 0 after a clean stop, 1 after a failure, 2 for a wrong command line or configuration.\n"
    "\n"
    "Example\n"
    "  dynamics-rosbridge --endpoint ipc:///tmp/dynamicsd.sock --events ipc:///tmp/dynamicsd.sock.events\n";

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

/* "limits.calls=10" */
static bool set_key(config *c, const char *text, char error[CONFIG_ERROR_SIZE]) {
    char section[CONFIG_WORD], key[CONFIG_WORD];
    int length = 0;
    if (sscanf(text, "%255[^.=].%255[^=]=%n", section, key, &length) == 2 && length > 0)
        return config_set(c, section, key, text + length, error);
    snprintf(error, CONFIG_ERROR_SIZE, "--set %.200s: give SECTION.KEY=VALUE", text);
    return false;
}

/* Takes one option that sets a key. */
static bool take(config *c, int option, const char *value, char error[CONFIG_ERROR_SIZE]) {
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

/* Ends the program for --help and --version; finds --config, which the other options come on top of. */
static const char *find_config(int argc, char **argv) {
    const char *path = access(CONFIG_DEFAULT_PATH, R_OK) == 0 ? CONFIG_DEFAULT_PATH : NULL;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == OPTION_CONFIG) {
            path = optarg;
        } else if (option == OPTION_HELP || option == OPTION_VERSION) {
            fputs(option == OPTION_HELP ? help : "dynamics-rosbridge " DYNAMICS_VERSION "\n", stdout);
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
    bool is_right = path == NULL || config_read(path, &c, error);
    optind = 1;
    for (int option; is_right && (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        only_checks |= option == OPTION_CHECK;
        is_right = take(&c, option, optarg, error);
    }
    if (is_right && optind < argc) {
        snprintf(error, sizeof error, "unexpected argument \"%.200s\"", argv[optind]);
        is_right = false;
    }
    if (!is_right || !config_complete(&c, error)) {
        fprintf(stderr, "dynamics-rosbridge: %s\n", error);
        return EXIT_USAGE;
    }
    if (only_checks) {
        printf("%s: the configuration is right\n", path != NULL ? path : "defaults");
        return EXIT_SUCCESS;
    }
    signal(SIGPIPE, SIG_IGN);
    if (bridge_run(&c, error))
        return EXIT_SUCCESS;
    fprintf(stderr, "dynamics-rosbridge: %s\n", error);
    return EXIT_FAILURE;
}
