#include "CPlatform.h"

#include <pthread.h>

int hub_thread_start(size_t stack_bytes, void *(*entry)(void *), void *context) {
    pthread_attr_t attributes;
    int fault = pthread_attr_init(&attributes);
    if (fault != 0) return fault;
    pthread_t thread;
    fault = pthread_attr_setstacksize(&attributes, stack_bytes);
    if (fault == 0) fault = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (fault == 0) fault = pthread_create(&thread, &attributes, entry, context);
    pthread_attr_destroy(&attributes);
    return fault;
}
