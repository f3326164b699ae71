// Which store a spec names, and passwords in URLs, which nothing shows.
#include "native/campaign/store_kinds.hpp"

#include <filesystem>

#include "native/campaign/sqlite_connection.hpp"
#include "native/campaign/store_support.hpp"
#include "native/campaign/store_url.hpp"
#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::store_kinds_test {
namespace {

namespace fs = std::filesystem;
using namespace stores;

std::string error_of(const std::string& spec) {
  const auto store = open_campaign_store(spec, definition);
  return store.ok() ? "none" : store.error().message;
}

bool holds_sqlite(const fs::path& path) {
  const auto bytes = read_file(path);
  return bytes.ok() && bytes->size() > 15 &&
         std::string_view(reinterpret_cast<const char*>(bytes->data()), 15) == "SQLite format 3";
}

}  // namespace

TEST_CASE("StoreKinds_Forms_NameThemAll") {
  CHECK(store_forms() == "FILE, sqlite:FILE.db or postgresql://USER@HOST/DATABASE");
}

TEST_CASE("StoreKinds_Spec_OpensTheStoreThatItNames") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path file = folder->path() / "run:2.jsonl";
  const fs::path database = folder->path() / "results.db";
  for (const std::string& spec : {file.string(), "sqlite:" + database.string()}) {
    auto store = open_campaign_store(spec, definition);
    REQUIRE_MESSAGE(store.ok(), store.error().message);
    CHECK((*store)->add(cell(1), result_of(1)).ok());
    CHECK((*store)->refresh().ok());
    CHECK((*store)->add(cell(1), result_of(2)).ok());
    CHECK((*store)->results() == CampaignResults{{cell(1), result_of(1)}});
  }
  const auto text = read_file(file);
  REQUIRE(text.ok());
  CHECK(read_store({reinterpret_cast<const char*>(text->data()), text->size()}, definition)->results.size() ==
        1);
  CHECK(holds_sqlite(database));
}

TEST_CASE("StoreKinds_UnknownScheme_IsRefusedWithTheForms") {
  for (const std::string spec :
       {"mysql://user@host/x", "sqlite3:x.db", "SQLITE:x.db", "postgres:x", "s3:x"}) {
    const std::string message = error_of(spec);
    CHECK_MESSAGE(mentions(message, "there is no kind of store"), message);
    CHECK(mentions(message, store_forms()));
    CHECK_FALSE(fs::exists(spec));
  }
  CHECK(error_of("sqlite:") == "--store sqlite: names no file; expected sqlite:FILE.db");
}

TEST_CASE("StoreKinds_FileWhoseNameLooksLikeAScheme_IsAFileWhereItIsThereOrADotIsWritten" *
          doctest::test_suite("posix")) {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const fs::path before = fs::current_path();
  fs::current_path(folder->path());
  CHECK(mentions(error_of("mysql:x"), "./mysql:"));
  CHECK(error_of("./mysql:x") == "none");
  CHECK(error_of("mysql:x") == "none");
  CHECK(error_of("12:30.jsonl") == "none");
  CHECK(error_of("C:notes") == "none");
  CHECK(error_of("my-run:2") == "none");
  CHECK(fs::exists("my-run:2"));
  CHECK(error_of(file_store_spec("sqlite:y")) == "none");
  CHECK(fs::exists("sqlite:y"));
  CHECK_FALSE(holds_sqlite("sqlite:y"));
  CHECK(file_store_spec("out/x") == "out/x");
  fs::current_path(before);
}

TEST_CASE("StoreKinds_PostgresThatCannotBeReached_SaysWhy") {
  const std::string message = error_of("postgresql://me:s3cret@127.0.0.1:1/x");
  CHECK(mentions(message, "--store postgresql://me@127.0.0.1:1/x: "));
  CHECK_FALSE(mentions(message, "s3cret"));
  const bool under_node = std::string_view(sqlite_locks()) == "Node";
  CHECK(mentions(message, "PostgreSQL is for the native program alone") == under_node);
}

TEST_CASE("StoreUrl_Passwords_AreTakenOutAndDecoded") {
  const auto url = read_store_url("postgresql://me:p%40ss%25w@h:5432/db?sslmode=require&password=other&x=1");
  REQUIRE(url.ok());
  CHECK(url->shown == "postgresql://me@h:5432/db?sslmode=require&x=1");
  CHECK(url->password == "other");
  CHECK(read_store_url("postgresql://me:p%40ss%25w@h/db")->password == "p@ss%w");
  CHECK(read_store_url("postgresql://h/db?%70assword=se%63ret&sslpassword=key")->password == "secret");
  CHECK(read_store_url("postgresql://h/db?sslpassword=key")->key_password == "key");
  CHECK(read_store_url("postgresql://u:p?w@h/db")->password == "p?w");
  for (const std::string plain : {"postgresql://me@h/db", "postgresql:///db?host=/run/x",
                                  "postgresql://[::1]:5/db", "postgresql://a:1,b:2/db", "postgresql://"})
    CHECK(read_store_url(plain)->shown == plain);
}

TEST_CASE("StoreUrl_WhatCannotBeTold_IsLeftOutOfEveryMessage") {
  for (const std::string text :
       {"postgresql://me:sec/ret@h/db", "postgresql://me:sec@ret@h/db", "postgresql://me:sec%zzret@h/db",
        "postgresql://me:sec%ret@h/db?a=b", "postgresql://me:sec/ret?x=secret@h", "postgresql://me:secret",
        "postgresql://me:secret/db", "postgresql://h/db?password=sec%00ret", "mysql://me:secret@h/db",
        "mysql://me:s/ecret@h/db"}) {
    CHECK_FALSE_MESSAGE(mentions(shown_store(text), "ec"), shown_store(text));
    CHECK_FALSE_MESSAGE(mentions(error_of(text), "sec"), error_of(text));
    CHECK_FALSE_MESSAGE(mentions(error_of(text), "ecret"), error_of(text));
  }
  CHECK(shown_store("notes@home") == "notes@home");
}

}  // namespace driftscope::test::store_kinds_test
