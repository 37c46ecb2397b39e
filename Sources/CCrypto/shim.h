// OpenSSL deprecates the low-level SHA-256 calls, but EVP cannot export the state between two blocks. RangeDigests
// needs that state to locate damage in a large file.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/err.h>
#include <openssl/sha.h>
