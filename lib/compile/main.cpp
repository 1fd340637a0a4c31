/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dynamics-compile writes the algorithms of one robot as straight-line C, as a shared object for the library, or as
 * readable formulas.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <getopt.h>
#include <iostream>
#include <iterator>
#include <mbedtls/md.h>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <sys/resource.h>
#include <unistd.h>

#include <dynamics/dynamics.h>

#include "alone.h"
#include "escape.h"
#include "formula.h"
#include "object.h"
#include "sandbox.h"

enum { EXIT_USAGE = 2 };

/* Limits of a function in C source, and in a shared object, where the generic kernels replace a larger function.
 * Compilers need more than linear time. */
static const size_limits most_of_source = {8u << 20, 8u << 20}, most_of_object = {1u << 20, 20000};
static const size_t most_operations = 12000;

static const char help[] = R"(Usage: dynamics-compile ROBOT -o FILE [OPTION]...

Writes the dynamics of one robot as straight-line C. Constants are folded, common subexpressions are shared, and terms
that are zero are removed. The generated file needs only libm and allocates no memory, so it suits microcontrollers and
real-time loops.

ROBOT is a URDF file, or a description as dyn_description_write (dynamics/description.h) writes it, which states its
base, mimic policy and gravity itself. - is standard input or output.

The generated file is ASCII. Names of the description appear in comments, where * ? " \ and other characters become
octal escapes (\ooo), and in names of functions, where each byte that is no letter or digit becomes an underscore.

  -o, --output FILE          output file: C, or with --shared a shared object
  -f, --functions LIST       functions to generate, of rnea, bias, gravity, crba, aba, resisted_aba, minverse,
                             rnea_derivatives, aba_derivatives; default: rnea,crba,aba
      --frames LIST          names of links; generates pose and Jacobian of each
      --base-type TYPE       fixed (default) or floating
      --mimic POLICY         coupled (default) or independent
      --gravity X,Y,Z        m/s^2 in the world's axes; default 0,0,-9.81
      --prefix NAME          prefix of the functions; default: the robot's name
      --precision WHICH      double (default) or single: float, sinf and cosf, for processors without hardware for
                             double; --float is short for --precision single
      --header FILE          also write declarations, for C and C++
      --language WHICH       c (default); or text or latex: readable formulas of the mass matrix M, the velocity
                             forces c and the gravity forces g of a robot with at most 4 coordinates
      --cpu-seconds N        stop if one program needs more processor time
      --memory-megabytes N   stop if this program, together with the compiler that it runs, needs more memory
  -h, --help                 print this text and exit
      --version              print the version and exit

Shared object of all functions, in double precision, for dyn_compiled_load (dynamics/compiled.h) and dynamicsd:
      --shared               also compile with the system's compiler; functions of more than 12000 operations or
                             20000 results are omitted
      --compiler PROGRAM     default: the first of clang, cc and gcc that is installed
      --instruction-set SET  avx512, avx2, sse2, neon or scalar; default: that of this processor. For another
                             processor, --compiler must name a cross compiler, such as aarch64-linux-gnu-gcc

Another process, which can do less (dynamics-compile.socket):
      --sandbox SOCKET       as the first option, --sandbox=SOCKET: the process that listens at this unix socket does
                             the work. It refuses --compiler, --header, --float and --output, and reads options only
                             in the form --NAME=VALUE
      --serve [COMPILER]     serve one request of --sandbox, on standard input, a connected socket; alone

Exit status: 0 success, 1 failure, 2 wrong command line.

Examples:
  dynamics-compile ur5.urdf -o ur5.c --functions rnea,aba --frames tool0
  dynamics-compile ur5.urdf -o ur5.c --header ur5.h --precision single --functions gravity,rnea
  dynamics-compile two_link.urdf -o - --language text
)";

/* Parsed command line. */
struct command {
    std::string robot, output, header, prefix, frames, functions = "rnea,crba,aba";
    dyn_build_options build = {sizeof(dyn_build_options), DYN_BASE_FIXED, DYN_MIMIC_POLICY_COUPLED, false};
    std::string language = "c";
    bool is_float = false, is_shared = false, has_base = false, has_mimic = false, has_gravity = false;
    double gravity[3] = {0, 0, 0};
    build_options compiler = {"", dyn_instruction_set(), 0};
};

