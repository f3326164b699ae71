#include "native/text/tokenizer.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/json_walk.hpp"
#include "native/text/added_tokens.hpp"
#include "native/text/stages.hpp"
#include "native/text/token_model.hpp"
#include "native/text/unicode.hpp"

namespace driftscope {

using namespace texts;

struct Tokenizer::Parts {
  Normalizer normalizer;  // each of these may be empty
  PreTokenizer pre_tokenizer;
  TokenDecoder decoder;
  bool bytes = false;  // tokens are spelled in the alphabet of bytes
  std::unique_ptr<TokenModel> model;
  AddedTokens added;
  std::vector<std::int64_t> before, after;  // a text

  [[nodiscard]] const std::string* text(std::int64_t id) const {
    const std::string* const special = added.text(id);
    return special != nullptr ? special : model->vocabulary().text(id);
  }

  Status read_pair(const Fields& fields, const char* key, std::vector<std::int64_t>& to) const {
    const Json* const pair = fields.find(key);
    if (pair == nullptr || !pair->is_array() || pair->size() != 2 || !(*pair)[1].is_number_integer())
      return fields.wrong(key, "[token, number]", pair);
    to.push_back((*pair)[1].get<std::int64_t>());
    return {};
  }

  Status read_template(const Fields& fields) {
    DRIFTSCOPE_TRY(const auto entries, fields.list("single"));
    const Json* const specials = fields.find("special_tokens");
    bool seen = false;
    for (const Fields& entry : entries) {
      if (entry.find("Sequence") != nullptr) {
        if (seen) return unsupported(fmt::format("{}: the text a second time", entry.where()));
        seen = true;
        continue;
      }
      const Json* const special = entry.find("SpecialToken");
      if (special == nullptr) return entry.wrong("SpecialToken", "SpecialToken or Sequence", nullptr);
      DRIFTSCOPE_TRY(const std::string name, Fields(*special, entry.at("SpecialToken")).text("id"));
      const Json* const ids = specials != nullptr && specials->is_object() && specials->contains(name)
                                  ? Fields((*specials)[name], "").find("ids")
                                  : nullptr;
      if (ids == nullptr || !ids->is_array())
        return bad_input(
            fmt::format("{}: {} is not in special_tokens, or has no ids", entry.where(), in_quotes(name)));
      for (const Json& id : *ids) {
        if (!id.is_number_integer())
          return bad_input(fmt::format("{}: ids of {}: expected whole numbers", fields.at("special_tokens"),
                                       in_quotes(name)));
        (seen ? after : before).push_back(id.get<std::int64_t>());
      }
    }
    if (!seen)
      return bad_input(fmt::format("{}: the text itself (Sequence) is missing", fields.at("single")));
    return {};
  }

  Status read_post_processor(const Fields& fields) {
    DRIFTSCOPE_TRY(const std::string type, fields.text("type"));
    if (type == "ByteLevel") return {};
    if (type == "TemplateProcessing") return read_template(fields);
    if (type == "BertProcessing" || type == "RobertaProcessing") {
      DRIFTSCOPE_CHECK(read_pair(fields, "cls", before));
      return read_pair(fields, "sep", after);
    }
    if (type != "Sequence")
      return fields.unknown(type,
                            "BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing");
    DRIFTSCOPE_TRY(const auto entries, fields.list("processors"));
    for (const Fields& entry : entries) {
      // Each puts its tokens around what the earlier ones made.
      std::vector<std::int64_t> inner_before = std::exchange(before, {}),
                                inner_after = std::exchange(after, {});
      DRIFTSCOPE_CHECK(read_post_processor(entry));
      before.insert(before.end(), inner_before.begin(), inner_before.end());
      after.insert(after.begin(), inner_after.begin(), inner_after.end());
    }
    return {};
  }

  Status tokenize(const Piece& piece, std::vector<std::int64_t>& tokens) const {
    std::vector<Piece> pieces = {piece};
    if (pre_tokenizer) DRIFTSCOPE_CHECK(pre_tokenizer(pieces));
    for (const Piece& one : pieces)
      if (!one.text.empty()) DRIFTSCOPE_CHECK(model->tokenize(one.text, tokens));
    return {};
  }

