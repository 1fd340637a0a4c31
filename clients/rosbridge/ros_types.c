/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defines the types of ROS messages: standard ones in a table, those of dynamics_msgs from the wire contract.
 */
#include "ros_types.h"

#include <dynamics/v1/envelope.pb-c.h>
#include <dynamics/v1/event.pb-c.h>
#include <stdio.h>
#include <string.h>

#include "joint_state.h"
#include "message_fields.h"
#include "methods.h"

/* Standard type of ROS. `fields` has a line "type name" for each field. */
typedef struct definition {
    const char *type, *fields;
} definition;

static const definition definitions[] = {
    {"builtin_interfaces/msg/Time", "int32 sec\nuint32 nanosec\n"},
    {"builtin_interfaces/msg/Duration", "int32 sec\nuint32 nanosec\n"},
    {"std_msgs/msg/Header", "builtin_interfaces/msg/Time stamp\nstring frame_id\n"},
    {"std_msgs/msg/Empty", ""},
    {"std_msgs/msg/String", "string data\n"},
    {"std_msgs/msg/Bool", "bool data\n"},
    {"std_msgs/msg/Int32", "int32 data\n"},
    {"std_msgs/msg/Float64", "float64 data\n"},
    {"std_msgs/msg/MultiArrayDimension", "string label\nuint32 size\nuint32 stride\n"},
    {"std_msgs/msg/MultiArrayLayout", "std_msgs/msg/MultiArrayDimension[] dim\nuint32 data_offset\n"},
    {"std_msgs/msg/Float64MultiArray", "std_msgs/msg/MultiArrayLayout layout\nfloat64[] data\n"},
    {"geometry_msgs/msg/Vector3", "float64 x\nfloat64 y\nfloat64 z\n"},
    {"geometry_msgs/msg/Point", "float64 x\nfloat64 y\nfloat64 z\n"},
    {"geometry_msgs/msg/Quaternion", "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"},
    {"geometry_msgs/msg/Pose", "geometry_msgs/msg/Point position\ngeometry_msgs/msg/Quaternion orientation\n"},
    {"geometry_msgs/msg/Wrench", "geometry_msgs/msg/Vector3 force\ngeometry_msgs/msg/Vector3 torque\n"},
    {"geometry_msgs/msg/WrenchStamped", "std_msgs/msg/Header header\ngeometry_msgs/msg/Wrench wrench\n"},
    {"geometry_msgs/msg/Transform", "geometry_msgs/msg/Vector3 translation\ngeometry_msgs/msg/Quaternion rotation\n"},
    {"geometry_msgs/msg/TransformStamped",
     "std_msgs/msg/Header header\nstring child_frame_id\ngeometry_msgs/msg/Transform transform\n"},
    {"tf2_msgs/msg/TFMessage", "geometry_msgs/msg/TransformStamped[] transforms\n"},
    {"rosgraph_msgs/msg/Log",
     "std_msgs/msg/Header header\nbyte level\nstring name\nstring msg\nstring file\nstring function\nuint32 line\n"
     "string[] topics\n"},
    {"rcl_interfaces/msg/Log",
     "builtin_interfaces/msg/Time stamp\nuint8 level\nstring name\nstring msg\nstring file\nstring function\n"
     "uint32 line\n"},
    {"sensor_msgs/msg/JointState",
     "std_msgs/msg/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n"},
    {"trajectory_msgs/msg/JointTrajectoryPoint",
     "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\n"
     "builtin_interfaces/msg/Duration time_from_start\n"},
    {"trajectory_msgs/msg/JointTrajectory",
     "std_msgs/msg/Header header\nstring[] joint_names\ntrajectory_msgs/msg/JointTrajectoryPoint[] points\n"},
    {"diagnostic_msgs/msg/KeyValue", "string key\nstring value\n"},
    {"diagnostic_msgs/msg/DiagnosticStatus",
     "byte level\nstring name\nstring message\nstring hardware_id\ndiagnostic_msgs/msg/KeyValue[] values\n"},
    {"diagnostic_msgs/msg/DiagnosticArray",
     "std_msgs/msg/Header header\ndiagnostic_msgs/msg/DiagnosticStatus[] status\n"},
    {"std_srvs/srv/Trigger_Request", ""},
    {"std_srvs/srv/Trigger_Response", "bool success\nstring message\n"},
};

