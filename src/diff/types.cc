// The same work in another element type.
#include <algorithm>

#include "base/text.h"
#include "diff/launches.h"

namespace perfgate {
namespace {

// Of what counts, indexes or masks. Eight bits are left out: they may hold a quantized value.
bool IsInteger(const std::string& type) {
  return type == "bool" || type == "int16" || type == "int32" || type == "int64";
}

// A number in place of an index is no wider index: the work is another one.
bool IndexForNumber(const std::string& a, const std::string& b) {
  return DifferInType(a, b) && IsInteger(a) != IsInteger(b);
}

// Families of one computation, whatever else their kernels are named.
bool SameFamily(Family base, Family head) {
  return base == head && (base == Family::kGemmAux || base == Family::kConv ||
                          base == Family::kAttention || base == Family::kSoftmax);
}

// Under one operator, or by a word that both have. A CUDA graph and a generated kernel are no
// operators.
bool SameOperator(const KernelRow& base, const KernelRow& head) {
  if (SameFamily(base.info.family, head.info.family)) return true;
  const std::string_view name = base.Operator();
  if (name.find("::") != std::string_view::npos && name == head.Operator()) return true;
  const std::vector<std::string>&from = base.info.ops, &to = head.info.ops;
  const bool copies = IsCopyKernel(base.info) && IsCopyKernel(head.info);
  return std::any_of(from.begin(), from.end(), [&](const std::string& word) {
    return (copies || word != "copy") && std::find(to.begin(), to.end(), word) != to.end();
  });
}

// How large the calls of a row are: a matrix product by its sizes, anything else by the elements of
// its largest tensor. Sorted; none where a call does not say.
std::vector<std::array<int64_t, 4>> SizesOf(const KernelRow& row) {
  std::vector<std::array<int64_t, 4>> sizes;
  for (const ShapeUse& use : row.shapes) {
    if (IsGemm(row.info)) {
      const auto size = ProductOf(row.Operator(), use.input_dims);
      if (!size) return {};
      sizes.push_back({size->batch, size->rows, size->inner, size->columns});
      continue;
    }
    int64_t most = 0;
    for (const int depth : {2, 3}) {  // tensors, and those of a list of tensors
      for (const std::string_view tensor : Tensors(use.input_dims, depth)) {
        most = std::max(most, ElementsOf(tensor));
      }
    }
    if (most == 0) return {};
    sizes.push_back({most, 0, 0, 0});
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

// ATen gives a thread 2 to 16 elements, fewer of wide ones: more than 8 times the threads are more
// elements, whatever the type, and less than half of the threads for wider ones are fewer.
bool LaunchesFit(const KernelRow& base, const KernelRow& head) {
  const auto threads = [](const KernelRow& row) {
    double product = 1;
    for (const auto* sizes : {&row.grid, &row.block}) {
      for (const int64_t size : *sizes) product *= static_cast<double>(size);
    }
    return product;
  };
  const auto elementwise = [](const KernelInfo& info) {
    return info.family == Family::kPointwise || IsCopyKernel(info);
  };
  if (!elementwise(base.info) || !elementwise(head.info)) return true;
  const double from = threads(base), to = threads(head);
  if (from <= 0 || to <= 0) return true;
  if (std::max(from, to) > 8 * std::min(from, to)) return false;
  if (!DifferInType(base.info.in_dtype, head.info.in_dtype)) return true;
  const bool wider = BytesOf(head.info.in_dtype) > BytesOf(base.info.in_dtype);
  return 2 * (wider ? to : from) >= (wider ? from : to);
}

}  // namespace

bool SizesFit(const KernelRow& base, const KernelRow& head) {
  const auto from = SizesOf(base), to = SizesOf(head);
  if (from.empty() || to.empty()) return LaunchesFit(base, head);
  return std::any_of(from.begin(), from.end(), [&](const auto& size) {
    return std::binary_search(to.begin(), to.end(), size);
  });
}

double BytesOf(const std::string& types) {
  const auto bytes_of = [](const std::string& type) -> double {
    if (type.starts_with("fp8") || type == "int8" || type == "uint8" || type == "bool") return 1;
    if (type == "bf16" || type == "fp16" || type == "int16") return 2;
    return type == "fp64" || type == "int64" ? 8 : 4;
  };
  double bytes = 0;
  const std::vector<std::string> each = Split(types, '+');
  for (const std::string& type : each) bytes += bytes_of(type);
  return bytes / static_cast<double>(each.size());
}

bool DifferInType(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty() || a == b) return false;
  return !(a == "fp8" && b.starts_with("fp8")) && !(b == "fp8" && a.starts_with("fp8"));
}

ElementTypes CopyTypes(const KernelRow& row) {
  if (!IsCopyKernel(row.info) || row.Operator() != "aten::copy_") return {};
  std::string_view types = row.input_types;  // "[float, c10::Half, Scalar]": to, from
  if (types.starts_with('[')) types.remove_prefix(1);
  const std::vector<std::string> each = Split(types, ',');
  if (each.size() < 2) return {};
  return {std::string(DtypeOf(Trim(each[1]))), std::string(DtypeOf(Trim(each[0])))};
}

ElementTypes TypesOf(const KernelRow& row) {
  ElementTypes types{row.info.in_dtype, row.info.out_dtype};
  const ElementTypes called = CopyTypes(row);
  if (types.out.empty() || called.out.empty() || DifferInType(called.out, types.out)) return types;
  return {types.in.empty() ? called.in : types.in, called.out};
}

bool OtherTypes(const KernelRow& base, const KernelRow& head) {
  const ElementTypes from = TypesOf(base), to = TypesOf(head);
  if (!DifferInType(from.in, to.in) && !DifferInType(from.out, to.out)) return false;
  const bool gemms = IsGemm(base.info) && IsGemm(head.info);
  if (!gemms && (IndexForNumber(from.in, to.in) || IndexForNumber(from.out, to.out))) return false;
  // What a copy converts is known only by both of its ends.
  const bool copies = IsCopyKernel(base.info) && IsCopyKernel(head.info);
  if (copies && (from.in.empty() || from.out.empty() || to.in.empty() || to.out.empty())) {
    return false;
  }
  return (gemms || SameOperator(base, head)) && SizesFit(base, head);
}

bool NarrowerTypes(const KernelRow& base, const KernelRow& head) {
  const ElementTypes from = TypesOf(base), to = TypesOf(head);
  const auto wider_by = [](const std::string& a, const std::string& b) {
    return a.empty() || b.empty() ? 0 : BytesOf(b) - BytesOf(a);
  };
  const double in = wider_by(from.in, to.in), out = wider_by(from.out, to.out);
  // A product is known by its factors: those of eight bits are summed up in 32.
  if (IsGemm(base.info) && in != 0) return in < 0;
  return in <= 0 && out <= 0 && in + out < 0;
}

bool LosesTensorCore(const KernelInfo& from, const KernelInfo& to) {
  return from.tensor_core == TensorCore::kYes && to.tensor_core == TensorCore::kNo &&
         to.family != Family::kGemv;
}

}  // namespace perfgate
