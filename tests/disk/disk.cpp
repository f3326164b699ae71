#include "disk.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace disk {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? std::string() : name.substr(0, slash);
}

}  // namespace

std::string content_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Disk::Disk(fs::path folder, fs::path states) : folder_(std::move(folder)), states_(std::move(states)) {
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    const std::string name = entry.path().lexically_relative(folder_).string();
    if (entry.is_directory()) {
      now_[name] = nullptr;
    } else {
      const std::string content = content_of(entry.path());
      now_[name] = std::make_shared<File>(File{content, content});
    }
  }
  flushed_ = now_;
}

std::optional<std::string> Disk::inside(const fs::path& path) const {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  std::string name = whole.lexically_relative(folder_).string();
  if (error || name.empty() || name.starts_with("..")) return std::nullopt;
  if (name.ends_with('/')) name.pop_back();
  return name == "." ? std::string() : name;
}

std::shared_ptr<File> Disk::file(const std::string& name) const {
  const auto found = now_.find(name);
  return found == now_.end() ? nullptr : found->second;
}

std::shared_ptr<File> Disk::created(const std::string& name) {
  auto file = std::make_shared<File>();
  change({{name, file}}, {});
  return file;
}

void Disk::written(File& file, std::string content) {
  file.now = std::move(content);
  file.written = ++steps_;
}

void Disk::apply(const Change& change, Names& names) {
  for (const auto& [name, file] : change.set) names[name] = file;
  for (const std::string& name : change.gone) names.erase(name);
}

void Disk::change(decltype(Change::set) set, std::vector<std::string> gone) {
  pending_.push_back({std::move(set), std::move(gone)});
  apply(pending_.back(), now_);
}

void Disk::flushed_folder(const std::string& folder) {
  const auto here = [&](const std::string& name) { return folder_of(name) == folder; };
  std::erase_if(flushed_, [&](const auto& entry) { return here(entry.first); });
  for (const auto& entry : now_)
    if (here(entry.first)) flushed_.insert(entry);
  for (Change& change : pending_) {
    std::erase_if(change.set, [&](const auto& entry) { return here(entry.first); });
    std::erase_if(change.gone, here);
  }
  std::erase_if(pending_, [](const Change& change) { return change.set.empty() && change.gone.empty(); });
}

Names Disk::names_kept(Kept kept) const {
  if (kept == Kept::everything) return now_;
  Names names = flushed_;
  if (kept == Kept::last && !pending_.empty()) apply(pending_.back(), names);
  return names;
}

void Disk::keep_states(const std::string& moment) {
  if (states_.empty()) return;
  for (const Kept names : {Kept::flushed, Kept::everything, Kept::last})
    for (const Kept content : {Kept::flushed, Kept::everything, Kept::last}) {
      constexpr const char* words[] = {"what was flushed", "everything", "the last change alone"};
      keep_state(names_kept(names), content,
                 moment + "; names: " + words[static_cast<int>(names)] +
                     ", contents: " + words[static_cast<int>(content)] + "\n");
    }
}

void Disk::keep_state(const Names& names, Kept content, const std::string& about) {
  long last = 0;
  for (const auto& [name, file] : names)
    if (file) last = std::max(last, file->written);
  std::map<std::string, const std::string*> kept;
  std::string key;
  for (const auto& [name, file] : names) {
    const std::string above = folder_of(name);
    if (!above.empty() && !kept.contains(above)) continue;
    const bool all = content == Kept::everything || (content == Kept::last && file && file->written == last);
    kept[name] = !file ? nullptr : all ? &file->now : &file->flushed;
    key += name + '\0' + (file ? *kept[name] : "/") + '\0';
  }
  const bool is_new = known_states_.insert(std::move(key)).second;
  const bool at_the_end = about.starts_with("at the end");
  if (!is_new && !at_the_end) return;
  static int count = 0;
  const fs::path place = states_ / std::to_string(++count);
  fs::create_directories(place);
  for (const auto& [name, bytes] : kept) {
    if (!bytes)
      fs::create_directories(place / name);
    else
      std::ofstream(place / name, std::ios::binary) << *bytes;
  }
  std::ofstream(place.string() + ".about") << about;
}

std::string Disk::unseen() const {
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    const std::string name = entry.path().lexically_relative(folder_).string();
    const auto known = now_.find(name);
    if (known == now_.end()) return name;
    if (known->second && known->second->now != content_of(entry.path())) return name;
  }
  return {};
}

}  // namespace disk
