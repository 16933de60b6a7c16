/*
 * A shim for LD_PRELOAD that makes the n-th file operation fail, or kills the process there.
 *
 * A call is counted when its absolute path matches the pattern SHIM_PATH (required; as in a shell,
 * but * matches / too, so "/data/x*" is a prefix), its kind is in SHIM_CALLS, and the file SHIM_WHILE
 * exists (if that variable is set: a test switches the fault on and off by making and removing
 * the file). A call by file descriptor has the path that
 * /proc/self/fd gives. Kinds: write pwrite fsync fdatasync ftruncate rename link unlink mkdir, and
 * open, which means an open that may create (O_CREAT).
 *
 *   SHIM_CALLS    comma-separated kinds; unset = all
 *   SHIM_AT       n, from 1: the counted call to act on; 0 or unset = count only
 *   SHIM_ACTION   kill    SIGKILL instead of the call
 *                 torn    write the first half, then SIGKILL; like kill for what is not a write
 *                 eio     return -1 with errno EIO, without the call
 *                 enospc  return -1 with errno ENOSPC, without the call
 *   SHIM_STICKY   1 = act on every counted call from the n-th on (a full disk stays full)
 *   SHIM_REPORT   a file that gets the lines "PID fired N KIND PATH" and, at a normal exit,
 *                 "PID count N" (not after SIGKILL or _exit)
 *
 * Not here: calls that libc makes inside itself (fopen, mkstemp), vectored writes, sendfile, mmap.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static long counted;

/* The shim's own calls go to the kernel directly, so that they are never counted. */
static void report(const char *text, int length) {
    const char *file = getenv("SHIM_REPORT");
    if (!file) return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return;
    syscall(SYS_write, fd, text, (size_t)length);
    close(fd);
}

__attribute__((destructor)) static void report_count(void) {
    char line[64];
    report(line, snprintf(line, sizeof line, "%d count %ld\n", (int)getpid(), counted));
}

static int listed(const char *kind) {
    const char *at = getenv("SHIM_CALLS");
    size_t length = strlen(kind);
    if (!at) return 1;
    for (; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && !strncmp(at, kind, length)) return 1;
    return 0;
}

static void path_of_descriptor(int fd, char *out) {
    char link[64];
    ssize_t length;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, out, PATH_MAX - 1);
    out[length < 0 ? 0 : length] = 0;
}

static void path_of_name(int directory, const char *name, char *out) {
    char base[PATH_MAX] = "";
    if (name[0] == '/') {
        snprintf(out, PATH_MAX, "%s", name);
        return;
    }
    if (directory != AT_FDCWD) path_of_descriptor(directory, base);
    else if (!getcwd(base, sizeof base)) base[0] = 0;
    if (snprintf(out, PATH_MAX, "%s/%s", base, name) >= PATH_MAX) out[0] = 0;
}

enum action { PASS, KILL, TORN, FAIL };

/* Counts the call; what has to be done instead of it. FAIL has set errno. */
static enum action decide(const char *kind, const char *path) {
    const char *pattern = getenv("SHIM_PATH"), *at = getenv("SHIM_AT"), *action = getenv("SHIM_ACTION");
    const char *sticky = getenv("SHIM_STICKY"), *during = getenv("SHIM_WHILE");
    int saved = errno;
    if (!pattern || fnmatch(pattern, path, 0) || !listed(kind)) return PASS;
    if (during && access(during, F_OK)) {
        errno = saved;
        return PASS;
    }
    long number = __atomic_add_fetch(&counted, 1, __ATOMIC_SEQ_CST);
    long wanted = at ? atol(at) : 0;
    if (wanted < 1 || number < wanted) return PASS;
    if (number > wanted && !(sticky && *sticky == '1')) return PASS;
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%d fired %ld %s %s\n", (int)getpid(), number, kind, path);
    report(line, length < (int)sizeof line ? length : (int)sizeof line - 1);
    if (action && !strcmp(action, "torn")) return TORN;
    if (action && (!strcmp(action, "eio") || !strcmp(action, "enospc"))) {
        errno = strcmp(action, "eio") ? ENOSPC : EIO;
        return FAIL;
    }
    return KILL;
}

