/* Preloaded into a process tree: counts every call that changes a file, in all its processes together, and
 * kills the whole process group at the k-th one. A write is torn: half of it is done first. The counter lies
 * in a shared file named by KILL_COUNTER; a limit of 0 only counts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

struct counter {
    long count, limit, alone;
};

static struct counter *shared;
static __thread int inside;

static struct counter *counter(void) {
    if (!shared && !inside) {
        const char *path = getenv("KILL_COUNTER");
        inside = 1;
        int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
        if (fd >= 0) {
            void *at = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (at != MAP_FAILED)
                shared = at;
            close(fd);
        }
        inside = 0;
    }
    return shared;
}

/* Whether the k-th change is due now. */
static int due(void) {
    struct counter *at = counter();
    if (!at || at->limit < 0)
        return 0;
    long now = __sync_add_and_fetch(&at->count, 1);
    return at->limit > 0 && now == at->limit;
}

static void die(void) {
    kill(shared && shared->alone ? getpid() : 0, SIGKILL);
    for (;;)
        pause();
}

static int regular(int fd) {
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) {
    if (regular(fd) && due()) {
        if (size > 1)
            NEXT(write)(fd, data, size / 2);
        die();
    }
    return NEXT(write)(fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    if (due())
        die();
    return NEXT(pwrite64)(fd, data, size, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (regular(fd) && due())
        die();
    return NEXT(writev)(fd, parts, count);
}

#define GUARD(result, name, parameters, arguments) \
    result name parameters {                       \
        if (due())                                 \
            die();                                 \
        return NEXT(name) arguments;               \
    }

GUARD(int, fsync, (int fd), (fd))
GUARD(int, fdatasync, (int fd), (fd))
GUARD(int, rename, (const char *a, const char *b), (a, b))
GUARD(int, renameat, (int c, const char *a, int d, const char *b), (c, a, d, b))
GUARD(int, link, (const char *a, const char *b), (a, b))
GUARD(int, linkat, (int c, const char *a, int d, const char *b, int f), (c, a, d, b, f))
GUARD(int, unlink, (const char *a), (a))
GUARD(int, unlinkat, (int d, const char *a, int f), (d, a, f))
GUARD(int, mkdir, (const char *a, mode_t m), (a, m))
GUARD(int, rmdir, (const char *a), (a))
GUARD(int, chmod, (const char *a, mode_t m), (a, m))
GUARD(int, ftruncate64, (int fd, off64_t n), (fd, n))