/* Error in the command line. */
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

static std::vector<std::string> split(const std::string &list) {
    std::vector<std::string> words;
    std::istringstream in(list);
    for (std::string word; std::getline(in, word, ',');) {
        words.push_back(word);
    }
    return words;
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

/* Returns true for the second of two words, false for the first, and throws for others. */
static bool is_second(const char *option, const std::string &word, const char *first, const char *second) {
    if (word != first && word != second) {
        throw usage_error(std::string(option) + ": \"" + word + "\" is neither " + first + " nor " + second);
    }
    return word == second;
}

static double number(const char *option, const std::string &word) {
    char *end;
    double x = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0') {
        throw usage_error(std::string(option) + ": \"" + word + "\" is no number");
    }
    return x;
}

static void set_gravity(command &c, const char *list) {
    std::vector<std::string> words = split(list);
    if (words.size() != 3) {
        throw usage_error("--gravity: three numbers are needed, X,Y,Z");
    }
    for (size_t i = 0; i < 3; i++) {
        c.gravity[i] = number("--gravity", words[i]);
    }
    c.has_gravity = true;
}

static double bounded(const char *option, const char *word) {
    double x = number(option, word);
    if (!(x >= 1 && x <= 1e6)) {
        throw usage_error(std::string(option) + ": " + word + " is not between 1 and 1000000");
    }
    return x;
}

/* Limits the processor time of this process, and of each compiler that it starts. */
static void limit_time(double seconds) {
    const struct rlimit limit = {(rlim_t)seconds, (rlim_t)seconds};
    if (setrlimit(RLIMIT_CPU, &limit) != 0) {
        throw std::runtime_error(std::string("--cpu-seconds: ") + std::strerror(errno));
    }
}

/* Limits the address space of this process, and so of each compiler that it starts. build_object lowers the limit of
 * compilers by what this process uses. */
static void limit_memory(command &c, const char *word) {
    c.compiler.memory_bytes = (size_t)bounded("--memory-megabytes", word) << 20;
    const struct rlimit limit = {c.compiler.memory_bytes, c.compiler.memory_bytes};
    if (!is_sanitized && setrlimit(RLIMIT_AS, &limit) != 0) {
        throw std::runtime_error(std::string("--memory-megabytes: ") + std::strerror(errno));
    }
}

static void set_language(command &c, const char *name) {
    c.language = name;
    if (c.language != "c" && c.language != "text" && c.language != "latex") {
        throw usage_error("--language: \"" + c.language + "\" is none of c, text and latex");
    }
}

static void set_instruction_set(command &c, const char *name) {
    if (!is_instruction_set(name)) {
        throw usage_error(std::string("--instruction-set: \"") + name +
                          "\" is none of avx512, avx2, sse2, neon and scalar");
    }
    c.compiler.instruction_set = name;
}

[[noreturn]] static void print_and_end(const char *text) {
    std::fputs(text, stdout);
    std::exit(EXIT_SUCCESS);
}

/* Kinds of output that an option applies to. */
enum class use { both, source, object };

/* Option: its name, its letter or 0, whether a word follows it, the kinds of output that it applies to, and its
 * action. */
struct option_row {
    const char *name;
    int letter;
    bool has_word;
    use of;
    void (*apply)(command &c, const char *word);
};

