// The families of kernel names, one decoder each. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace perfgate {

// A demangled name cut at its brackets. All members are parts of `exact`.
struct NameParts {
  std::string_view exact;       // without blanks around it
  std::string_view callee;      // without return type and parameter list
  std::string_view function;    // the last component, without template arguments
  std::string_view arguments;   // template arguments of `function`, without the outer < >
  std::string_view parameters;  // without the outer ( )
};

NameParts CutName(std::string_view name);

// Without blanks around it and what AMD's loader appends (".kd").
std::string_view WithoutSuffix(std::string_view name);

// A mangled C++ name ("_ZN2ck11kernel_gemmI...") as Kineto's demangler prints it, without the
// parameters of a template; "" if it is none or is not understood. At most 1 MiB, linear time.
std::string Demangled(std::string_view name);

// Cuts at `separator` where no bracket is open. At most `at_most` parts; the rest is left out.
std::vector<std::string_view> SplitTopLevel(std::string_view text, char separator,
                                            size_t at_most = 64);

// What stands between the first `<` and its partner; "" if there is none.
std::string_view InsideTemplate(std::string_view text);

// The words between underscores.
std::vector<std::string_view> Tokens(std::string_view text, size_t at_most = 64);

bool IsDigits(std::string_view text);
// A letter, a digit or an underscore.
bool IsWordChar(char c);
// "128x256", "128x256x64": numbers with `x` between, at least two of them.
bool IsTile(std::string_view text);
// The number in `text`, 0 if it is none or above a million.
int SmallNumber(std::string_view text);

// Types of a GEMM in the grammar that CUTLASS and cuBLAS share, as far as they are named:
// <result>_<accumulator><shape>gemm_<operands>: "bf16", "s16816gemm", "bf16".
void GemmTypes(std::string_view result, std::string_view instruction, std::string_view operands,
               KernelInfo* info);

std::string CanonicalName(const NameParts& name);
// Without the hash of generated code: "_c" and 51 characters.
std::string_view WithoutHash(std::string_view text);
// Without Triton's argument specialisation, "_0d1d2de", which until 2.2 ended every name.
std::string_view WithoutSpecialisation(std::string_view text);

// One operator of the shipped table.
struct OperatorFacts {
  std::string_view word;  // without namespace and trailing `_` or `_out`
  OperatorKind kind;
  Family family;  // of a kernel that computes it
};
const OperatorFacts* FindOperator(std::string_view word);
// Cuts `gelu_mul__to_copy` into operators by longest match against the table. Views are left out
// of the result; the result is sorted, each word once.
std::vector<std::string> OperatorSet(std::string_view joined);

// The operator that an identifier of ATen's sources names ("gelu" for "GeluCUDAKernelImpl"), "" if
// none.
std::string AtenWord(std::string_view identifier);

// Each returns true if the name is of its family, and has then filled what the name says but for
// `canonical`. They are asked in this order, since attention kernels wear CUTLASS wrappers.
bool DecodeMemory(const NameParts& name, KernelInfo* info);
bool DecodeNccl(const NameParts& name, KernelInfo* info);
bool DecodeAttention(const NameParts& name, KernelInfo* info);
bool DecodeRocm(const NameParts& name, KernelInfo* info);  // Tensile, MIOpen, rocBLAS
bool DecodeComposableKernel(const NameParts& name, KernelInfo* info);
bool DecodeNvjet(const NameParts& name, KernelInfo* info);
bool DecodeXmma(const NameParts& name, KernelInfo* info);
bool DecodeCutlass(const NameParts& name, KernelInfo* info);
bool DecodeCublas(const NameParts& name, KernelInfo* info);
bool DecodeInductor(const NameParts& name, KernelInfo* info);
bool DecodeKnown(const NameParts& name, KernelInfo* info);  // of widely used extensions
bool DecodeAten(const NameParts& name, KernelInfo* info);
bool DecodeLibrary(const NameParts& name, KernelInfo* info);       // cuDNN's own, CUB, Thrust
bool DecodeOperatorCall(const NameParts& name, KernelInfo* info);  // a row of the CPU
void DecodeOpaque(const NameParts& name, KernelInfo* info);        // what is left

}  // namespace perfgate
