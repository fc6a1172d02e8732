# Manual pages of the commands and completion for shells, which the program itself writes:
# -DGNNC=<program> -DOUT=<folder> -DCOMMANDS=<names, commas between>.
function(write name)
  get_filename_component(folder "${OUT}/${name}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND "${GNNC}" ${ARGN} OUTPUT_FILE "${OUT}/${name}" RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "${GNNC} ${ARGN}: ${result}")
  endif()
endfunction()

string(REPLACE "," ";" COMMANDS "${COMMANDS}")
foreach(command IN LISTS COMMANDS)
  write(man/man1/gnnc-${command}.1 --man ${command})
endforeach()
write(bash-completion/completions/gnnc --completion bash)
write(zsh/site-functions/_gnnc --completion zsh)
write(fish/vendor_completions.d/gnnc.fish --completion fish)