static const option_row option_rows[] = {
    {"output", 'o', true, use::both, [](command &c, const char *word) { c.output = word; }},
    {"functions", 'f', true, use::source, [](command &c, const char *word) { c.functions = word; }},
    {"frames", 0, true, use::source, [](command &c, const char *word) { c.frames = word; }},
    {"base-type", 0, true, use::both,
     [](command &c, const char *word) {
         c.has_base = true;
         c.build.base = is_second("--base-type", word, "fixed", "floating") ? DYN_BASE_FLOATING : DYN_BASE_FIXED;
     }},
    {"mimic", 0, true, use::both,
     [](command &c, const char *word) {
         bool is_independent = is_second("--mimic", word, "coupled", "independent");
         c.has_mimic = true;
         c.build.mimic = is_independent ? DYN_MIMIC_POLICY_INDEPENDENT : DYN_MIMIC_POLICY_COUPLED;
     }},
    {"gravity", 0, true, use::both, set_gravity},
    {"prefix", 0, true, use::source, [](command &c, const char *word) { c.prefix = word; }},
    {"float", 0, false, use::both, [](command &c, const char *) { c.is_float = true; }},
    {"precision", 0, true, use::both,
     [](command &c, const char *word) { c.is_float = is_second("--precision", word, "double", "single"); }},
    {"header", 0, true, use::source, [](command &c, const char *word) { c.header = word; }},
    {"language", 0, true, use::both, set_language},
    {"shared", 0, false, use::object, [](command &c, const char *) { c.is_shared = true; }},
    {"compiler", 0, true, use::object, [](command &c, const char *word) { c.compiler.compiler = word; }},
    {"instruction-set", 0, true, use::object, set_instruction_set},
    {"cpu-seconds", 0, true, use::both,
     [](command &, const char *word) { limit_time(bounded("--cpu-seconds", word)); }},
    {"memory-megabytes", 0, true, use::both, limit_memory},
    {"help", 'h', false, use::both, [](command &, const char *) { print_and_end(help); }},
    {"version", 0, false, use::both,
     [](command &, const char *) { print_and_end("dynamics-compile " DYNAMICS_VERSION "\n"); }},
};

enum { OPTION_COUNT = sizeof option_rows / sizeof option_rows[0], LONG_OPTIONS = 256 };

/* Returns the table in the form of getopt. The code of a long option is the number of its row. */
static std::vector<option> long_options() {
    std::vector<option> rows;
    for (int i = 0; i < OPTION_COUNT; i++) {
        rows.push_back({option_rows[i].name, option_rows[i].has_word, nullptr, LONG_OPTIONS + i});
    }
    rows.push_back({});
    return rows;
}

static const option_row &option_of(int code) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (code == LONG_OPTIONS + i || code == option_rows[i].letter) {
            return option_rows[i];
        }
    }
    std::fputs("Try dynamics-compile --help.\n", stderr);
    std::exit(EXIT_USAGE);
}

/* Refuses options that exclude each other. The last two arguments are options that apply to one kind of output only, or
 * NULL. */
static void check(const command &c, const char *for_source, const char *for_object) {
    if (c.is_shared && for_source) {
        throw usage_error(std::string("--") + for_source +
                          ": not with --shared, which makes an object of all functions");
    }
    if (c.language != "c" && (for_source || for_object || c.is_float)) {
        throw usage_error(std::string("--") +
                          (for_source   ? for_source
                           : for_object ? for_object
                                        : "precision") +
                          ": not with --language " + c.language + ", which writes formulas");
    }
    if (!c.is_shared && for_object) {
        throw usage_error(std::string("--") + for_object + ": only with --shared");
    }
    if (c.output.empty()) {
        throw usage_error("--output is needed");
    }
    if (c.is_shared && (c.is_float || c.output == "-")) {
        throw usage_error(c.is_float ? "--shared is in double precision" : "--shared needs the name of a file");
    }
    if (!c.header.empty() && !can_be_included(c.header)) {
        throw usage_error("--header: #include cannot name the file " + escaped(c.header) +
                          "; use printable ASCII without \" \\ * ? in its name");
    }
    if (c.output == c.header) {
        throw usage_error("--header: " + c.header + " is the output; choose another name");
    }
}

static void parse(int argc, char **argv, command &c) {
    const char *for_source = nullptr, *for_object = nullptr;
    const std::vector<option> rows = long_options();
    for (int code; (code = getopt_long(argc, argv, "o:f:h", rows.data(), nullptr)) != -1;) {
        const option_row &row = option_of(code);
        row.apply(c, optarg);
        for_source = row.of == use::source ? row.name : for_source;
        for_object = row.of == use::object ? row.name : for_object;
    }
    if (optind + 1 != argc) {
        throw usage_error(optind == argc ? "a robot description is needed"
                                         : std::string("unexpected argument ") + argv[optind + 1]);
    }
    c.robot = argv[optind];
    check(c, for_source, for_object);
}

