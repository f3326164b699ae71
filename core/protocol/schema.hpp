// The form of the service's messages: the tables generated from messages.json, and checking a message against
// them. Clients: the service and its clients, the HTTP server, `driftscope schema`, tests. It reads no
// payload.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

/// facts: an object of texts, numbers, booleans and nulls, of limited size. bytes: only in events, since
/// JSON cannot carry them.
enum class FieldKind { text, whole, number, flag, choice, object, facts, any, bytes };

struct ObjectSpec;

struct FieldSpec {
  std::string_view name = {};
  FieldKind kind = FieldKind::any;
  bool list = false;
  bool required = false;  ///< otherwise null counts as absent
  bool nullable = false;  ///< must be there, may be null
  std::uint64_t low = 0;  ///< of a whole number
  std::uint64_t high = 0;
  std::string_view default_text = {};              ///< as JSON; empty: none
  std::span<const std::string_view> choices = {};  ///< of a choice
  const ObjectSpec* object = nullptr;              ///< of an object
  std::string_view doc = {};
};

struct ObjectSpec {
  std::string_view title;  ///< for messages: request "load"
  std::string_view doc = {};
  std::span<const FieldSpec> fields;
};

struct MessageSpec {
  std::string_view name = {};
  const ObjectSpec* request = nullptr;
  const ObjectSpec* response = nullptr;
  std::string_view payload;  ///< what follows the request; empty: nothing
  std::string_view response_payload;
  std::string_view by;  ///< who responds instead of the service; empty: the service
};

/// Other messages: a document between programs, an event between a page and its worker.
struct DocumentSpec {
  std::string_view name = {};
  std::string_view where = {};
  const ObjectSpec* fields = nullptr;
};

[[nodiscard]] std::span<const MessageSpec> message_specs();

/// An unknown field, a missing one, a wrong type and a value out of range are errors that name message and
/// field.
[[nodiscard]] Status check_object(const ObjectSpec& spec, const nlohmann::json& value);

/// Checks the service's response to `request`; {"error"} alone is a valid response to any.
[[nodiscard]] Status check_response(std::string_view request, const nlohmann::json& response);

/// For people who write clients, and for machines (JSON; TypeScript's declarations).
[[nodiscard]] std::string schema_text();
[[nodiscard]] std::string_view schema_json();
[[nodiscard]] std::string_view schema_declarations();

}  // namespace driftscope
