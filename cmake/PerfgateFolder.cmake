# perfgate_folder(NAME USES folder... DOORS library... EMBED glob...)
# Makes src/NAME/*.cc (main.cc left out) the static library perfgate_NAME. USES are the folders whose
# public header it may include, DOORS the third-party libraries, EMBED files of the source tree that
# the folder carries as text: `#include "embedded_NAME.h"` gives `kEmbeddedFiles`.
function(perfgate_folder name)
  cmake_parse_arguments(ARG "" "" "USES;DOORS;EMBED" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  set(target perfgate_${name})
  if(NOT sources)
    add_library(${target} INTERFACE)
    return()
  endif()
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE perfgate_flags ${PERFGATE_FMT})
  foreach(folder IN LISTS ARG_USES)
    target_link_libraries(${target} PUBLIC perfgate_${folder})
  endforeach()
  foreach(door IN LISTS ARG_DOORS)
    if(NOT door STREQUAL "rapidjson")  # header-only, on the system include path
      target_link_libraries(${target} PRIVATE ${door})
    endif()
  endforeach()
  if(ARG_EMBED)
    perfgate_embed(${target} ${name} ${ARG_EMBED})
  endif()
  target_compile_definitions(${target} PRIVATE PERFGATE_VERSION="${PROJECT_VERSION}")
  if(PERFGATE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 40)
  endif()
endfunction()

function(perfgate_embed target name)
  set(files)
  foreach(pattern IN LISTS ARGN)
    file(GLOB matched CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${pattern})
    list(APPEND files ${matched})
  endforeach()
  list(SORT files)
  set(paths ${files})
  list(TRANSFORM paths PREPEND ${PROJECT_SOURCE_DIR}/)
  set(out ${PROJECT_BINARY_DIR}/embedded/embedded_${name}.h)
  string(REPLACE ";" "|" joined "${files}")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} "-DFILES=${joined}" -DOUT=${out}
            -P ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/embedded)
endfunction()
