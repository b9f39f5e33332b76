# Writes the files FILES (separated by |, relative to ROOT) as one C++ header OUT.
string(REPLACE "|" ";" files "${FILES}")
set(text "#pragma once\n\n#include <array>\n#include <string_view>\n\nnamespace perfgate {\nnamespace {\n
struct EmbeddedFile {\n  std::string_view path, text, sha256;\n};\n\n")
list(LENGTH files count)
string(APPEND text "constexpr std::array<EmbeddedFile, ${count}> kEmbeddedFiles = {{\n")
foreach(file IN LISTS files)
  file(READ "${ROOT}/${file}" content)
  string(SHA256 hash "${content}")
  string(APPEND text "    {\"${file}\", R\"~~~~(${content})~~~~\", \"${hash}\"},\n")
endforeach()
string(APPEND text "}};\n\n}  // namespace\n}  // namespace perfgate\n")
file(WRITE "${OUT}" "${text}")
