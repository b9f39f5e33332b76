#include "diff/composites.h"

namespace perfgate {

const std::vector<Composite>& Composites() {
  static const std::vector<Composite> kComposites = {
      {"scaled_dot_product_attention",
       {"softmax"},
       {"mm", "mul", "add", "copy", "where", "fill", "tril", "div", "sub", "isneginf", "all", "eq",
        "bitwise_not", "logical_not", "masked_fill", "cat", "attention_part"}},
      {"scaled_dot_product_attention_backward",
       {"softmax_backward"},
       {"mm", "mul", "add", "copy", "where", "fill", "sum", "sub", "attention_part"}},
      {"_fused_adamw",
       {"addcmul", "addcdiv", "lerp"},
       {"mul", "add", "sqrt", "div", "pow", "sub", "neg"}},
      {"_fused_adam",
       {"addcmul", "addcdiv", "lerp"},
       {"mul", "add", "sqrt", "div", "pow", "sub", "neg"}},
      {"_fused_sgd", {"add"}, {"mul", "neg"}},
      {"layer_norm",
       {"mean", "var", "rsqrt", "sqrt"},
       {"sub", "pow", "mul", "add", "div", "copy", "sum"}},
      {"rms_norm", {"mean", "rsqrt"}, {"pow", "mul", "add", "copy", "div", "sqrt"}},
      {"batch_norm", {"mean", "var", "rsqrt"}, {"sub", "mul", "add", "div", "sqrt", "copy"}},
      {"softmax", {"exp"}, {"sub", "max", "amax", "sum", "div", "copy", "prepare_softmax_online"}},
      {"log_softmax",
       {"exp"},
       {"log", "sub", "max", "amax", "sum", "add", "abs", "eq", "masked_fill",
        "prepare_softmax_online"}},
      {"gelu", {"tanh", "erf"}, {"mul", "add", "pow", "div"}},
      {"silu", {"sigmoid"}, {"mul"}},
  };
  return kComposites;
}

}  // namespace perfgate
