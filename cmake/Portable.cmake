# PERFGATE_PORTABLE: static libraries where the distribution has them, {fmt} by its headers. Shared ones
# that remain are looked for beside the program, where ci/release puts them.
list(PREPEND CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(CMAKE_BUILD_RPATH $ORIGIN)
# What libstdc++ brings and nobody calls asks for a newer glibc.
add_link_options(-static-libstdc++ -static-libgcc LINKER:--gc-sections)
set(PERFGATE_FMT fmt::fmt-header-only)

# Its package describes the shared library alone.
find_package(yaml-cpp REQUIRED)
find_library(YAML_CPP_ARCHIVE libyaml-cpp.a REQUIRED)
set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION_NONE ${YAML_CPP_ARCHIVE})
