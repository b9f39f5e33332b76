// NVTX: the ranges that a program marks, heard as they begin and end.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace perfgate::cupti {

// Puts the collector's functions into the table of one library of the program; each has its own
// copy of NVTX and asks on its first use. Returns 1, or 0 for an NVTX that is not understood.
int HookNvtx(NvtxGetExportTableFunc_t get_export_table);

}  // namespace perfgate::cupti
