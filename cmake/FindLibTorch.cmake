# LibTorch::LibTorch, an imported target made by hand. The wheel's own TorchConfig.cmake wants a whole
# CUDA toolkit and fails with CMake 3.25 and nvcc 13; to build and to start, the runner needs neither.
#
# Where it looks, first match wins:
#   -DLIBTORCH_ROOT=DIR, PERFGATE_LIBTORCH=DIR   a LibTorch, the `torch` folder of a wheel, or a venv
#   the venv that ci/setup keeps                 of the version in ci/torch-version, or
#                                                PERFGATE_TORCH_VERSION
# Sets LibTorch_ROOT_DIR and LibTorch_VERSION.

function(_libtorch_in result dir)
  file(GLOB candidates ${dir} ${dir}/lib/python3*/site-packages/torch)
  foreach(candidate IN LISTS candidates)
    if(EXISTS ${candidate}/include/ATen/core/Tensor.h AND EXISTS ${candidate}/lib/libtorch_cpu.so)
      set(${result} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

function(_libtorch_setup_folder result)
  if(NOT "$ENV{PERFGATE_CACHE}" STREQUAL "")
    set(cache $ENV{PERFGATE_CACHE})
  elseif(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(cache $ENV{XDG_CACHE_HOME}/perfgate)
  else()
    set(cache $ENV{HOME}/.cache/perfgate)
  endif()
  if(NOT "$ENV{PERFGATE_TORCH_VERSION}" STREQUAL "")
    set(version $ENV{PERFGATE_TORCH_VERSION})
  else()
    file(STRINGS ${PROJECT_SOURCE_DIR}/ci/torch-version version LIMIT_COUNT 1)
  endif()
  set(${result} ${cache}/torch-${version} PARENT_SCOPE)
endfunction()

set(LIBTORCH_ROOT "" CACHE PATH "A LibTorch, the torch folder of a wheel, or a venv that holds one")
if(LIBTORCH_ROOT)
  set(_libtorch_where ${LIBTORCH_ROOT})
elseif(NOT "$ENV{PERFGATE_LIBTORCH}" STREQUAL "")
  set(_libtorch_where $ENV{PERFGATE_LIBTORCH})
else()
  _libtorch_setup_folder(_libtorch_where)
  if(NOT EXISTS ${_libtorch_where}/perfgate-complete)  # half installed: not there
    set(_libtorch_where ${_libtorch_where}/incomplete)
  endif()
endif()
_libtorch_in(LibTorch_ROOT_DIR "${_libtorch_where}")

if(LibTorch_ROOT_DIR)
  file(STRINGS ${LibTorch_ROOT_DIR}/include/torch/csrc/api/include/torch/version.h _libtorch_line
       REGEX "define TORCH_VERSION \"")
  string(REGEX REPLACE ".*\"([^\"]*)\".*" "\\1" LibTorch_VERSION "${_libtorch_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  LibTorch
  REQUIRED_VARS LibTorch_ROOT_DIR
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE
    "no LibTorch under ${_libtorch_where}. Run ci/setup, or point -DLIBTORCH_ROOT or PERFGATE_LIBTORCH at one, or build without it: cmake --preset gate.")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  set(_libtorch_includes ${LibTorch_ROOT_DIR}/include
                         ${LibTorch_ROOT_DIR}/include/torch/csrc/api/include
                         ${LibTorch_ROOT_DIR}/include/kineto)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE ${_libtorch_includes})
  # DT_RPATH, not RUNPATH: an AOTInductor package opens libtorch.so by name, and only DT_RPATH is
  # inherited. Undefined symbols: libtorch_cpu's own needs (CUDA's libraries) are met at run time.
  target_link_options(
    LibTorch::LibTorch INTERFACE "LINKER:--disable-new-dtags" "LINKER:-rpath,${LibTorch_ROOT_DIR}/lib"
    "LINKER:--allow-shlib-undefined")
  target_link_libraries(
    LibTorch::LibTorch INTERFACE "-Wl,--no-as-needed" ${LibTorch_ROOT_DIR}/lib/libtorch_cpu.so
                                 ${LibTorch_ROOT_DIR}/lib/libc10.so "-Wl,--as-needed")
endif()