static _Noreturn void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int refused(const char *kind, const char *path) {
    enum action action = decide(kind, path);
    if (action == KILL || action == TORN) die();
    return action == FAIL;
}

static int refused_descriptor(const char *kind, int fd) {
    char path[PATH_MAX];
    path_of_descriptor(fd, path);
    return refused(kind, path);
}

static int refused_name(const char *kind, int directory, const char *name) {
    char path[PATH_MAX];
    path_of_name(directory, name, path);
    return refused(kind, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define WRITE(name, kind, parameters, whole, half)      \
    ssize_t name parameters {                           \
        char path[PATH_MAX];                            \
        path_of_descriptor(fd, path);                   \
        switch (decide(kind, path)) {                   \
            case PASS: return REAL(name) whole;         \
            case FAIL: return -1;                       \
            case TORN: (void)!REAL(name) half; die();   \
            case KILL: die();                           \
        }                                               \
        return -1;                                      \
    }
WRITE(write, "write", (int fd, const void *data, size_t size), (fd, data, size), (fd, data, size / 2))
WRITE(pwrite, "pwrite", (int fd, const void *data, size_t size, off_t at), (fd, data, size, at),
      (fd, data, size / 2, at))
WRITE(pwrite64, "pwrite", (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at),
      (fd, data, size / 2, at))

#define BY_DESCRIPTOR(name, kind, parameters, arguments) \
    int name parameters { return refused_descriptor(kind, fd) ? -1 : REAL(name) arguments; }
BY_DESCRIPTOR(fsync, "fsync", (int fd), (fd))
BY_DESCRIPTOR(fdatasync, "fdatasync", (int fd), (fd))
BY_DESCRIPTOR(ftruncate, "ftruncate", (int fd, off_t size), (fd, size))
BY_DESCRIPTOR(ftruncate64, "ftruncate", (int fd, off64_t size), (fd, size))

/* What has two names is counted by the new one: that is the one that appears. */
#define BY_NAME(name, kind, directory, path, parameters, arguments) \
    int name parameters { return refused_name(kind, directory, path) ? -1 : REAL(name) arguments; }
BY_NAME(rename, "rename", AT_FDCWD, to, (const char *from, const char *to), (from, to))
BY_NAME(renameat, "rename", d2, to, (int d1, const char *from, int d2, const char *to), (d1, from, d2, to))
BY_NAME(renameat2, "rename", d2, to, (int d1, const char *from, int d2, const char *to, unsigned flags),
        (d1, from, d2, to, flags))
BY_NAME(link, "link", AT_FDCWD, to, (const char *from, const char *to), (from, to))
BY_NAME(linkat, "link", d2, to, (int d1, const char *from, int d2, const char *to, int flags),
        (d1, from, d2, to, flags))
BY_NAME(unlink, "unlink", AT_FDCWD, name, (const char *name), (name))
BY_NAME(unlinkat, "unlink", d, name, (int d, const char *name, int flags), (d, name, flags))
BY_NAME(mkdir, "mkdir", AT_FDCWD, name, (const char *name, mode_t mode), (name, mode))
BY_NAME(mkdirat, "mkdir", d, name, (int d, const char *name, mode_t mode), (d, name, mode))

#define OPEN(name, directory, parameters, arguments)                            \
    int name parameters {                                                       \
        mode_t mode = 0;                                                        \
        if (flags & (O_CREAT | __O_TMPFILE)) {                                  \
            va_list rest;                                                       \
            va_start(rest, flags);                                              \
            mode = va_arg(rest, mode_t);                                        \
            va_end(rest);                                                       \
        }                                                                       \
        if ((flags & O_CREAT) && refused_name("open", directory, path)) return -1; \
        return REAL(name) arguments;                                            \
    }
OPEN(open, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, d, (int d, const char *path, int flags, ...), (d, path, flags, mode))
OPEN(openat64, d, (int d, const char *path, int flags, ...), (d, path, flags, mode))