/* ---- the robot --------------------------------------------------------------------------------------------------- */

static void require(dyn_status status, const dyn_error &error) {
    if (status == DYN_RESOURCE_EXHAUSTED && std::strcmp(error.place, "memory") == 0) {
        throw std::bad_alloc();
    }
    if (status != DYN_OK) {
        throw std::runtime_error(std::string(error.place) + (error.place[0] ? ": " : "") + error.message);
    }
}

[[noreturn]] static void fail_with(const std::string &path) {
    throw std::runtime_error(path + ": " + std::strerror(errno));
}

static std::string read_all(const std::string &path) {
    std::unique_ptr<FILE, int (*)(FILE *)> opened(path == "-" ? nullptr : std::fopen(path.c_str(), "rb"), std::fclose);
    FILE *file = path == "-" ? stdin : opened.get();
    std::string text;
    char part[1 << 16];
    for (size_t count = 1; file && count > 0; text.append(part, count)) {
        count = std::fread(part, 1, sizeof part, file);
    }
    if (!file || std::ferror(file)) {
        fail_with(path);
    }
    return text;
}

typedef std::unique_ptr<dyn_model, void (*)(dyn_model *)> model_pointer;
typedef std::unique_ptr<dyn_builder, void (*)(dyn_builder *)> builder_pointer;

static model_pointer load(const command &c) {
    std::string text = read_all(c.robot);
    dyn_error error;
    dyn_builder *builder = nullptr;
    dyn_model *model = nullptr;
    dyn_build_options options = c.build;
    if (dyn_description_is_text(text.data(), text.size())) {
        dyn_build_options stated = c.build;
        require(dyn_description_read(text.data(), text.size(), &builder, &stated, &error), error);
        options.base = c.has_base ? c.build.base : stated.base;
        options.mimic = c.has_mimic ? c.build.mimic : stated.mimic;
    } else {
        require(dyn_urdf_read(text.data(), text.size(), nullptr, &builder, &error), error);
    }
    builder_pointer owner(builder, dyn_builder_free);
    if (c.has_gravity) {
        require(dyn_builder_set_gravity(builder, c.gravity, &error), error);
    }
    require(dyn_builder_build(builder, &options, nullptr, &model, &error), error);
    if (dyn_model_constraint_count(model) > 0) {
        std::string name = escaped(dyn_model_constraint(model, 0)->name);
        dyn_model_free(model);
        throw std::runtime_error("constraint " + name + ": models with constraints cannot be compiled");
    }
    if (model->stage_count > 0) {
        std::string name = escaped(model->joints[model->bodies[model->stages[0].body].joint].name);
        dyn_model_free(model);
        throw std::runtime_error("joint " + name + " is custom: models with custom joints cannot be compiled");
    }
    if (dyn_model_machine_element_count(model) > 0) {
        dyn_model_free(model);
        throw std::runtime_error("models with machine elements cannot be compiled");
    }
    if (dyn_model_contact_surface_count(model) > 0) {
        dyn_model_free(model);
        throw std::runtime_error("models with contact surfaces cannot be compiled");
    }
    return model_pointer(model, dyn_model_free);
}

static std::string canonical(const dyn_model *model) {
    dyn_error error;
    char *text;
    size_t length;
    require(dyn_model_canonical(model, &text, &length, &error), error);
    std::string copy(text, length);
    dyn_text_free(text);
    return copy;
}

static std::string digest(const std::string &text) {
    unsigned char hash[32];
    mbedtls_md(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), (const unsigned char *)text.data(), text.size(), hash);
    std::string digits = "sha256:";
    for (unsigned char byte : hash) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", byte);
        digits += two;
    }
    return digits;
}

/* ---- C for itself ------------------------------------------------------------------------------------------------ */

