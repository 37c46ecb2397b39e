// The desktop's Secret Service, through libsecret where that is installed. Loaded at run time: nobody has to install it
// to build or to run hub. https://gnome.pages.gitlab.gnome.org/libsecret/
#ifdef __linux__
#define _GNU_SOURCE
#include "CPlatform.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

// The public structures of libsecret-1 and GLib, which their ABI fixes.
struct attribute { const char *name; int type; };
struct schema {
    const char *name;
    int flags;
    struct attribute attributes[32];
    int reserved;
    void *further[7];
};
struct fault { unsigned domain; int code; char *message; };

static const struct schema schema = {
    .name = "org.huggingface.hub.SignIn",
    .attributes = {{"item", 0}},
};

static struct {
    int (*store)(const struct schema *, const char *, const char *, const char *, void *, struct fault **, ...);
    char *(*lookup)(const struct schema *, void *, struct fault **, ...);
    int (*clear)(const struct schema *, void *, struct fault **, ...);
    void (*free_password)(char *);
    void *(*new_cancellable)(void);
    void (*cancel)(void *);
    void (*unref)(void *);
    void (*free_fault)(struct fault *);
} secret;
static int is_loaded;

static void load(void) {
    void *library = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    // The last ones belong to libraries that libsecret brings: dlsym(3) looks there, too.
    *(void **)&secret.store = dlsym(library, "secret_password_store_sync");
    *(void **)&secret.lookup = dlsym(library, "secret_password_lookup_sync");
    *(void **)&secret.clear = dlsym(library, "secret_password_clear_sync");
    *(void **)&secret.free_password = dlsym(library, "secret_password_free");
    *(void **)&secret.new_cancellable = dlsym(library, "g_cancellable_new");
    *(void **)&secret.cancel = dlsym(library, "g_cancellable_cancel");
    *(void **)&secret.unref = dlsym(library, "g_object_unref");
    *(void **)&secret.free_fault = dlsym(library, "g_error_free");
    is_loaded = secret.store && secret.lookup && secret.clear && secret.free_password && secret.new_cancellable
        && secret.cancel && secret.unref && secret.free_fault;
}

int hub_keyring_is_there(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded;
}

void *hub_keyring_begin(void) { return secret.new_cancellable(); }
void hub_keyring_cancel(void *call) { secret.cancel(call); }
void hub_keyring_end(void *call) { secret.unref(call); }

// Tells the fault and gives -1; 0 without one.
static int told(struct fault *fault, char *message, size_t size) {
    if (!fault) return 0;
    snprintf(message, size, "%s", fault->message ? fault->message : "unknown");
    secret.free_fault(fault);
    return -1;
}

int hub_keyring_store(
    void *call, const char *item, const char *label, const char *text, char *message, size_t size) {
    struct fault *fault = NULL;
    int done = secret.store(&schema, NULL, label, text, call, &fault, "item", item, NULL);
    if (told(fault, message, size) != 0) return -1;
    if (!done) snprintf(message, size, "it was not stored");
    return done ? 0 : -1;
}

int hub_keyring_lookup(
    void *call, const char *item, void (*found)(void *, const char *), void *context, char *message, size_t size) {
    struct fault *fault = NULL;
    char *text = secret.lookup(&schema, call, &fault, "item", item, NULL);
    if (told(fault, message, size) != 0) return -1;
    if (text) {
        found(context, text);
        secret.free_password(text);
    }
    return 0;
}

int hub_keyring_clear(void *call, const char *item, char *message, size_t size) {
    struct fault *fault = NULL;
    secret.clear(&schema, call, &fault, "item", item, NULL);
    return told(fault, message, size);
}
#endif
