/* A digest of the sources that decide what code a kernel's text becomes, made by
 * cmake/code_id.cmake: code that another state of gnnc compiled and kept is not this one's. */
#ifndef GN_COMPILE_CODE_ID_H
#define GN_COMPILE_CODE_ID_H

extern const char gn_code_id[];
/* Likewise of those that decide what kernels a model becomes: what was tuned for another state is
 * not for this one. */
extern const char gn_rules_id[];

#endif
