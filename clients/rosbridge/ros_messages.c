/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Program rosbridge_messages DIRECTORY. It writes the message, service and action files of dynamics_msgs, for ROS 1
 * below DIRECTORY/ros1 and for ROS 2 below DIRECTORY/ros2, from the descriptors of the wire contract.
 */
#include <dynamics/v1/envelope.pb-c.h>
#include <dynamics/v1/event.pb-c.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "methods.h"
#include "ros_types.h"

/* Creates a file of the package for one version of ROS. Ends the program if it cannot be written. */
static FILE *open_file(const char *directory, int version, const char *kind, const char *name) {
    char path[PATH_MAX];
    mkdir(directory, 0777);
    snprintf(path, sizeof path, "%s/ros%d/" MESSAGE_PACKAGE "/%s", directory, version, kind);
    for (char *slash = strchr(path + strlen(directory), '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    mkdir(path, 0777);
    size_t length = strlen(path);
    snprintf(path + length, sizeof path - length, "/%s.%s", name, kind);
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "rosbridge_messages: %s: %s\n", path, strerror(errno));
        exit(EXIT_FAILURE);
    }
    fprintf(file, "# Written by rosbridge_messages from the .proto files, which say what the fields mean.\n");
    return file;
}

static void write_words(FILE *to, const ProtobufCEnumDescriptor *words) {
    size_t column = (size_t)fprintf(to, "# one of");
    for (unsigned i = 0; i < words->n_values; i++) {
        if (column + strlen(words->values[i].name) > 110) {
            column = (size_t)fprintf(to, "\n#  ") - 1;
        }
        column += (size_t)fprintf(to, " %s", words->values[i].name);
    }
    fputc('\n', to);
}

/* Writes a type. Types of the same package have no prefix; times of ROS 1 are primitives. */
static void write_type(FILE *to, int version, const char *type) {
    char spelled[ROS_NAME_SIZE];
    ros_type_spelling(type, 1, spelled);
    const char *own = MESSAGE_PACKAGE "/";
    if (version == 1 && strcmp(spelled, "builtin_interfaces/Time") == 0) {
        fputs("time", to);
    } else {
        fputs(strncmp(spelled, own, strlen(own)) == 0 && version == 1 ? spelled + strlen(own) : spelled, to);
    }
}

static void write_fields(FILE *to, int version, const char *type) {
    ros_field field;
    for (size_t i = 0; ros_type_field(type, i, &field); i++) {
        if (field.words) {
            write_words(to, field.words);
        }
        if (field.length == ROS_AT_MOST_ONE) {
            fputs("# at most one\n", to);
        }
        write_type(to, version, field.type);
        fprintf(to, "%s %s\n",
                field.length == 0                                 ? ""
                : field.length == ROS_AT_MOST_ONE && version == 2 ? "[<=1]"
                                                                  : "[]",
                field.name);
    }
}

/* Writes the messages in a message, and the message itself if it belongs to dynamics_msgs. */
static void write_message(const char *directory, int version, const ProtobufCMessageDescriptor *message,
                          bool is_whole) {
    for (unsigned i = 0; i < message->n_fields; i++) {
        if (message->fields[i].type == PROTOBUF_C_TYPE_MESSAGE) {
            write_message(directory, version, message->fields[i].descriptor, false);
        }
    }
    char type[ROS_NAME_SIZE];
    ros_message_type(message, type);
    bool is_shared = strncmp(type, MESSAGE_PACKAGE "/", strlen(MESSAGE_PACKAGE "/")) != 0;
    if (is_whole || is_shared) {
        return;
    }
    FILE *file = open_file(directory, version, "msg", strrchr(type, '/') + 1);
    write_fields(file, version, type);
    fclose(file);
}

/* Returns true if ROS 1 can have an action of the name. It makes messages of an action, such as "GetJobResult" of
 * "GetJob", and catkin refuses a message with the name of a service. */
static bool is_free_for_action(const char *name) {
    static const char *const suffixes[] = {"Action",     "Goal",         "Result",        "Feedback",
                                           "ActionGoal", "ActionResult", "ActionFeedback"};
    char service[METHOD_NAME_SIZE], message[METHOD_NAME_SIZE + 16];
    for (size_t i = 0; i < method_count(); i++) {
        method_type(method_get(i), service);
        for (size_t j = 0; j < sizeof suffixes / sizeof suffixes[0]; j++) {
            snprintf(message, sizeof message, "%s%s", name, suffixes[j]);
            if (strcmp(service, message) == 0) {
                return false;
            }
        }
    }
    return true;
}

static void write_method(const char *directory, int version, method of) {
    char name[METHOD_NAME_SIZE], request[ROS_NAME_SIZE], response[ROS_NAME_SIZE];
    method_type(of, name);
    snprintf(request, sizeof request, MESSAGE_PACKAGE "/srv/%s_Request", name);
    snprintf(response, sizeof response, MESSAGE_PACKAGE "/srv/%s_Response", name);
    write_message(directory, version, method_request(of), true);
    write_message(directory, version, method_reply(of), true);
    for (int is_action = 0; is_action < 1 + is_free_for_action(name); is_action++) {
        FILE *file = open_file(directory, version, is_action ? "action" : "srv", name);
        write_fields(file, version, request);
        fputs("---\n", file);
        write_fields(file, version, response);
        if (is_action) {
            fputs("---\nfloat64 fraction\nfloat64 elapsed\n", file);
        }
        fclose(file);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("Usage: rosbridge_messages DIRECTORY\n", stderr);
        return 2;
    }
    for (int version = 1; version <= 2; version++) {
        for (size_t i = 0; i < method_count(); i++) {
            write_method(argv[1], version, method_get(i));
        }
        write_message(argv[1], version, &dynamics__v1__event__descriptor, true);
    }
    return EXIT_SUCCESS;
}