/* Adds a function that `option` requests by `name`. Throws if there is one of the same name in C. */
static void add_function(const char *option, const std::string &name, compiled_function f,
                         std::vector<compiled_function> *functions) {
    for (const compiled_function &other : *functions) {
        if (other.name == f.name) {
            throw usage_error(std::string(option) + ": \"" + name + "\" would be " + f.name + " for the second time");
        }
    }
    functions->push_back(std::move(f));
}

/* Returns true if a function divides by the pivots of M itself. resisted_aba adds a diagonal to them. */
static bool solves_with_mass_matrix(algorithm a) {
    return a == algorithm::aba || a == algorithm::minverse || a == algorithm::aba_derivatives;
}

/* Throws if the mass matrix is singular. C code that divides by a constant zero does not compile. */
static void check_pivots(const dyn_model *model, algorithm a, const std::string &name) {
    if (solves_with_mass_matrix(a) && model->unresisted >= 0) {
        throw std::runtime_error("joint " + escaped(model->joints[model->unresisted].name) +
                                 ": no inertia resists the joint, so that the mass matrix is singular and " + name +
                                 " cannot be computed; set a mass and an inertia for the links that it moves, or name "
                                 "other functions, such as --functions rnea,crba");
    }
}

/* Returns the names of all functions but those of frames. */
static std::string function_names() {
    std::string names;
    for (int i = 0; i <= (int)algorithm::aba_derivatives; i++) {
        if ((algorithm)i != algorithm::frame) {
            names += (names.empty() ? "" : ", ") + std::string(algorithm_name((algorithm)i));
        }
    }
    return names;
}

static std::vector<compiled_function> chosen_functions(const command &c, const dyn_model *model) {
    std::vector<compiled_function> functions;
    for (const std::string &name : split(c.functions)) {
        algorithm a;
        if (!find_algorithm(name, &a) || a == algorithm::frame) {
            throw usage_error("--functions: there is no function \"" + name + "\"; the functions are " +
                              function_names());
        }
        check_pivots(model, a, name);
        add_function("--functions", name, specialize(model, a, 0, most_of_source), &functions);
    }
    for (const std::string &name : split(c.frames)) {
        dyn_error error;
        int frame;
        require(dyn_model_find_frame(model, name.c_str(), &frame, &error), error);
        if (frame == DYN_WORLD_FRAME) {
            throw usage_error("--frames: the world does not move");
        }
        compiled_function f = specialize_frame(model, frame, most_of_source);
        add_function("--frames", name, std::move(f), &functions);
    }
    return functions;
}

static void write_file(const std::string &path, const std::string &text) {
    if (path == "-") {
        std::cout << text << std::flush;
        return;
    }
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
        fail_with(path);
    }
}

static void write_alone(const command &c, const dyn_model *model) {
    std::string prefix = identifier(c.prefix.empty() ? dyn_model_name(model) : c.prefix.c_str());
    emit_options options = {emit_target::alone, c.is_float, prefix + "_"};
    alone_file file = {model, digest(canonical(model)), c.header, options, chosen_functions(c, model)};
    if (file.functions.empty()) {
        throw usage_error("--functions: name at least one, or a frame");
    }
    write_file(c.output, alone_source(file));
    if (!c.header.empty()) {
        write_file(c.header, alone_header(file));
    }
}

/* ---- shared objects ---------------------------------------------------------------------------------------------- */

/* Adds a function unless it is too large to compile. The generic kernels replace it then. */
static void add_if_small(const dyn_model *model, algorithm a, int place, std::vector<compiled_function> *functions) {
    try {
        compiled_function f = specialize(model, a, place, most_of_object);
        operations n = count_operations(f);
        if (n.multiplications + n.additions <= most_operations) {
            functions->push_back(std::move(f));
        }
    } catch (const std::length_error &) {
        return;
    }
}

static bool is_end_of_branch(const dyn_model *model, int i) {
    for (int j = i + 1; j < model->body_count; j++) {
        if (model->bodies[j].parent == i) {
            return false;
        }
    }
    return true;
}

