# A digest of sources as a C string: cmake -DROOT=<folder> -DFILES=<files;...> -DOUT=<file.c> -P cmake/code_id.cmake
set(all "")
list(SORT FILES)
foreach(file IN LISTS FILES)
  file(SHA256 "${ROOT}/${file}" digest)
  string(APPEND all "${file} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
file(WRITE "${OUT}" "/* Generated: a digest of the sources that decide what code a kernel becomes. */
extern const char gn_code_id[];
const char gn_code_id[] = \"${digest}\";
")
