/* Elsewhere: what things are called here that people know by names of Python, PyTorch, PyTorch
 * Geometric and DGL.
 *
 * One table for whatever reports a name, a word or a field that is not known. */
#ifndef GN_FRONTEND_ELSEWHERE_H
#define GN_FRONTEND_ELSEWHERE_H

/* What to write instead, as the end of a message: "; classes are `C`".  NULL: the word is not known
 * from elsewhere. */
const char *gn_elsewhere(const char *word);

#endif
