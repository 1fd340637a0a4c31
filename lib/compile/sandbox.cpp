/* SPDX-License-Identifier: BSD-2-Clause */
/* Passes compilations to a sandbox, and serves them there. */
#include "sandbox.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBER_SIZE = 4, EXIT_REFUSAL = 2, LOOK_MILLISECONDS = 20 };

/* Options that a request may have, beside --shared. None names a file or a program. */
static const char *const allowed[] = {"functions",       "frames",      "base-type",       "mimic",
                                      "gravity",         "prefix",      "precision",       "language",
                                      "instruction-set", "cpu-seconds", "memory-megabytes"};

/* Names of the files of a request in its directory. */
static const char description_name[] = "description", output_name[] = "output", messages_name[] = "messages";

/* File descriptor that its destructor closes. */
struct descriptor {
    explicit descriptor(int opened) : number(opened) {}
    ~descriptor() {
        if (number >= 0) {
            close(number);
        }
    }
    descriptor(const descriptor &) = delete;
    descriptor &operator=(const descriptor &) = delete;
    int number;
};

[[noreturn]] static void fail(const std::string &what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static void send_bytes(int connection, const char *bytes, size_t size) {
    for (ssize_t count; size > 0; bytes += count, size -= (size_t)count) {
        count = send(connection, bytes, size, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            fail("the connection of the sandbox");
        }
        count = std::max(count, (ssize_t)0);
    }
}

static std::string receive_bytes(int connection, size_t size) {
    std::string bytes;
    char part[1 << 16];
    while (bytes.size() < size) {
        ssize_t count = recv(connection, part, std::min(sizeof part, size - bytes.size()), 0);
        if (count == 0) {
            throw std::runtime_error("the connection of the sandbox ended within a message");
        }
        if (count < 0 && errno != EINTR) {
            fail("the connection of the sandbox");
        }
        bytes.append(part, (size_t)std::max(count, (ssize_t)0));
    }
    return bytes;
}

static void add_number(std::string *message, size_t number) {
    for (int i = 0; i < NUMBER_SIZE; i++) {
        *message += (char)(number >> 8 * i & 0xff);
    }
}

static void add_text(std::string *message, const std::string &text) {
    add_number(message, text.size());
    *message += text;
}

static size_t receive_number(int connection, size_t most, const char *what) {
    const std::string bytes = receive_bytes(connection, NUMBER_SIZE);
    size_t number = 0;
    for (int i = 0; i < NUMBER_SIZE; i++) {
        number |= (size_t)(unsigned char)bytes[(size_t)i] << 8 * i;
    }
    if (number > most) {
        throw std::runtime_error(std::string(what) + " of a message of the sandbox: " + std::to_string(number) +
                                 " is more than " + std::to_string(most));
    }
    return number;
}

static std::string receive_text(int connection, size_t most, const char *what) {
    return receive_bytes(connection, receive_number(connection, most, what));
}

/* Returns at most `most` bytes of a file that was opened, from its beginning. */
static std::string read_file(int file, size_t most) {
    std::string text;
    char part[1 << 16];
    for (ssize_t count = 1; count > 0 && text.size() < most;) {
        count = read(file, part, std::min(sizeof part, most - text.size()));
        if (count < 0) {
            fail("the description");
        }
        text.append(part, (size_t)count);
    }
    return text;
}

static void write_bytes(int file, const std::string &bytes, const std::string &path) {
    for (size_t written = 0; written < bytes.size();) {
        ssize_t count = write(file, bytes.data() + written, bytes.size() - written);
        if (count < 0) {
            fail(path);
        }
        written += (size_t)count;
    }
}

static void write_file(const std::string &path, const std::string &bytes, mode_t mode) {
    descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    if (file.number < 0) {
        fail(path);
    }
    write_bytes(file.number, bytes, path);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static int connect_to(const std::string &path) {
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        throw std::runtime_error("--sandbox: the path " + path + " is too long for a socket");
    }
    std::strcpy(address.sun_path, path.c_str());
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        if (connection >= 0) {
            close(connection);
        }
        errno = error;
        fail("the sandbox at " + path);
    }
    return connection;
}

int sandbox_ask(const std::string &socket, const std::vector<std::string> &words) {
    std::string robot, output, message;
    std::vector<std::string> options;
    for (size_t i = 0; i < words.size(); i++) {
        if (words[i] == "-o" && i + 1 < words.size()) {
            output = words[++i];
        } else {
            (words[i].compare(0, 2, "--") == 0 ? options.emplace_back() : robot) = words[i];
        }
    }
    if (robot.empty() || output.empty()) {
        throw std::runtime_error("--sandbox: pass ROBOT -o FILE, and options in the form --NAME=VALUE");
    }
    descriptor input(robot == "-" ? dup(STDIN_FILENO) : open(robot.c_str(), O_RDONLY | O_CLOEXEC));
    if (input.number < 0) {
        fail(robot);
    }
    add_number(&message, SANDBOX_MAGIC);
    add_number(&message, options.size());
    for (const std::string &option : options) {
        add_text(&message, option);
    }
    add_text(&message, read_file(input.number, SANDBOX_DESCRIPTION_BYTES));
    descriptor connection(connect_to(socket));
    send_bytes(connection.number, message.data(), message.size());
    int code = (int)receive_number(connection.number, 255, "the exit code");
    const std::string messages = receive_text(connection.number, SANDBOX_MESSAGE_BYTES, "the messages");
    const std::string made = receive_text(connection.number, SANDBOX_OUTPUT_BYTES, "the output");
    std::fwrite(messages.data(), 1, messages.size(), stderr);
    if (code == EXIT_SUCCESS && output == "-") {
        write_bytes(STDOUT_FILENO, made, "standard output");
    } else if (code == EXIT_SUCCESS) {
        write_file(output, made, 0700);
    }
    return code;
}

