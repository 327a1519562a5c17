/* What a tool in C needs: the two exports of the tool contract, and strings out of JSON.
 *
 * Include this once and define `tool_schema` and `tool_run`:
 *
 *   const char *tool_schema(void) { return "{\"description\": …, \"parameters\": …}"; }
 *   char *tool_run(const char *args, bool *failed) { return text("an answer for %s", json_string(args, "path")); }
 *
 * Memory is never freed: each call runs in an instance of its own. */
#ifndef AUTOCODE_H
#define AUTOCODE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *tool_schema(void);
/* The answer, or with *failed set why there is none. */
char *tool_run(const char *args, bool *failed);

/* printf into new memory. */
__attribute__((format(printf, 1, 2))) static char *text(const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *out = malloc(length + 1);
    vsnprintf(out, length + 1, format, again);
    va_end(args);
    va_end(again);
    return out;
}

/* One code point as UTF-8. */
static char *json_utf8(char *out, uint32_t code) {
    if (code < 0x80) {
        *out++ = code;
        return out;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *out++ = (0xf0 << (3 - more) & 0xff) | code >> 6 * more;
    while (more-- > 0) *out++ = 0x80 | (code >> 6 * more & 0x3f);
    return out;
}

/* The string that starts at `in`, behind its opening quote; *end is where it stopped. */
static char *json_unescape(const char *in, const char **end) {
    char *out = malloc(strlen(in) + 1), *at = out;
    for (; *in && *in != '"'; in++) {
        if (*in != '\\') {
            *at++ = *in;
            continue;
        }
        static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
        const char *known = strchr(from, *++in);
        if (*in == 'u') {
            uint32_t code = 0, low = 0;
            sscanf(in + 1, "%4x", &code);
            in += 4;
            if (code >> 10 == 0x36 && in[1] == '\\' && in[2] == 'u' && sscanf(in + 3, "%4x", &low)) {
                code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
                in += 6;
            }
            at = json_utf8(at, code);
        } else {
            *at++ = *in && known ? to[known - from] : *in;
        }
    }
    *at = 0;
    *end = *in ? in + 1 : in;
    return out;
}

/* Where the value of `key` starts in a JSON object, or NULL. autocode checks arguments against the schema first. */
static const char *json_value(const char *object, const char *key) {
    int depth = 0;
    for (const char *at = object; *at;) {
        if (*at == '"') {
            char *name = json_unescape(at + 1, &at);
            at += strspn(at, " \t\r\n");
            if (depth == 1 && *at == ':' && strcmp(name, key) == 0) return at + 1 + strspn(at + 1, " \t\r\n");
        } else {
            depth += *at == '{' || *at == '[';
            depth -= *at == '}' || *at == ']';
            at++;
        }
    }
    return NULL;
}

/* A string among the arguments, or NULL where there is none. */
__attribute__((unused)) static char *json_string(const char *object, const char *key) {
    const char *value = json_value(object, key);
    return value && *value == '"' ? json_unescape(value + 1, &value) : NULL;
}

/* A number among the arguments, or `otherwise`. */
__attribute__((unused)) static double json_number(const char *object, const char *key, double otherwise) {
    const char *value = json_value(object, key);
    char *end;
    double number = value ? strtod(value, &end) : otherwise;
    return value && end == value ? otherwise : number;
}

/* The canonical ABI of the component model. */

struct tool_string { const char *ptr; size_t length; };
struct tool_answer { uint8_t failed; struct tool_string text; };

__attribute__((export_name("cabi_realloc"))) void *tool_realloc(void *old, size_t old_size, size_t align, size_t size) {
    (void)old_size;
    /* malloc aligns for everything that the contract passes. */
    void *new = size ? realloc(old, size) : (void *)align;
    if (!new) __builtin_trap();
    return new;
}

__attribute__((export_name("schema"))) struct tool_string *tool_export_schema(void) {
    static struct tool_string out;
    out.ptr = tool_schema();
    out.length = strlen(out.ptr);
    return &out;
}

__attribute__((export_name("run"))) struct tool_answer *tool_export_run(const char *args, size_t length) {
    static struct tool_answer out;
    bool failed = false;
    /* Relative paths start where the agent works. */
    const char *cwd = getenv("PWD");
    if (cwd && chdir(cwd) != 0) fprintf(stderr, "cannot work in %s\n", cwd);
    out.text.ptr = tool_run(length ? strndup(args, length) : "{}", &failed);
    out.text.length = strlen(out.text.ptr);
    out.failed = failed;
    return &out;
}

#endif
