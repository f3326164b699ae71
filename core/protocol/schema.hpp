// What the service's messages look like: the tables made from messages.json, and checking a message by
// them. Clients: the service and who asks it, the HTTP server, `driftscope schema`, tests. It reads no
// payload.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

/// facts: an object of texts, numbers, booleans and nulls, of limited size. bytes: of events alone, which
/// JSON does not carry.
enum class FieldKind { text, whole, number, flag, choice, object, facts, any, bytes };

struct ObjectSpec;

struct FieldSpec {
  std::string_view name = {};
  FieldKind kind = FieldKind::any;
  bool list = false;
  bool required = false;  ///< else null is as absent
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
  std::string_view by;  ///< who answers instead of the service; empty: the service
};

/// What travels by itself: a document between programs, an event between a page and its worker.
struct DocumentSpec {
  std::string_view name = {};
  std::string_view where = {};
  const ObjectSpec* fields = nullptr;
};

[[nodiscard]] std::span<const MessageSpec> message_specs();

/// An unknown field, a missing one, a wrong type and a value out of range are errors that name message and
/// field.
[[nodiscard]] Status check_object(const ObjectSpec& spec, const nlohmann::json& value);

/// Of what the service answers to `request`; {"error"} alone is a response to any.
[[nodiscard]] Status check_response(std::string_view request, const nlohmann::json& response);

/// To be read by people who write clients, and by machines (JSON; TypeScript's declarations).
[[nodiscard]] std::string schema_text();
[[nodiscard]] std::string_view schema_json();
[[nodiscard]] std::string_view schema_declarations();

}  // namespace driftscope
