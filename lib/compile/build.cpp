/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compilation of a shared object from its source, by the system's compiler.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <fcntl.h>
#include <malloc.h>
#include <new>
#include <spawn.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "object.h"

extern char **environ;

typedef std::vector<std::string> words;

/* Instruction set: lanes of a vector of doubles, and compiler options. */
struct target {
    const char *name;
    int lanes;
    words options;
};

static const target targets[] = {
    {"avx512", 8, {"-mavx512f", "-mavx512dq", "-mavx512vl", "-mfma", "-mprefer-vector-width=512"}},
    {"avx2", 4, {"-mavx2", "-mfma"}},
    {"sse2", 2, {}},
    {"neon", 2, {}},
    {"scalar", 1, {}},
};

static const target *find_target(const std::string &name) {
    for (const target &t : targets) {
        if (name == t.name) {
            return &t;
        }
    }
    return nullptr;
}

bool is_instruction_set(const std::string &name) {
    return find_target(name) != nullptr;
}

/* Options of all instruction sets. The source contains fused operations explicitly, so that the compiler must not add
 * others. The lanes of vectors hold states: combining the numbers of one state into vectors costs more than it saves,
 * and takes longer to compile. The last two options are for gcc, which otherwise does not inline and unroll the loops
 * over the rows of a block. clang ignores them and does not need them. */
static const words common = {"-std=gnu17",
                             "-O2",
                             "-w",
                             "-fPIC",
                             "-fvisibility=hidden",
                             "-fno-trapping-math",
                             "-fno-math-errno",
                             "-ffp-contract=off",
                             "-fno-tree-slp-vectorize",
                             "-finline-limit=3000",
                             "-fpeel-loops"};

static words operator+(words a, const words &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/* Returns the address space of this process in bytes. */
static size_t used_memory() {
    unsigned long pages = 0;
    FILE *file = std::fopen("/proc/self/statm", "re");
    bool is_read = file && std::fscanf(file, "%lu", &pages) == 1;
    if (file) {
        std::fclose(file);
    }
    if (!is_read) {
        throw std::runtime_error("/proc/self/statm cannot be read, by which memory is shared with the compiler");
    }
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Returns the bytes of address space that a child may use beside this process; 0: no limit. */
static size_t memory_left(const build_options &options) {
    if (options.memory_bytes == 0) {
        return 0;
    }
    size_t used = is_sanitized ? 0 : used_memory();
    if (used >= options.memory_bytes) {
        throw std::bad_alloc();
    }
    return options.memory_bytes - used;
}

/* Lowers the limit on the address space of a child, which inherits that of this process; 0 leaves it. Kills a child
 * whose limit cannot be set. */
static void limit_memory(pid_t child, size_t bytes) {
    const struct rlimit limit = {bytes, bytes};
    if (bytes > 0 && prlimit(child, RLIMIT_AS, &limit, nullptr) != 0 && errno != ESRCH) {
        kill(child, SIGKILL);
    }
}

/* Throws if a program ended with the wait status `status` other than success. */
static void check_end(const std::string &program, int status, size_t memory_bytes) {
    std::string memory = memory_bytes == 0 ? ""
                                           : "; it had " + std::to_string(memory_bytes >> 20) +
                                                 " MB of memory (--memory-megabytes, [compile] memory_bytes)";
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) {
        throw std::runtime_error(program + (WIFSIGNALED(status) ? " was ended by a signal" : " did not run") + memory);
    }
    if (WEXITSTATUS(status) != 0) {
        throw std::runtime_error(program + " failed with exit code " + std::to_string(WEXITSTATUS(status)) + memory);
    }
}

/* Runs a program to its end, with a limit on its memory; 0: none. Returns false if there is no program of that name.
 * Throws if the program fails. */
static bool run(const words &command, size_t memory_bytes) {
    std::vector<char *> arguments;
    for (const std::string &word : command) {
        arguments.push_back(const_cast<char *>(word.c_str()));
    }
    arguments.push_back(nullptr);
    pid_t child;
    int problem = posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
    if (problem == ENOENT) {
        return false;
    }
    int status = 0;
    if (problem != 0) {
        throw std::runtime_error(command[0] + " cannot be started: " + std::strerror(problem));
    }
    limit_memory(child, memory_bytes);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    check_end(command[0], status, memory_bytes);
    return true;
}

/* Runs the requested compiler, or else the first one that is installed. Throws if there is none, or if it fails. */
static void compile(const build_options &options, const words &arguments) {
    const words candidates = options.compiler.empty() ? words{"clang", "cc", "gcc"} : words{options.compiler};
    for (const std::string &compiler : candidates) {
        if (run(words{compiler} + arguments, memory_left(options))) {
            return;
        }
    }
    throw std::runtime_error(options.compiler.empty() ? "there is no C compiler: install clang or gcc"
                                                      : "there is no compiler " + options.compiler);
}

/* Temporary directory. Its destructor removes it with all its files. */
class scratch_directory {
  public:
    explicit scratch_directory(const std::string &beside) : path(beside + ".XXXXXX") {
        if (!mkdtemp(&path[0])) {
            throw std::runtime_error("no directory beside " + beside + ": " + std::strerror(errno));
        }
    }
    ~scratch_directory() {
        for (const std::string &name : names) {
            unlink(name.c_str());
        }
        rmdir(path.c_str());
    }
    std::string file(const char *name) {
        names.push_back(path + "/" + name);
        return names.back();
    }

  private:
    std::string path;
    words names;
};

static void write_file(const std::string &path, const std::string &text) {
    FILE *file = std::fopen(path.c_str(), "w");
    bool is_written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (!file || std::fclose(file) != 0 || !is_written) {
        throw std::runtime_error(path + ": " + std::strerror(errno));
    }
}

/* Returns a path for a command line. A leading ./ keeps the compiler from reading - as an option and @ as a file of
 * arguments. */
static std::string as_argument(const std::string &path) {
    return path[0] == '/' ? path : "./" + path;
}

void build_object(std::string source, const std::string &path, const build_options &options) {
    const target &t = *find_target(options.instruction_set);
    scratch_directory scratch(as_argument(path));
    std::string source_file = scratch.file("kernels.c"), wide = scratch.file("wide.o"), object = scratch.file("all.so");
    write_file(source_file, source);
    /* Releases memory to the system, so that the compiler may use it. */
    source = std::string();
    malloc_trim(0);
    words both =
        common + t.options +
        words{"-DWIDE_LANES=" + std::to_string(t.lanes), "-DINSTRUCTION_SET=\"" + options.instruction_set + "\""};
    words objects;
    if (t.lanes > 1) {
        compile(options, both + words{"-DDYN_LANES=" + std::to_string(t.lanes), "-c", source_file, "-o", wide});
        objects.push_back(wide);
    }
    compile(options,
            both + words{"-DDYN_LANES=1", "-DDESCRIPTOR", "-shared", source_file} + objects + words{"-o", object});
    if (std::rename(object.c_str(), path.c_str()) != 0) {
        throw std::runtime_error(path + ": " + std::strerror(errno));
    }
}
