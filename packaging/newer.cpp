// What Swift's own libraries, compiled with a newer C++ library, call of it and Debian 11's does not have.
#include <new>

namespace std {
[[noreturn]] void __throw_bad_array_new_length() { throw std::bad_array_new_length(); }
} // namespace std
