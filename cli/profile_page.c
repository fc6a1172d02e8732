#include "cli/cmd_profile.h"
void gn_profile_page(const gn_cli_profile_of *z, FILE *to) {(void)z;(void)to;}
