// The low-level SHA-256 calls are "deprecated" in favour of EVP, which gives no way to read the state between two blocks:
// that state is what places damage in a large file (see RangeDigests).
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/err.h>
#include <openssl/sha.h>
