// How a text becomes a model's tokens: the description MODEL.preprocess.json of a text model (format:
// assets/README.md), its vocabulary and its tokenizer. Clients: dataset, the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/model.hpp"

namespace driftscope {

enum class Side { left, right };

struct TextPreprocess {
  std::string input;             ///< name of the graph input
  DType dtype = DType::int64;    ///< int64 or int32
  std::int64_t length = 0;       ///< words of a sample; a shorter text is padded, a longer one cut
  std::string vocabulary;        ///< file, from the description's own folder
  std::int64_t first_index = 0;  ///< index of the vocabulary's first word
  std::int64_t pad = 0;
  std::optional<std::int64_t> unknown;  ///< nothing: a word outside the vocabulary is an error
  Side pad_side = Side::right;
  Side keep = Side::left;           ///< of a text that is too long: left keeps its start
  std::vector<std::string> remove;  ///< literal pieces that become a space, such as "<br />"
  std::vector<std::string> labels;  ///< class names; may be empty
};

/// Whether the JSON text describes texts ("kind": "text"); all others are for parse_preprocess.
[[nodiscard]] bool describes_text(std::string_view json_text);

/// Reads the JSON text; every wrong or missing field is named.
[[nodiscard]] Result<TextPreprocess> parse_text_preprocess(std::string_view json_text);

/// Words of a text: runs of letters, digits and apostrophes. A to Z become lower case and U+2018 and
/// U+2019 an apostrophe; apostrophes around a word are dropped. Beyond ASCII everything is a letter, kept
/// as it is, but for U+0080–U+00BF, U+2000–U+206F and U+3000–U+303F (punctuation and spaces). Errors:
/// bytes that are not UTF-8.
[[nodiscard]] Result<std::vector<std::string>> words_of(std::string_view text,
                                                        const std::vector<std::string>& remove);

/// One word a line; its index is the line number from 0. An empty line, a repeated word
/// and bytes that are not UTF-8 are errors.
class Vocabulary {
 public:
  [[nodiscard]] static Result<Vocabulary> read(std::span<const std::byte> bytes);
  [[nodiscard]] std::optional<std::int64_t> find(std::string_view word) const;
  [[nodiscard]] std::size_t size() const { return places_.size(); }

 private:
  std::map<std::string, std::int64_t, std::less<>> places_;
};

/// The tokens, 1×length.
[[nodiscard]] Result<Tensor> encode(const TextPreprocess& how, const Vocabulary& vocabulary,
                                    std::string_view text);

}  // namespace driftscope