/* ---- serving ----------------------------------------------------------------------------------------------------- */

static sandbox_request receive_request(int connection) {
    sandbox_request request;
    if (receive_number(connection, UINT32_MAX, "the beginning") != SANDBOX_MAGIC) {
        throw std::runtime_error("the request is none of dynamics-compile of this version");
    }
    size_t count = receive_number(connection, SANDBOX_OPTIONS, "the number of options");
    for (size_t i = 0; i < count; i++) {
        request.options.push_back(receive_text(connection, SANDBOX_OPTION_BYTES, "an option"));
    }
    request.description = receive_text(connection, SANDBOX_DESCRIPTION_BYTES, "the description");
    return request;
}

static bool is_allowed(const std::string &option) {
    const std::string name = option.substr(0, option.find('='));
    bool is_known = std::any_of(std::begin(allowed), std::end(allowed),
                                [&](const char *each) { return name == std::string("--") + each; });
    return option.find('\0') == std::string::npos &&
           (option == "--shared" || (is_known && name.size() < option.size()));
}

/* Directory of a request, which is the working directory. Its destructor removes it with all its files. */
class request_directory {
  public:
    request_directory() {
        const char *parent = std::getenv("TMPDIR");
        path = std::string(parent && parent[0] ? parent : "/tmp") + "/dynamics-compile.XXXXXX";
        if (!mkdtemp(&path[0]) || chdir(path.c_str()) != 0) {
            fail(path);
        }
    }
    ~request_directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    request_directory(const request_directory &) = delete;
    request_directory &operator=(const request_directory &) = delete;

  private:
    std::string path;
};

/* Runs the command line in this process, a child, with the file of messages as its standard output and error. */
[[noreturn]] static void run_child(const std::vector<std::string> &words, sandbox_program program) {
    std::vector<char *> arguments;
    for (const std::string &word : words) {
        arguments.push_back(const_cast<char *>(word.c_str()));
    }
    arguments.push_back(nullptr);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int messages = open(messages_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (setpgid(0, 0) != 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(messages, STDOUT_FILENO) < 0 ||
        dup2(messages, STDERR_FILENO) < 0) {
        _exit(EXIT_FAILURE);
    }
    int code = program((int)words.size(), arguments.data());
    std::fflush(nullptr);
    _exit(code);
}

/* Returns whether the other side has closed the connection; it sends nothing after its request. Waits for that at most
 * LOOK_MILLISECONDS. */
static bool has_ended(int connection) {
    struct pollfd look = {connection, POLLIN | POLLRDHUP, 0};
    return poll(&look, 1, LOOK_MILLISECONDS) > 0;
}

/* Waits for the child, which it kills with all that it has started when the connection ends. Returns its exit code, or
 * 128 and the signal. Throws when the connection has ended. */
static int wait_for(pid_t child, int connection) {
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (has_ended(connection)) {
            kill(-child, SIGKILL);
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            throw std::runtime_error("the connection ended before the compilation");
        }
    }
    kill(-child, SIGKILL); /* a compiler process that is still running */
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Returns the first bytes of a file of the request, or "" if there is none. */
static std::string read_result(const char *name, size_t most) {
    descriptor file(open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    return file.number < 0 ? "" : read_file(file.number, most);
}

static void answer(int connection, int code, const std::string &messages, const std::string &output) {
    std::string reply;
    add_number(&reply, (size_t)code);
    add_text(&reply, messages);
    add_text(&reply, output);
    send_bytes(connection, reply.data(), reply.size());
}

int sandbox_serve(int connection, const std::string &compiler, sandbox_program program) {
    const sandbox_request request = receive_request(connection);
    std::vector<std::string> words = {"dynamics-compile", description_name, "-o", output_name};
    for (const std::string &option : request.options) {
        if (!is_allowed(option)) {
            answer(connection, EXIT_REFUSAL,
                   "dynamics-compile: a sandbox accepts --shared, and options in the form --NAME=VALUE that name no "
                   "file and no program\n",
                   "");
            return EXIT_REFUSAL;
        }
        words.push_back(option);
    }
    if (!compiler.empty() && std::count(words.begin(), words.end(), "--shared") > 0) {
        words.push_back("--compiler=" + compiler);
    }
    request_directory directory;
    write_file(description_name, request.description, 0600);
    std::fflush(nullptr);
    pid_t child = fork();
    if (child < 0) {
        fail("no process can be made");
    }
    if (child == 0) {
        run_child(words, program);
    }
    int code = wait_for(child, connection);
    answer(connection, code, read_result(messages_name, SANDBOX_MESSAGE_BYTES),
           code == EXIT_SUCCESS ? read_result(output_name, SANDBOX_OUTPUT_BYTES) : "");
    return EXIT_SUCCESS;
}
