// What a folder would hold after a loss of power: of every file the bytes that were flushed, of every folder
// the names that were flushed, and what else may or may not have reached the disk. Client: calls.cpp,
// which reports to it what the program does. It changes nothing in the folder.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace disk {

struct File {
  std::string now;
  std::string flushed;
  long written = 0;  ///< the step of the last write
};

/// By path inside the folder; a null file is a folder.
using Names = std::map<std::string, std::shared_ptr<File>>;

class Disk {
 public:
  /// All that is there is taken to be on the disk. `states`: where to keep what may be left; empty: nowhere.
  Disk(std::filesystem::path folder, std::filesystem::path states);

  /// The path inside the folder ("" for itself), or nothing.
  [[nodiscard]] std::optional<std::string> inside(const std::filesystem::path& path) const;
  [[nodiscard]] bool has(const std::string& name) const { return now_.contains(name); }
  [[nodiscard]] std::shared_ptr<File> file(const std::string& name) const;

  void made_folder(const std::string& name) { change({{name, nullptr}}, {}); }
  std::shared_ptr<File> created(const std::string& name);
  void renamed(const std::string& from, const std::string& to) { change({{to, file(from)}}, {from}); }
  void removed(const std::string& name) { change({}, {name}); }
  void written(File& file, std::string content);
  void flushed(File& file) { file.flushed = file.now; }
  void flushed_folder(const std::string& name);

  /// Keeps every different thing that a loss of power may leave at this moment.
  void keep_states(const std::string& moment);
  /// The first file that is not as the calls made it: it was written in another way. Empty: none.
  [[nodiscard]] std::string unseen() const;

 private:
  struct Change {
    std::vector<std::pair<std::string, std::shared_ptr<File>>> set;
    std::vector<std::string> gone;
  };
  enum class Kept { flushed, everything, last };

  void change(decltype(Change::set) set, std::vector<std::string> gone);
  static void apply(const Change& change, Names& names);
  [[nodiscard]] Names names_kept(Kept kept) const;
  void keep_state(const Names& names, Kept content, const std::string& about);

  std::filesystem::path folder_;
  std::filesystem::path states_;
  Names now_;
  Names flushed_;
  std::vector<Change> pending_;  // of names, oldest first
  long steps_ = 0;
  std::set<std::string> known_states_;
};

/// Reads a file whole, also one that is open and has no name any more (/proc/self/fd/N).
[[nodiscard]] std::string content_of(const std::filesystem::path& path);

}  // namespace disk
