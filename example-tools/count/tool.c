/* Lines, words and bytes of a file: a tool in C, with autocode.h for the contract and stdio for the rest. */

#include <ctype.h>
#include <errno.h>

#include "autocode.h"

/* Without a "name" the tool is called like its file. */
const char *tool_schema(void) {
    return "{\"description\": \"Count the lines, words and bytes of a file.\","
           " \"parameters\": {\"type\": \"object\", \"required\": [\"path\"], \"properties\":"
           " {\"path\": {\"type\": \"string\", \"description\": \"The file.\"}}}}";
}

char *tool_run(const char *args, bool *failed) {
    const char *path = json_string(args, "path");
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file) {
        *failed = true;
        return text("cannot read %s: %s", path ? path : "nothing", strerror(errno));
    }
    unsigned long long lines = 0, words = 0, bytes = 0;
    bool in_word = false;
    char block[1 << 14];
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0; bytes += got) {
        for (size_t i = 0; i < got; i++) {
            lines += block[i] == '\n';
            bool space = isspace((unsigned char)block[i]);
            words += !space && !in_word;
            in_word = !space;
        }
    }
    if (ferror(file)) {
        *failed = true;
        return text("cannot read %s: %s", path, strerror(errno));
    }
    return text("%llu lines, %llu words, %llu bytes", lines, words, bytes);
}