enum { DEFINITIONS = sizeof definitions / sizeof definitions[0] };

static const definition *find_definition(const char *type) {
    for (size_t i = 0; i < DEFINITIONS; i++) {
        if (strcmp(definitions[i].type, type) == 0) {
            return &definitions[i];
        }
    }
    return NULL;
}

/* Reads line `index` of a definition. Returns false after the last line. */
static bool read_line(const char *fields, size_t index, ros_field *field) {
    for (; index > 0 && *fields != '\0'; index--) {
        fields = strchr(fields, '\n') + 1;
    }
    if (*fields == '\0') {
        return false;
    }
    size_t length = strcspn(fields, " ");
    bool is_sequence = fields[length - 1] == ']';
    *field = (ros_field){.length = is_sequence ? ROS_SEQUENCE : 0};
    snprintf(field->type, sizeof field->type, "%.*s", (int)(is_sequence ? length - 2 : length), fields);
    fields += length + 1;
    snprintf(field->name, sizeof field->name, "%.*s", (int)strcspn(fields, "\n"), fields);
    return true;
}

/* ---- the wire contract ------------------------------------------------------------------------------------------- */

static const char *primitive_of(ProtobufCType type) {
    switch (type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return "int32";
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return "int64";
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        return "uint32";
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return "uint64";
    case PROTOBUF_C_TYPE_FLOAT:
        return "float32";
    case PROTOBUF_C_TYPE_DOUBLE:
        return "float64";
    case PROTOBUF_C_TYPE_BOOL:
        return "bool";
    default:
        return "string";
    }
}

/* Returns the index of the method whose service has the name, or method_count() if there is none. */
static size_t find_method(const char *name) {
    size_t index = 0;
    for (; index < method_count(); index++) {
        char own[METHOD_NAME_SIZE];
        method_type(method_get(index), own);
        if (strcmp(own, name) == 0) {
            break;
        }
    }
    return index;
}

/* Suffix of a message that has the name of a service: code generators of ROS put both into one name space. */
static const char data[] = "Data";

void ros_message_type(const ProtobufCMessageDescriptor *message, char type[ROS_NAME_SIZE]) {
    static const char *const shared[] = {"Vector3", "Quaternion"};
    const char *package = MESSAGE_PACKAGE, *name = message->short_name;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        if (strcmp(name, shared[i]) == 0) {
            package = "geometry_msgs";
        }
    }
    snprintf(type, ROS_NAME_SIZE, "%s/msg/%s%s", package, name, find_method(name) < method_count() ? data : "");
}

/* Describes a field that the gateway adds to a request that accepts JointState. Returns false past the last one. */
static bool joint_state_field(size_t index, ros_field *field) {
    if (index == 0) {
        *field = (ros_field){.name = "joint_state", .type = "sensor_msgs/msg/JointState", .length = ROS_SEQUENCE};
    } else {
        *field = (ros_field){.name = "ignore_extra_joints", .type = "bool"};
    }
    return index < 2;
}

bool ros_message_field(const ProtobufCMessageDescriptor *message, bool is_request, size_t index, ros_field *field) {
    *field = (ros_field){0};
    bool is_whole = strstr(message->short_name, "Request") != NULL;
    if (index >= message->n_fields && is_whole && joint_state_is_accepted(message)) {
        return joint_state_field(index - message->n_fields, field);
    }
    if (index >= message->n_fields) {
        return false;
    }
    const ProtobufCFieldDescriptor *from = &message->fields[index];
    bool is_message = from->type == PROTOBUF_C_TYPE_MESSAGE;
    snprintf(field->name, sizeof field->name, "%s", from->name);
    if (is_message) {
        ros_message_type(from->descriptor, field->type);
    } else {
        snprintf(field->type, sizeof field->type, "%s", primitive_of(from->type));
    }
    if (from->type == PROTOBUF_C_TYPE_ENUM) {
        field->words = from->descriptor;
    }
    if (from->label == PROTOBUF_C_LABEL_REPEATED) {
        field->length = ROS_SEQUENCE;
    } else if (field_is_choice(from) || (is_message && is_request)) {
        field->length = ROS_AT_MOST_ONE;
    }
    if (from->type == PROTOBUF_C_TYPE_BYTES) {
        snprintf(field->type, sizeof field->type, "uint8");
        field->length = ROS_SEQUENCE;
    }
    return true;
}

