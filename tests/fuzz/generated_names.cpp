/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: uses the lines of any text as the names of a robot, its links and its joints, and generates C for the
 * robot. The C is printable ASCII. Without comments and strings it equals the C of a robot with harmless names. The
 * string literals of a shared object's source contain the robot's description byte for byte.
 */
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <dynamics/dynamics.h>

#include "alone.h"
#include "escape.h"
#include "object.h"

#include "target.h"

enum { LINKS = 3 };

static const size_limits most = {1 << 20, 1 << 20};

static void require(bool holds, const char *property) {
    if (!holds) {
        std::fprintf(stderr, "does not hold: %s\n", property);
        std::abort();
    }
}

/* ---- C, as a compiler reads it ----------------------------------------------------------------------------------- */

/* Applies the first phases of translation: replaces trigraphs, if they are enabled, and joins a line that ends with a
 * backslash to the next one. Blanks after the backslash are ignored, as gcc does. */
static std::string translated(const std::string &text, bool has_trigraphs) {
    static const std::map<char, char> trigraphs = {{'=', '#'}, {'/', '\\'}, {'\'', '^'}, {'(', '['}, {')', ']'},
                                                   {'!', '|'}, {'<', '{'},  {'>', '}'},  {'-', '~'}};
    std::string plain, spliced;
    for (size_t i = 0; i < text.size(); i++) {
        bool is_trigraph =
            has_trigraphs && text.compare(i, 2, "??") == 0 && i + 2 < text.size() && trigraphs.count(text[i + 2]) > 0;
        plain += is_trigraph ? trigraphs.at(text[i + 2]) : text[i];
        i += is_trigraph ? 2 : 0;
    }
    for (size_t i = 0; i < plain.size(); i++) {
        size_t end = plain[i] == '\\' ? plain.find_first_not_of(" \t", i + 1) : std::string::npos;
        if (end != std::string::npos && plain[end] == '\n') {
            i = end;
        } else {
            spliced += plain[i];
        }
    }
    return spliced;
}

/* C source without comments, in which all string and character literals are empty, and the contents of the literals. */
struct stripped {
    std::string code;
    std::vector<std::string> literals;
};

/* Appends an empty literal to s->code, and the contents of the literal that begins with the quote at `i` to
 * s->literals. Returns the index after the literal. */
static size_t skip_literal(const std::string &text, size_t i, stripped *s) {
    char quote = text[i];
    size_t first = i + 1, end = first;
    while (end < text.size() && text[end] != quote && text[end] != '\n') {
        end += text[end] == '\\' ? 2 : 1;
    }
    require(end < text.size() && text[end] == quote, "literals end in their line");
    s->code += quote;
    s->code += quote;
    s->literals.push_back(text.substr(first, end - first));
    return end + 1;
}

static stripped strip(const std::string &text) {
    stripped s;
    for (size_t i = 0; i < text.size();) {
        if (text.compare(i, 2, "/*") == 0) {
            size_t end = text.find("*/", i + 2);
            require(end != std::string::npos, "comments end");
            i = end + 2;
            s.code += ' ';
        } else if (text.compare(i, 2, "//") == 0) {
            i = std::min(text.find('\n', i), text.size());
        } else if (text[i] == '"' || text[i] == '\'') {
            i = skip_literal(text, i, &s);
        } else {
            s.code += text[i++];
        }
    }
    return s;
}

/* Returns the bytes that the contents of a literal denote. Escapes are \n or a backslash and three octal digits. */
static std::string value_of(const std::string &literal) {
    std::string value;
    for (size_t i = 0; i < literal.size();) {
        if (literal[i] != '\\') {
            value += literal[i++];
        } else if (literal.compare(i, 2, "\\n") == 0) {
            value += '\n';
            i += 2;
        } else {
            require(literal.find_first_not_of("01234567", i + 1) >= std::min(i + 4, literal.size()),
                    "escapes are octal");
            value += (char)std::stoi(literal.substr(i + 1, 3), nullptr, 8);
            i += 4;
        }
    }
    return value;
}

/* ---- robots ------------------------------------------------------------------------------------------------------ */

/* Builds a chain of LINKS links: names[0] is the name of the robot, names[i] that of link i and of the joint that moves
 * it. Returns NULL if the library refuses a name. */
