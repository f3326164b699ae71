#include "native/http/compression.hpp"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <memory>
#include <new>
#include <span>

namespace driftscope {
namespace {

constexpr int brotli_quality = 5;
constexpr int gzip_level = 6;
constexpr int gzip_window = MAX_WBITS + 16;  // 16: with gzip's header and checksum

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Only whether a weight is 0 matters: "q=0", "q=0.", "q=0.000".
bool is_zero_weight(std::string_view parameter) {
  if (!equal_ignoring_case(parameter.substr(0, 2), "q=")) return false;
  const std::string_view number = parameter.substr(2);
  return !number.empty() && number.find_first_not_of("0.") == std::string_view::npos;
}

// Whether the header names the coding; nothing when it does not.
std::optional<bool> allowed(std::string_view header, std::string_view coding) {
  while (!header.empty()) {
    const std::size_t comma = std::min(header.find(','), header.size());
    const std::string_view entry = header.substr(0, comma);
    header.remove_prefix(std::min(comma + 1, header.size()));
    const std::size_t semicolon = std::min(entry.find(';'), entry.size());
    if (!equal_ignoring_case(trimmed(entry.substr(0, semicolon)), coding)) continue;
    return semicolon == entry.size() || !is_zero_weight(trimmed(entry.substr(semicolon + 1)));
  }
  return std::nullopt;
}

std::optional<std::string> brotli(std::string_view bytes) {
  std::string out(BrotliEncoderMaxCompressedSize(bytes.size()), '\0');
  std::size_t size = out.size();
  if (size == 0 || BrotliEncoderCompress(brotli_quality, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC,
                                         bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                         &size, reinterpret_cast<std::uint8_t*>(out.data())) != BROTLI_TRUE)
    return std::nullopt;
  out.resize(size);
  return out;
}

std::optional<std::string> gzip(std::string_view bytes) {
  if (bytes.size() > std::numeric_limits<uInt>::max() / 2) return std::nullopt;
  z_stream stream{};
  if (deflateInit2(&stream, gzip_level, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return std::nullopt;
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return done ? std::optional(std::move(out)) : std::nullopt;
}

// Takes what decoders give, piece by piece: the whole may be far longer than it should be.
class Expected {
 public:
  explicit Expected(std::string_view plain) : rest_(plain) {}
  [[nodiscard]] std::span<std::uint8_t> room() { return piece_; }
  [[nodiscard]] bool take(std::size_t left) {
    const std::string_view got(reinterpret_cast<const char*>(piece_.data()), piece_.size() - left);
    if (!rest_.starts_with(got)) return false;
    rest_.remove_prefix(got.size());
    return true;
  }
  [[nodiscard]] bool complete() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  std::array<std::uint8_t, 1 << 16> piece_;
};

bool brotli_is(std::string_view coded, Expected& expected) {
  const std::unique_ptr<BrotliDecoderState, decltype(&BrotliDecoderDestroyInstance)> decoder(
      BrotliDecoderCreateInstance(nullptr, nullptr, nullptr), &BrotliDecoderDestroyInstance);
  std::size_t size = coded.size();
  const auto* in = reinterpret_cast<const std::uint8_t*>(coded.data());
  for (BrotliDecoderResult state = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
       decoder && state == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;) {
    std::size_t left = expected.room().size();
    std::uint8_t* out = expected.room().data();
    state = BrotliDecoderDecompressStream(decoder.get(), &size, &in, &left, &out, nullptr);
    if (!expected.take(left)) return false;
    if (state == BROTLI_DECODER_RESULT_SUCCESS) return size == 0 && expected.complete();
  }
  return false;
}

bool gzip_is(std::string_view coded, Expected& expected) {
  if (coded.size() > std::numeric_limits<uInt>::max()) return false;
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window) != Z_OK) return false;
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> ended(&stream, &inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
  stream.avail_in = static_cast<uInt>(coded.size());
  for (int state = Z_OK; state == Z_OK;) {
    stream.next_out = expected.room().data();
    stream.avail_out = static_cast<uInt>(expected.room().size());
    state = inflate(&stream, Z_NO_FLUSH);
    if (!expected.take(stream.avail_out)) return false;
    if (state == Z_STREAM_END) return stream.avail_in == 0 && expected.complete();
  }
  return false;
}

}  // namespace

std::string_view coding_name(Coding coding) {
  switch (coding) {
    case Coding::gzip: return "gzip";
    case Coding::brotli: return "br";
    default: return "";
  }
}

Coding best_coding(std::string_view accept_encoding) {
  const bool rest = allowed(accept_encoding, "*").value_or(false);
  for (const Coding coding : {Coding::brotli, Coding::gzip})
    if (allowed(accept_encoding, coding_name(coding)).value_or(rest)) return coding;
  return Coding::identity;
}

std::optional<std::string> compress(Coding coding, std::string_view bytes) {
  try {
    if (coding == Coding::brotli) return brotli(bytes);
    if (coding == Coding::gzip) return gzip(bytes);
    return std::string(bytes);
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

bool decodes_to(Coding coding, std::string_view coded, std::string_view plain) {
  Expected expected(plain);
  if (coding == Coding::brotli) return brotli_is(coded, expected);
  if (coding == Coding::gzip) return gzip_is(coded, expected);
  return coded == plain;
}

Result<std::vector<std::byte>> unpack_gzip(std::span<const std::byte> coded, std::size_t bytes) {
  constexpr std::size_t most = std::numeric_limits<uInt>::max() - 1;
  if (coded.size() > most || bytes > most) return limit_error("a packed body of more than 4 GiB");
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window) != Z_OK) return limit_error("no memory is left to unpack a body");
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> ended(&stream, &inflateEnd);
  // One byte more, so that a longer one is noticed.
  std::vector<std::byte> plain(bytes + 1);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(coded.data()));
  stream.avail_in = static_cast<uInt>(coded.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  const int state = inflate(&stream, Z_FINISH);
  if (state != Z_STREAM_END || stream.avail_in != 0 || stream.avail_out != 1)
    return bad_input("the packed body is no gzip of as many bytes as it says");
  plain.resize(bytes);
  return plain;
}

}  // namespace driftscope
