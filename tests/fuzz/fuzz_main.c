/*
 * fuzz_main.c - runs a fuzzer without libFuzzer: over its corpus, and over simple mutations of it
 *
 *   fuzz-codec [--rounds N] FILE|DIR...
 *
 * The same input in every run: each file as it is, then N times with a few bytes changed, cut or
 * doubled. So every ordinary test run replays what a fuzzer once found.
 */
#include "common/base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

enum { DEFAULT_ROUNDS = 200, LARGEST_INPUT = 1 << 20, LONGEST_PATH = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t state = 88172645463325252ULL;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* The input ends where its allocation ends, so that ASan sees a read past it. */
static void run_exact(const uint8_t *data, size_t size)
{
    CLEANUP(free_p) uint8_t *exact = xmalloc(size ? size : 1);

    if (size)
        memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
}

static size_t mutate(uint8_t *buf, size_t size)
{
    size_t changes = 1 + next_random() % 4;

    for (size_t i = 0; i < changes && size > 0; i++) {
        uint8_t *at = &buf[next_random() % size];

        switch (next_random() % 4) {
        case 0:
            *at = (uint8_t)next_random();
            break;
        case 1:
            *at ^= (uint8_t)(1u << next_random() % 8);
            break;
        case 2:
            *at = next_random() % 2 ? 0xff : 0x7f;
            break;
        default:
            if (next_random() % 4 == 0)
                size = (size_t)(at - buf);
            break;
        }
    }
    return size;
}

static int run_file(const char *path, long rounds)
{
    CLEANUP(free_p) uint8_t *buf = xmalloc(LARGEST_INPUT);
    CLEANUP(free_p) uint8_t *copy = xmalloc(LARGEST_INPUT);
    FILE *f = fopen(path, "rb");

    if (!f) {
        perror(path);
        return 1;
    }
    size_t size = fread(buf, 1, LARGEST_INPUT, f);
    fclose(f);
    run_exact(buf, size);
    for (long i = 0; i < rounds; i++) {
        memcpy(copy, buf, size);
        run_exact(copy, mutate(copy, size));
    }
    return 0;
}

static int run_dir(const char *path, long rounds)
{
    struct dirent **names;
    int n = scandir(path, &names, NULL, alphasort), failed = 0;

    if (n < 0) {
        perror(path);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        char file[LONGEST_PATH];

        snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            failed |= run_file(file, rounds);
        free(names[i]);
    }
    free(names);
    return failed;
}

int main(int argc, char **argv)
{
    long rounds = DEFAULT_ROUNDS;
    int failed = 0;

    for (int i = 1; i < argc; i++) {
        struct stat st;

        if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            rounds = strtol(argv[++i], NULL, 10);
        else if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
            failed |= run_dir(argv[i], rounds);
        else
            failed |= run_file(argv[i], rounds);
    }
    return failed;
}
