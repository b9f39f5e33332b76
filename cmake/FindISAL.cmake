# ISAL::ISAL, Intel's library for gzip (Debian: libisal-dev). Sets ISAL_VERSION.
find_path(ISAL_INCLUDE_DIR isa-l/igzip_lib.h)
find_library(ISAL_LIBRARY isal)

if(ISAL_INCLUDE_DIR)
  file(STRINGS ${ISAL_INCLUDE_DIR}/isa-l.h _isal_lines REGEX "define ISAL_(MAJOR|MINOR|PATCH)_VERSION ")
  string(REGEX MATCHALL "VERSION ([0-9]+)" _isal_numbers "${_isal_lines}")
  list(TRANSFORM _isal_numbers REPLACE "VERSION " "")
  list(JOIN _isal_numbers "." ISAL_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ISAL REQUIRED_VARS ISAL_LIBRARY ISAL_INCLUDE_DIR VERSION_VAR ISAL_VERSION)

if(ISAL_FOUND AND NOT TARGET ISAL::ISAL)
  add_library(ISAL::ISAL UNKNOWN IMPORTED)
  set_target_properties(ISAL::ISAL PROPERTIES IMPORTED_LOCATION ${ISAL_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${ISAL_INCLUDE_DIR})
endif()
