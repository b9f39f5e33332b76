# CUPTI::headers, the headers of CUPTI, CUDA and NVTX: all that the collector needs to build. It opens
# CUPTI itself at run time.
#
# Where it looks, first match wins:
#   -DCUPTI_ROOT=DIR                             a CUDA toolkit, or nvidia/cu13 of the torch wheel
#   the CUDA toolkit                             CUDA_HOME, CUDA_PATH, /usr/local/cuda
#   the torch wheel                              LibTorch_ROOT_DIR/../nvidia/cu13, if LibTorch was found
# Sets CUPTI_INCLUDE_DIR and CUPTI_VERSION.
find_path(
  CUPTI_INCLUDE_DIR cupti.h
  HINTS ${CUPTI_ROOT} ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda ${LibTorch_ROOT_DIR}/../nvidia/cu13
  PATH_SUFFIXES include extras/CUPTI/include
  NO_DEFAULT_PATH)
find_path(
  CUPTI_CUDA_INCLUDE_DIR NAMES nvtx3/nvToolsExt.h
  HINTS ${CUPTI_INCLUDE_DIR} ${CUPTI_INCLUDE_DIR}/../../../include
  NO_DEFAULT_PATH)
# A toolkit has it with the others; of the wheels only triton's.
find_path(
  CUPTI_CRT_INCLUDE_DIR NAMES crt/host_defines.h
  HINTS ${CUPTI_CUDA_INCLUDE_DIR} ${CUPTI_INCLUDE_DIR}/../../../triton/backends/nvidia/include
  NO_DEFAULT_PATH)
mark_as_advanced(CUPTI_INCLUDE_DIR CUPTI_CUDA_INCLUDE_DIR CUPTI_CRT_INCLUDE_DIR)

if(CUPTI_INCLUDE_DIR)
  file(STRINGS ${CUPTI_INCLUDE_DIR}/cupti_version.h _cupti_line REGEX "define CUPTI_API_VERSION ")
  string(REGEX REPLACE ".* ([0-9]+).*" "\\1" CUPTI_VERSION "${_cupti_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  CUPTI
  REQUIRED_VARS CUPTI_INCLUDE_DIR CUPTI_CUDA_INCLUDE_DIR CUPTI_CRT_INCLUDE_DIR
  VERSION_VAR CUPTI_VERSION
  REASON_FAILURE_MESSAGE
    "no headers of CUPTI. Run ci/setup, which brings them with torch, or point -DCUPTI_ROOT at a CUDA toolkit, or build without the collector: -DPERFGATE_CUPTI=OFF.")

if(CUPTI_FOUND AND NOT TARGET CUPTI::headers)
  add_library(CUPTI::headers INTERFACE IMPORTED)
  target_include_directories(CUPTI::headers SYSTEM INTERFACE ${CUPTI_INCLUDE_DIR}
                                                             ${CUPTI_CUDA_INCLUDE_DIR}
                                                             ${CUPTI_CRT_INCLUDE_DIR})
endif()
