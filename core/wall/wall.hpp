// The wall: stored comparisons by model, target, system and GPU, with what became worse or better between
// releases. Clients: the pages, the command wall, serve --results. It reads no file and writes no page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/wall/history.hpp"
#include "core/wall/run.hpp"

namespace driftscope::wall {

/// One target with one model on one system and GPU: what a cell shows.
struct Series {
  std::string anchor;  ///< of its section in the model's page: letters, digits, '-'
  std::string target;
  std::string host, engine, options;
  std::string system;      ///< without its version; empty: not known
  std::string device;      ///< of the GPU, as the last run says; empty: the processor
  std::size_t column = 0;  /// its place in Wall::columns
  std::vector<Run> runs;   ///< at least one, the newest last (order_runs)

  /// The last run that says something; if none does, the last.
  [[nodiscard]] const Run& newest() const;
};

struct Model {
  std::string name;          ///< of its file
  std::string sha256;        ///< empty: not known
  std::string page;          ///< "lenet5-1a32d042.html": the same for the same model, whatever else is there
  bool named_alike = false;  ///< another one has the same name
  std::vector<Series> series;
};

/// Where runs of what stands above one another in the table belong.
struct Column {
  std::string host, engine;
};

/// Between two runs of a series that follow one another.
struct Change {
  std::size_t model = 0;   ///< in Wall::models
  std::size_t series = 0;  ///< in its series
  std::size_t before = 0;  ///< in the runs of it
  std::size_t after = 0;
  bool worse = false;
};

struct Skipped {
  std::string name;
  std::string why;
};

struct Wall {
  std::vector<Model> models;     ///< by name
  std::vector<Column> columns;   ///< the PC first, then browsers
  std::vector<Change> changes;   ///< the newest first
  std::vector<Skipped> skipped;  ///< files that could not be read, and copies
  std::size_t files = 0;         ///< that were read
  std::size_t others = 0;        ///< that are something else
  std::size_t runs = 0;
};

/// `others`: how many files of the folder are no comparisons.
[[nodiscard]] Wall make_wall(std::vector<StoredFile> files, std::size_t others = 0);

}  // namespace driftscope::wall
