/* Preloaded into a process tree: counts every call that changes a file, in all its processes together. At the
 * k-th one it kills the whole process group (KILL_GROUP) or just the process that makes it (KILL_ONE); a write
 * is torn: half of it is done first. Or, from the k-th one on, the disk is full (FILL): whatever needs room
 * fails with ENOSPC. The counter lies in a shared file named by KILL_COUNTER; a limit of 0 only counts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { KILL_GROUP, KILL_ONE, FILL };

struct counter {
    long count, limit, mode;
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

static void die(void) {
    kill(shared->mode == KILL_ONE ? getpid() : 0, SIGKILL);
    for (;;)
        pause();
}

/* Count one change. True when it has to fail; doesn't return when it is the one to die at, unless `torn`
 * is given: then that is set, for the caller to do half of it before it dies. */
static int refused(int needs_room, int *torn) {
    struct counter *at = counter();
    if (!at || at->limit < 0)
        return 0;
    long now = __sync_add_and_fetch(&at->count, 1);
    if (at->limit == 0 || now < at->limit)
        return 0;
    if (at->mode == FILL) {
        errno = ENOSPC;
        return needs_room;
    }
    if (now == at->limit) {
        if (!torn)
            die();
        *torn = 1;
    }
    return 0;
}

static int regular(int fd) {
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) {
    int torn = 0;
    if (regular(fd) && refused(1, &torn))
        return -1;
    if (torn) {
        NEXT(write)(fd, data, size / 2);
        die();
    }
    return NEXT(write)(fd, data, size);
}

#define GUARD(result, name, needs_room, parameters, arguments) \
    result name parameters {                                   \
        if (refused(needs_room, 0))                            \
            return -1;                                         \
        return NEXT(name) arguments;                           \
    }

GUARD(ssize_t, pwrite64, 1, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at))
GUARD(ssize_t, writev, 1, (int fd, const struct iovec *parts, int n), (fd, parts, n))
GUARD(int, fsync, 1, (int fd), (fd))
GUARD(int, fdatasync, 1, (int fd), (fd))
GUARD(int, rename, 0, (const char *a, const char *b), (a, b))
GUARD(int, renameat, 0, (int c, const char *a, int d, const char *b), (c, a, d, b))
GUARD(int, link, 1, (const char *a, const char *b), (a, b))
GUARD(int, linkat, 1, (int c, const char *a, int d, const char *b, int f), (c, a, d, b, f))
GUARD(int, unlink, 0, (const char *a), (a))
GUARD(int, unlinkat, 0, (int d, const char *a, int f), (d, a, f))
GUARD(int, mkdir, 1, (const char *a, mode_t m), (a, m))
GUARD(int, rmdir, 0, (const char *a), (a))
GUARD(int, chmod, 0, (const char *a, mode_t m), (a, m))
GUARD(int, ftruncate64, 0, (int fd, off64_t n), (fd, n))