  [[nodiscard]] bool spelled_in_bytes(const Json& json) const {
    if (json.is_object() && json.contains("type") && json["type"] == "ByteLevel") return true;
    return (json.is_object() || json.is_array()) &&
           std::ranges::any_of(json, [&](const Json& inner) { return spelled_in_bytes(inner); });
  }
};

Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::read(std::string_view text) {
  const JsonWalk walk = walk_json(text, max_json_depth);
  if (walk.too_deep)
    return bad_input(fmt::format("objects lie in each other more than {} deep", max_json_depth));
  if (!walk.valid) return bad_input("expected JSON, a tokenizer.json of Hugging Face's tokenizers");
  if (!walk.duplicate.empty()) return bad_input(fmt::format("{} is there twice", in_quotes(walk.duplicate)));
  const Json json = parse_json(text);
  const Fields file(json, "tokenizer");
  const Json* const model = file.find("model");
  if (!json.is_object() || model == nullptr || !model->is_object())
    return bad_input(
        "model: expected an object, as in a tokenizer.json of Hugging Face's tokenizers, found nothing");
  auto parts = std::make_unique<Parts>();
  DRIFTSCOPE_TRY(parts->model, read_token_model(Fields(*model, "model")));
  if (const Json* const part = file.find("normalizer")) {
    DRIFTSCOPE_TRY(parts->normalizer, read_normalizer(Fields(*part, "normalizer")));
  }
  if (const Json* const part = file.find("pre_tokenizer")) {
    DRIFTSCOPE_TRY(parts->pre_tokenizer, read_pre_tokenizer(Fields(*part, "pre_tokenizer")));
  }
  if (const Json* const part = file.find("decoder")) {
    DRIFTSCOPE_TRY(parts->decoder, read_decoder(Fields(*part, "decoder")));
    parts->bytes = parts->spelled_in_bytes(*part);
  }
  if (file.find("added_tokens") != nullptr)
    DRIFTSCOPE_CHECK(parts->added.read(file, parts->model->vocabulary(), parts->normalizer));
  if (const Json* const part = file.find("post_processor"))
    DRIFTSCOPE_CHECK(parts->read_post_processor(Fields(*part, "post_processor")));
  return Tokenizer(std::move(parts));
}

Result<std::vector<std::int64_t>> Tokenizer::encode(std::string_view text, bool plain) const {
  if (!valid_utf8(text)) return bad_input(fmt::format("the text is not UTF-8: {}", in_quotes(text)));
  std::vector<std::int64_t> tokens;
  if (!plain) tokens = parts_->before;
  for (const AddedTokens::Found& found : parts_->added.split(text, false)) {
    if (found.token) {
      tokens.push_back(*found.token);
      continue;
    }
    Piece piece{std::string(text.substr(found.begin, found.end - found.begin)), found.begin == 0};
    if (parts_->normalizer) DRIFTSCOPE_CHECK(parts_->normalizer(piece));
    for (const AddedTokens::Found& inner : parts_->added.split(piece.text, true)) {
      if (inner.token)
        tokens.push_back(*inner.token);
      else if (inner.begin < inner.end)
        DRIFTSCOPE_CHECK(parts_->tokenize(
            {piece.text.substr(inner.begin, inner.end - inner.begin), piece.first && inner.begin == 0},
            tokens));
    }
  }
  if (!plain) tokens.insert(tokens.end(), parts_->after.begin(), parts_->after.end());
  return tokens;
}

Result<std::string> Tokenizer::decode(std::span<const std::int64_t> tokens, bool specials) const {
  std::vector<std::string> texts;
  for (const std::int64_t token : tokens) {
    const std::string* const text = parts_->text(token);
    if (text != nullptr && (specials || !parts_->added.special(token))) texts.push_back(*text);
  }
  std::string whole;
  if (parts_->decoder) DRIFTSCOPE_CHECK(parts_->decoder(texts));
  for (std::size_t i = 0; i < texts.size(); ++i) whole += (i > 0 && !parts_->decoder ? " " : "") + texts[i];
  return whole;
}

std::optional<std::string> Tokenizer::token_text(std::int64_t token) const {
  const std::string* const text = parts_->text(token);
  if (text == nullptr) return std::nullopt;
  std::string bytes;
  if (parts_->bytes && parts_->added.text(token) == nullptr && characters_as_bytes(*text, bytes))
    return bytes;
  std::string spaced;
  constexpr std::string_view mark = "\xe2\x96\x81";  // SentencePiece's sign for a space
  for (std::size_t i = 0; i < text->size(); ++i)
    if (text->compare(i, mark.size(), mark) == 0)
      spaced += ' ', i += mark.size() - 1;
    else
      spaced += (*text)[i];
  return spaced;
}

}  // namespace driftscope
