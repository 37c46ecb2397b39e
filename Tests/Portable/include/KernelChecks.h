#pragma once
/// Checks every kernel of this CPU against the scalar definition; prints what fails.
///
/// - returns: the number of checks that failed; `passed` gets that of the others.
int hub_check_kernels(int *passed);
