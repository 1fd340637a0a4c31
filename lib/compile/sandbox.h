/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compilation in a sandbox: one dynamics-compile passes a description and its options over a unix socket to another
 * one, which a unit of the service manager starts for this connection without network and with little else.
 *
 * A request is the number SANDBOX_MAGIC, the number of options, each option, and the description. A reply is the exit
 * code, the messages and the output. A number has four bytes, the lowest first. An option, the description, the
 * messages and the output each follow the number of their bytes.
 */
#ifndef DYNAMICS_SANDBOX_H
#define DYNAMICS_SANDBOX_H

#include <string>
#include <vector>

/* Request to a sandbox. */
struct sandbox_request {
    std::vector<std::string> options;
    std::string description;
};

/* Number at the beginning of a request, and bounds of its parts and of the reply's, in bytes. */
enum : unsigned {
    SANDBOX_MAGIC = 0x31435944,
    SANDBOX_OPTIONS = 32,
    SANDBOX_OPTION_BYTES = 1u << 16,
    SANDBOX_DESCRIPTION_BYTES = 64u << 20,
    SANDBOX_MESSAGE_BYTES = 1u << 16,
    SANDBOX_OUTPUT_BYTES = 1u << 30
};

/* Passes a command line without its program to the sandbox that listens at `socket`: ROBOT, -o FILE and options in the
 * form --NAME=VALUE, where ROBOT and FILE may be "-". Writes the messages to standard error and the output to the file.
 * Returns the exit code. Throws std::runtime_error if the sandbox does not answer. */
int sandbox_ask(const std::string &socket, const std::vector<std::string> &words);

/* Function that runs a command line in this process, and returns its exit code. */
typedef int (*sandbox_program)(int argc, char **argv);

/* Reads one request from `connection`, runs it by `program` in a child process and a directory of its own, and answers.
 * Refuses options that name files or programs; `compiler` is the C compiler ("": the default). When the connection
 * ends, the child and its compilers end. Returns the exit code of this process. Throws std::runtime_error if there is
 * no request, or no place for it. */
int sandbox_serve(int connection, const std::string &compiler, sandbox_program program);

#endif