/* Returns all functions that the library uses. */
static std::vector<compiled_function> object_functions(const dyn_model *model) {
    std::vector<compiled_function> functions;
    for (algorithm a :
         {algorithm::rnea, algorithm::bias, algorithm::gravity, algorithm::crba, algorithm::aba,
          algorithm::resisted_aba, algorithm::minverse, algorithm::rnea_derivatives, algorithm::aba_derivatives}) {
        if (!solves_with_mass_matrix(a) || model->unresisted < 0) {
            add_if_small(model, a, 0, &functions);
        }
    }
    for (int i = 0; i < model->body_count; i++) {
        for (algorithm a : {algorithm::body_pose, algorithm::body_jacobian, algorithm::body_motion}) {
            if (is_end_of_branch(model, i)) {
                add_if_small(model, a, i, &functions);
            }
        }
    }
    return functions;
}

static std::string object_source(const dyn_model *model) {
    std::vector<compiled_function> functions = object_functions(model);
    if (functions.empty()) {
        throw std::runtime_error("every function of this robot has more than 12000 operations, or 20000 results");
    }
    std::ostringstream source;
    source.exceptions(std::ios::badbit); /* throws when memory runs out, instead of truncating the text */
    emit_object(source, model, functions, canonical(model));
    return source.str();
}

static void run(const command &c) {
    model_pointer model = load(c);
    if (c.is_shared) {
        std::string source = object_source(model.get());
        model.reset();
        build_object(std::move(source), c.output, c.compiler);
    } else if (c.language != "c") {
        write_file(c.output, formulas(model.get(), c.language == "latex" ? notation::latex : notation::text));
    } else {
        write_alone(c, model.get());
    }
}

/* Touches the pages of the stack that the program may need, since the stack cannot grow when the address space is
 * exhausted. */
static void reserve_stack() {
    volatile char pages[256 << 10];
    for (size_t i = 0; i < sizeof pages; i += 4096) {
        pages[i] = 0;
    }
}

static void report_memory(const command &c) {
    size_t megabytes = c.compiler.memory_bytes >> 20;
    if (megabytes == 0) {
        std::fputs("dynamics-compile: there is not enough memory\n", stderr);
    } else {
        std::fprintf(stderr,
                     "dynamics-compile: %zu MB of memory are not enough for this robot; raise --memory-megabytes "
                     "(dynamicsd: [compile] memory_bytes)\n",
                     megabytes);
    }
}

/* Writes a line to standard error with only printable characters, since names of files and descriptions may contain any
 * byte. */
static void complain(const char *message) {
    std::string printed(5 * std::strlen(message) + 1, '\0');
    dyn_text_print(message, printed.data(), printed.size());
    std::fprintf(stderr, "dynamics-compile: %s\n", printed.c_str());
}

/* Runs an ordinary command line. */
static int run_command(int argc, char **argv) {
    command c;
    try {
        parse(argc, argv, c);
        run(c);
        return EXIT_SUCCESS;
    } catch (const usage_error &error) {
        complain(error.what());
        std::fputs("Try dynamics-compile --help.\n", stderr);
        return EXIT_USAGE;
    } catch (const std::bad_alloc &) {
        report_memory(c);
    } catch (const std::exception &error) {
        complain(error.what());
    }
    return EXIT_FAILURE;
}

/* Asks or serves a sandbox. */
static int run_sandbox(int argc, char **argv, const std::string &socket) {
    try {
        if (socket.empty()) {
            return sandbox_serve(STDIN_FILENO, argc > 2 ? argv[2] : "", run_command);
        }
        return sandbox_ask(socket, std::vector<std::string>(argv + 2, argv + argc));
    } catch (const std::exception &error) {
        complain(error.what());
    }
    return EXIT_FAILURE;
}

int main(int argc, char **argv) {
    static const char sandbox[] = "--sandbox=";
    const std::string first = argc > 1 ? argv[1] : "";
    reserve_stack();
    if (first == "--serve" || first.compare(0, sizeof sandbox - 1, sandbox) == 0) {
        return run_sandbox(argc, argv, first == "--serve" ? "" : first.substr(sizeof sandbox - 1));
    }
    return run_command(argc, argv);
}