static dyn_model *build(const std::vector<std::string> &names) {
    dyn_builder *builder = nullptr;
    dyn_model *model = nullptr;
    dyn_error error;
    dyn_build_options options = {};
    options.struct_size = sizeof options;
    dyn_status status = dyn_builder_create(names[0].c_str(), &builder, &error);
    for (size_t i = 1; status == DYN_OK && i <= LINKS; i++) {
        dyn_link_description link = {};
        link.name = names[i].c_str();
        link.inertia.mass = 1;
        status = dyn_builder_add_link(builder, &link, &error);
    }
    for (size_t i = 2; status == DYN_OK && i <= LINKS; i++) {
        dyn_joint_description joint = {};
        joint.name = names[i].c_str();
        joint.type = DYN_JOINT_TYPE_CONTINUOUS;
        joint.parent_link = names[i - 1].c_str();
        joint.child_link = names[i].c_str();
        joint.rotation[0] = joint.rotation[4] = joint.rotation[8] = joint.axis[1] = joint.position[0] = 1;
        status = dyn_builder_add_joint(builder, &joint, &error);
    }
    if (status == DYN_OK) {
        status = dyn_builder_build(builder, &options, nullptr, &model, &error);
    }
    dyn_builder_free(builder);
    return status == DYN_OK ? model : nullptr;
}

/* Generates three texts for a robot: C source that is compiled alone, its header, and the source of a shared object. */
static std::vector<std::string> generate(const dyn_model *model, const std::string &canonical, const char *header) {
    std::string prefix = identifier(dyn_model_name(model)) + "_";
    alone_file file = {model, "digest", header, {emit_target::alone, false, prefix}, {}};
    file.functions.push_back(specialize(model, algorithm::gravity, 0, most));
    file.functions.push_back(specialize_frame(model, LINKS - 1, most));
    std::ostringstream object;
    std::vector<compiled_function> functions;
    functions.push_back(specialize(model, algorithm::gravity, 0, most));
    emit_object(object, model, functions, canonical);
    return {alone_source(file), alone_header(file), object.str()};
}

static std::string canonical_of(const dyn_model *model) {
    char *text;
    size_t length;
    dyn_error error;
    require(dyn_model_canonical(model, &text, &length, &error) == DYN_OK, "models have a canonical description");
    std::string copy(text, length);
    dyn_text_free(text);
    return copy;
}

static void compare(const std::string &hostile, const std::string &harmless) {
    require(hostile.find_first_not_of("\n !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
                                      "abcdefghijklmnopqrstuvwxyz{|}~") == std::string::npos,
            "generated text is printable ASCII");
    for (bool has_trigraphs : {false, true}) {
        require(strip(translated(hostile, has_trigraphs)).code == strip(translated(harmless, has_trigraphs)).code,
                "code does not depend on names");
    }
}

/* Checks that the literals of an object's source from the array `model` on, joined, begin with the canonical
 * description. */
static void check_description(const std::string &object, const std::string &canonical) {
    std::string value;
    for (const std::string &literal :
         strip(translated(object.substr(object.find("static const char model[]")), true)).literals) {
        value += value_of(literal);
    }
    require(value.compare(0, canonical.size(), canonical) == 0, "an object has the description byte for byte");
}

static std::vector<std::string> names_of(const uint8_t *data, size_t size) {
    std::istringstream lines(std::string((const char *)data, size));
    std::vector<std::string> names;
    for (std::string line; names.size() <= LINKS && std::getline(lines, line);) {
        names.push_back(line.c_str()); /* up to a zero */
    }
    while (names.size() <= LINKS) {
        names.push_back("n" + std::to_string(names.size()));
    }
    return names;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    std::vector<std::string> names = names_of(data, size), harmless;
    for (const std::string &name : names) {
        harmless.push_back(identifier(name));
    }
    if (std::set<std::string>(harmless.begin() + 1, harmless.end()).size() < LINKS) {
        return 0;
    }
    dyn_model *model = build(names), *plain = build(harmless);
    if (model && plain) {
        const char *header = can_be_included(names[0]) ? names[0].c_str() : "robot.h";
        std::string canonical = canonical_of(model);
        std::vector<std::string> found = generate(model, canonical, header);
        std::vector<std::string> expected = generate(plain, canonical_of(plain), header);
        for (size_t i = 0; i < found.size(); i++) {
            compare(found[i], expected[i]);
        }
        check_description(found[2], canonical);
    }
    dyn_model_free(model);
    dyn_model_free(plain);
    return 0;
}