/* Finds a message by its short name, in or below another. The contract has no recursive messages. */
static const ProtobufCMessageDescriptor *find_message(const ProtobufCMessageDescriptor *in, const char *name) {
    if (strcmp(in->short_name, name) == 0) {
        return in;
    }
    const ProtobufCMessageDescriptor *found = NULL;
    for (unsigned i = 0; i < in->n_fields && !found; i++) {
        if (in->fields[i].type == PROTOBUF_C_TYPE_MESSAGE) {
            found = find_message(in->fields[i].descriptor, name);
        }
    }
    return found;
}

/* Converts the name of a message in ROS to the name in the contract, without the suffix "Data". Returns false for the
 * name of a service, which is no message. */
static bool strip_data(char *name) {
    if (find_method(name) < method_count()) {
        return false;
    }
    size_t length = strlen(name), end = sizeof data - 1;
    char base[ROS_NAME_SIZE];
    snprintf(base, sizeof base, "%.*s", (int)(length > end ? length - end : 0), name);
    if (length > end && strcmp(name + length - end, data) == 0 && find_method(base) < method_count()) {
        name[length - end] = '\0';
    }
    return true;
}

/* Returns the message of the contract for a type of dynamics_msgs, or NULL. `is_request` reports whether it is a
 * request. */
static const ProtobufCMessageDescriptor *message_of(const char *type, bool *is_request) {
    char name[ROS_NAME_SIZE];
    *is_request = false;
    if (sscanf(type, MESSAGE_PACKAGE "/msg/%255s", name) == 1) {
        if (!strip_data(name)) {
            return NULL;
        }
        const ProtobufCMessageDescriptor *found = find_message(&dynamics__v1__reply__descriptor, name);
        if (!found) {
            found = find_message(&dynamics__v1__event__descriptor, name);
        }
        *is_request = !found;
        return found ? found : find_message(&dynamics__v1__request__descriptor, name);
    }
    char *end = sscanf(type, MESSAGE_PACKAGE "/srv/%255s", name) == 1 ? strrchr(name, '_') : NULL;
    if (!end) {
        return NULL;
    }
    *is_request = strcmp(end, "_Request") == 0;
    if (!*is_request && strcmp(end, "_Response") != 0) {
        return NULL;
    }
    *end = '\0';
    size_t found = find_method(name);
    if (found == method_count()) {
        return NULL;
    }
    return *is_request ? method_request(method_get(found)) : method_reply(method_get(found));
}

bool ros_type_field(const char *type, size_t index, ros_field *field) {
    const definition *standard = find_definition(type);
    if (standard) {
        return read_line(standard->fields, index, field);
    }
    bool is_request;
    const ProtobufCMessageDescriptor *message = message_of(type, &is_request);
    return message && ros_message_field(message, is_request, index, field);
}

const char *ros_type_constants(const char *type) {
    static const definition constants[] = {
        {"diagnostic_msgs/msg/DiagnosticStatus", "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\n"},
        {"rosgraph_msgs/msg/Log", "byte DEBUG=1\nbyte INFO=2\nbyte WARN=4\nbyte ERROR=8\nbyte FATAL=16\n"},
        {"rcl_interfaces/msg/Log", "byte DEBUG=10\nbyte INFO=20\nbyte WARN=30\nbyte ERROR=40\nbyte FATAL=50\n"},
    };
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (strcmp(constants[i].type, type) == 0) {
            return constants[i].fields;
        }
    }
    return "";
}

bool ros_type_is_known(const char *type) {
    bool is_request;
    return find_definition(type) || message_of(type, &is_request) != NULL;
}

bool ros_type_is_primitive(const char *type) {
    return !strchr(type, '/');
}
