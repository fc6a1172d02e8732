# Digests of sources as C strings:
#   cmake -DROOT=<folder> -DCODE=<files;...> -DRULES=<files;...> -DOUT=<file.c>
#         -P cmake/code_id.cmake
function(digest_of out)
  set(all "")
  list(SORT ARGN)
  foreach(file IN LISTS ARGN)
    file(SHA256 "${ROOT}/${file}" digest)
    string(APPEND all "${file} ${digest}\n")
  endforeach()
  string(SHA256 digest "${all}")
  set(${out} "${digest}" PARENT_SCOPE)
endfunction()
digest_of(code ${CODE})
digest_of(rules ${RULES})
file(WRITE "${OUT}" "/* Generated: digests of the sources that decide what code a kernel becomes, \
and what kernels a model becomes. */
extern const char gn_code_id[], gn_rules_id[];
const char gn_code_id[] = \"${code}\";
const char gn_rules_id[] = \"${rules}\";
")
