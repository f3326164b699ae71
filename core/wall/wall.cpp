#include "core/wall/wall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "core/base/sha256.hpp"
#include "core/wall/version.hpp"

namespace driftscope::wall {
namespace {

constexpr std::size_t longest_slug = 60;

/// Letters, digits and single '-': part of a file's name and of an address.
std::string slug(std::string_view text) {
  std::string made;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (upper || plain)
      made += upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!made.empty() && made.back() != '-')
      made += '-';
    if (made.size() >= longest_slug) break;
  }
  while (!made.empty() && made.back() == '-') made.pop_back();
  return made;
}

std::string digest_of(const std::string& text) {
  constexpr std::size_t digits = 8;
  return sha256_hex(std::as_bytes(std::span(text))).substr(0, digits);
}

/// What tells models apart: two of one name are often two exports.
std::string key_of(const Run& run) { return run.model_sha256.empty() ? run.model : run.model_sha256; }

std::string page_of(const Model& model) {
  const std::string stem = slug(model.name.substr(0, model.name.rfind(".onnx")));
  return fmt::format("{}-{}.html", stem.empty() ? "model" : stem,
                     digest_of(model.sha256.empty() ? model.name : model.sha256));
}

int rank_of(const std::string& host) {
  constexpr std::array<std::string_view, 5> first = {"pc", "node", "chrome", "firefox", "safari"};
  return static_cast<int>(std::ranges::find(first, host) - first.begin());
}

bool column_before(const Column& a, const Column& b) {
  return std::tuple(rank_of(a.host), std::tie(a.host, a.engine)) <
         std::tuple(rank_of(b.host), std::tie(b.host, b.engine));
}

bool series_before(const Series& a, const Series& b) {
  if (column_before({a.host, a.engine}, {b.host, b.engine})) return true;
  if (column_before({b.host, b.engine}, {a.host, a.engine})) return false;
  return std::tie(a.target, a.system, a.device) < std::tie(b.target, b.system, b.device);
}

/// Runs of one model and target by where they ran: their system and device, without versions.
std::vector<Series> series_of(std::vector<Run> runs) {
  place_failed_runs(runs);
  std::map<std::pair<std::string, std::string>, std::vector<Run>> places;
  for (Run& run : runs) {
    auto& there = places[{run.system_name, without_versions(run.device)}];
    there.push_back(std::move(run));
  }
  std::vector<Series> all;
  for (auto& [where, there] : places) {
    order_runs(there);
    const Run& last = there.back();
    all.push_back({.anchor = {},
                   .target = last.target,
                   .host = last.host,
                   .engine = last.engine,
                   .options = last.options,
                   .system = where.first,
                   .device = last.device,
                   .column = 0,
                   .runs = std::move(there)});
  }
  return all;
}

void name_anchors(Model& model) {
  std::set<std::string> taken;
  for (Series& one : model.series) {
    const std::string name =
        slug(fmt::format("{} {} {}", one.target, one.system, without_versions(one.device)));
    one.anchor = "t-" + name;
    for (int count = 2; !taken.insert(one.anchor).second; ++count)
      one.anchor = fmt::format("t-{}-{}", name, count);
  }
}

Model model_of(std::vector<Run> runs) {
  Model model;
  const auto newest = std::ranges::max_element(runs, {}, &Run::date);
  model.name = newest->model.empty() ? "unnamed model" : newest->model;
  model.sha256 = newest->model_sha256;
  model.page = page_of(model);
  std::map<std::string, std::vector<Run>> targets;
  for (Run& run : runs) {
    auto& same = targets[run.target];
    same.push_back(std::move(run));
  }
  for (auto& [target, same] : targets)
    for (Series& one : series_of(std::move(same))) model.series.push_back(std::move(one));
  std::ranges::sort(model.series, series_before);
  name_anchors(model);
  return model;
}

void find_columns(Wall& wall) {
  const auto less = [](const Column& a, const Column& b) { return column_before(a, b); };
  std::set<Column, decltype(less)> columns(less);
  for (const Model& model : wall.models)
    for (const Series& one : model.series) columns.insert({one.host, one.engine});
  wall.columns.assign(columns.begin(), columns.end());
  for (Model& model : wall.models)
    for (Series& one : model.series)
      one.column = static_cast<std::size_t>(
          std::ranges::lower_bound(wall.columns, Column{one.host, one.engine}, less) - wall.columns.begin());
}

void find_changes(Wall& wall) {
  for (std::size_t m = 0; m < wall.models.size(); ++m)
    for (std::size_t s = 0; s < wall.models[m].series.size(); ++s) {
      const std::vector<Run>& runs = wall.models[m].series[s].runs;
      for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto before = run_before(runs, i);
        if (!before || severity(runs[i].state) < 0) continue;
        const int better = improvement(runs[*before], runs[i]);
        if (better != 0) wall.changes.push_back({m, s, *before, i, better < 0});
      }
    }
  const auto date = [&](const Change& one) -> const std::string& {
    return wall.models[one.model].series[one.series].runs[one.after].date;
  };
  std::ranges::sort(wall.changes, [&](const Change& a, const Change& b) {
    if (date(a) != date(b)) return date(a) > date(b);
    return std::tie(a.model, a.series, b.after) < std::tie(b.model, b.series, a.after);
  });
}

void mark_named_alike(std::vector<Model>& models) {
  std::map<std::string, int> count;
  for (const Model& model : models) ++count[model.name];
  for (Model& model : models) model.named_alike = count[model.name] > 1;
}

}  // namespace

const Run& Series::newest() const {
  const auto last = run_before(runs, runs.size());
  return last ? runs[*last] : runs.back();
}

Wall make_wall(std::vector<StoredFile> files, std::size_t others) {
  Wall wall;
  wall.others = others;
  std::ranges::sort(files, {}, &StoredFile::name);
  std::map<std::string, std::string> copies;  // the first name by digest
  std::map<std::string, std::vector<Run>> models;
  for (StoredFile& file : files) {
    const auto [first, fresh] = copies.emplace(file.digest, file.name);
    if (!file.error.empty()) {
      wall.skipped.push_back({file.name, file.error});
    } else if (!fresh) {
      wall.skipped.push_back({file.name, "the same bytes as " + first->second});
    } else {
      ++wall.files;
      wall.runs += file.runs.size();
      for (Run& run : file.runs) {
        auto& same = models[key_of(run)];
        same.push_back(std::move(run));
      }
    }
  }
  for (auto& [key, runs] : models) wall.models.push_back(model_of(std::move(runs)));
  std::ranges::sort(wall.models, {}, [](const Model& model) { return std::tie(model.name, model.sha256); });
  mark_named_alike(wall.models);
  find_columns(wall);
  find_changes(wall);
  return wall;
}

}  // namespace driftscope::wall
