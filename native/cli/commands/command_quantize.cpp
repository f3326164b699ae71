// driftscope quantize MODEL --mode M [--calibrate D] [--dataset D] [--keep LAYER]… -o OUT
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/dataset/dataset_format.hpp"
#include "core/model/onnx_writer.hpp"
#include "core/quantize/study.hpp"
#include "core/report/text_table.hpp"
#include "core/statistics/rate.hpp"
#include "generated/documents/quantize.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/host/model_file.hpp"
#include "native/host/sample_files.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct QuantizeOptions {
  std::string model;
  std::string mode;
  std::string calibrate;
  std::int64_t calibration_samples = 256;
  std::string method = "minmax";
  double percentile = 99.999;
  bool per_channel = false;
  std::vector<std::string> keep;
  std::string dataset;
  std::int64_t samples = 0;
  std::int64_t layer_samples = 32;
  std::string restore;
  std::string output;
  std::string json;
  bool quiet = false;
};

documents::AccuracyInterval interval_of(const quantize::Accuracy& accuracy) {
  const Interval interval = wilson_interval(accuracy.correct, accuracy.samples);
  return {interval.low, interval.high};
}

std::string accuracy_text(const quantize::Accuracy& accuracy) {
  const documents::AccuracyInterval interval = interval_of(accuracy);
  return fmt::format("{:.2f} % ({} of {}, 95 % interval {:.2f} to {:.2f} %{})", 100.0 * accuracy.share(),
                     accuracy.correct, accuracy.samples, 100.0 * interval.low, 100.0 * interval.high,
                     accuracy.samples < enough_for_a_rate ? "; too few samples" : "");
}

Result<Model> read_model(const ModelFile& file) {
  const ExternalData find = [&](const std::string& location, std::int64_t offset,
                                std::int64_t length) -> Result<ByteSource> {
    for (const JobAttachment& one : file.attachments) {
      if (one.location != location) continue;
      const auto size = static_cast<std::int64_t>(one.bytes.size());
      if (offset < 0 || offset > size || length > size - offset) break;
      return one.bytes.source().part(static_cast<std::uint64_t>(offset),
                                     static_cast<std::uint64_t>(length < 0 ? size - offset : length));
    }
    return bad_input(fmt::format("external data file {} is not beside the model", in_quotes(location)));
  };
  return read_onnx(file.bytes.source(), find, Weights::in_memory, Hash::none);
}

/// "0.98", "98%", or "1pt": so many points below what it was.
Result<std::optional<double>> restored_accuracy(const std::string& text, bool& below) {
  below = false;
  if (text.empty()) return std::optional<double>();
  std::string digits = text;
  double factor = 1.0;
  if (digits.ends_with("%")) {
    digits.pop_back();
    factor = 0.01;
  } else if (digits.ends_with("pt")) {
    digits.resize(digits.size() - 2);
    factor = 0.01;
    below = true;
  }
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end) * factor;
  if (digits.empty() || *end != '\0' || !(value >= 0.0 && value <= 1.0))
    return bad_input(
        fmt::format("--restore {}: expected an accuracy, as in 0.98 or 98%, or the points that may be "
                    "lost, as in 1pt",
                    in_quotes(text)));
  return std::optional(value);
}

/// A data set, a seed, or files: what --calibrate and --dataset take.
struct GivenData {
  std::unique_ptr<InputSource> source;
  std::int64_t samples = 0;
};
Result<GivenData> open_data(const std::string& spec, const ModelFile& model, std::string_view option,
                            std::int64_t wanted) {
  GivenData given;
  auto source = open_input_source(spec, input_site(model));
  if (!source.ok()) return in_context(std::move(source).error(), std::string(option));
  given.source = *std::move(source);
  const std::optional<std::int64_t> size = given.source->size();
  given.samples = size && wanted > 0 ? std::min(*size, wanted) : size.value_or(wanted > 0 ? wanted : 256);
  if (given.samples == 0) return bad_input(fmt::format("{} {}: there are no samples", option, spec));
  return given;
}

std::string decibels(const std::optional<double>& db) {
  if (!db) return "–";
  return std::isinf(*db) ? "no change" : fmt::format("{:.1f}", *db);
}

std::string layer_table(const quantize::Study& study) {
  TextTable table;
  table.column("layer", Align::left);
  table.column("operator", Align::left);
  table.column("SQNR dB", Align::right);
  table.column("share of drift", Align::right);
  for (const quantize::LayerStudy& layer : study.layers)
    table.row({plain_text(layer.node, 60), layer.op, decibels(layer.sqnr_db),
               layer.drift_share ? fmt::format("{:.1f} %", 100.0 * *layer.drift_share) : "–"});
  return table.text();
}

void print_restored(const quantize::Study& study, double wanted) {
  if (study.steps.empty()) {
    print_out("\n--restore {:.2f} %: reached without keeping a layer\n", 100.0 * wanted);
    return;
  }
  print_out("\nLayers kept in float, those with the largest shares first, each step measured:\n");
  for (const quantize::RestoreStep& step : study.steps)
    print_out("  + {}: {}\n", plain_text(step.node, 60), accuracy_text(step.accuracy));
  if (!study.restored)
    print_out("{:.2f} % is not reached, even with all of them in float; the file has none of them kept\n",
              100.0 * wanted);
  else
    print_out(
        "{:.2f} % needs {} of {} layers in float (found greedily, so a smaller set may exist); they are so "
        "in "
        "the file\n",
        100.0 * wanted, study.restored_by.size(), study.layers.size());
}

void print_study(const QuantizeOptions& options, const quantize::Study& study, std::int64_t before,
                 std::int64_t after, const std::string& data_text, std::optional<double> wanted) {
  print_out("{}  {} → {}\n", options.model, options.mode, options.output);
  print_out("size      {} → {} ({:.1f} %)\n", format_bytes(before), format_bytes(after),
            100.0 * static_cast<double>(after) / static_cast<double>(before));
  if (study.before && study.after)
    print_out("accuracy  {}\n        → {}\n", accuracy_text(*study.before), accuracy_text(*study.after));
  else if (!data_text.empty())
    print_out("accuracy  unknown: {} has no labels\n", data_text);
  else
    print_out("accuracy  not measured: give labelled data with --dataset\n");
  if (study.agree) print_out("the same class on {} samples of {}\n", *study.agree, data_text);
  print_out("\n{}", layer_table(study));
  if (study.drift) {
    double sum = 0.0;
    for (const quantize::LayerStudy& layer : study.layers) sum += layer.drift;
    print_out(
        "Each layer was quantized alone and run on {} samples. Mean squared difference of the output: all "
        "together {}, sum of the layers {}.\n",
        study.measured_samples, format_number(*study.drift), format_number(sum));
  }
  if (wanted) print_restored(study, *wanted);
  for (const std::string& note : study.notes) print_out("note: {}\n", note);
}

documents::Quantize document_of(const QuantizeOptions& options, const ModelFile& model,
                                const quantize::Study& study, const quantize::StudyRequest& request,
                                std::int64_t after) {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  documents::Quantize made;
  made.model = options.model;
  made.model_sha256 = model.sha256;
  made.mode = options.mode;
  made.per_channel = options.per_channel;
  made.kept = options.keep;
  made.output = options.output;
  if (request.calibration != nullptr) {
    made.calibration = request.calibration->text();
    made.calibration_samples = request.calibration_samples;
    made.method = options.method;
  }
  if (request.data != nullptr) made.dataset = request.data->text();
  made.samples = request.data != nullptr ? request.samples : 0;
  made.layer_samples = study.measured_samples;
  made.accuracy_before = study.before ? study.before->share() : nothing;
  made.accuracy_after = study.after ? study.after->share() : nothing;
  if (study.before) made.accuracy_before_interval = interval_of(*study.before);
  if (study.after) made.accuracy_after_interval = interval_of(*study.after);
  made.agree = study.agree;
  made.bytes_before = model.file_bytes;
  made.bytes_after = after;
  made.drift = study.drift.value_or(nothing);
  for (const quantize::LayerStudy& layer : study.layers)
    made.layers.push_back({layer.node, layer.op, layer.sqnr_db.value_or(nothing),
                           layer.drift_share.value_or(nothing), study.drift ? layer.drift : nothing});
  if (request.restore) {
    documents::Restored restored{study.wanted.value_or(0.0), study.restored, {}, study.restored_by};
    for (const quantize::RestoreStep& step : study.steps)
      restored.steps.push_back({step.node, step.accuracy.share()});
    made.restored = std::move(restored);
  }
  made.notes = study.notes;
  return made;
}

Status run_quantize(const QuantizeOptions& options) {
  DRIFTSCOPE_TRY(const quantize::Mode* const mode, quantize::find_mode(options.mode));
  quantize::StudyRequest request;
  DRIFTSCOPE_TRY(request.method, quantize::find_method(options.method));
  request.method_options.percentile = options.percentile;
  DRIFTSCOPE_TRY(request.restore, restored_accuracy(options.restore, request.restore_is_loss));
  request.keep = options.keep;
  request.layer_samples = options.layer_samples;
  std::error_code absent;
  if (std::filesystem::equivalent(options.output, options.model, absent))
    return bad_input(fmt::format("-o {}: this is the float model itself; name another file", options.output));
  DRIFTSCOPE_TRY(const ModelFile file, load_model_file(options.model));
  DRIFTSCOPE_TRY(const Model model, read_model(file));
  auto opened = quantize::Quantizer::open(model, *mode, options.per_channel);
  if (!opened.ok()) return in_context(std::move(opened).error(), options.model);
  const quantize::Quantizer quantizer = *std::move(opened);
  GivenData calibration;
  if (!options.calibrate.empty() && mode->calibrated) {
    DRIFTSCOPE_TRY(calibration,
                   open_data(options.calibrate, file, "--calibrate", options.calibration_samples));
    request.calibration = calibration.source.get();
    request.calibration_samples = calibration.samples;
  }
  GivenData data;
  if (const std::string& spec = options.dataset.empty() ? options.calibrate : options.dataset;
      !spec.empty()) {
    DRIFTSCOPE_TRY(
        data, open_data(spec, file, options.dataset.empty() ? "--calibrate" : "--dataset", options.samples));
    request.data = data.source.get();
    request.samples = data.samples;
    request.layer_samples = std::min(request.layer_samples, data.samples);
  }
  ProgressLine line(options.quiet);
  DRIFTSCOPE_TRY(const quantize::Study study,
                 quantize::study(model, quantizer, request,
                                 [&](std::string_view step, std::int64_t done, std::int64_t total) {
                                   line.update(step, done, total);
                                   return true;
                                 }));
  DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, write_onnx(study.model));
  DRIFTSCOPE_CHECK(write_file(options.output, bytes));
  line.clear();
  if (options.json != "-")
    print_study(options, study, file.file_bytes, std::ssize(bytes),
                request.data != nullptr ? request.data->text() : "", study.wanted);
  if (options.json.empty()) return {};
  return write_json(
      options.json,
      json_text(encode(document_of(options, file, study, request, std::ssize(bytes))), 1) + "\n");
}

}  // namespace

namespace commands::quantize {

static std::string mode_help() {
  std::string help;
  for (const driftscope::quantize::Mode& mode : driftscope::quantize::mode_table().all())
    help += fmt::format("\n  {:<13} {}", mode.name, mode.summary);
  return help;
}

static Command declare(CLI::App& app) {
  auto options = std::make_shared<QuantizeOptions>();
  app.add_option("MODEL", options->model, "The float32 model, an .onnx file")->required();
  app.add_option("--mode", options->mode, "One of those below")->required()->type_name("MODE");
  app.add_option("-o,--output", options->output, "The quantized model, which ONNX Runtime runs too")
      ->required()
      ->type_name("OUT.onnx");
  app.add_option(
         "--calibrate", options->calibrate,
         fmt::format("Data that int8-static takes the ranges of activations from, like what the model will "
                     "see: {}, or any other input",
                     dataset_forms()))
      ->type_name("DATA");
  app.add_option("--calibration-samples", options->calibration_samples, "So many of them, from the first on")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--method", options->method,
                 fmt::format("How a range comes from the data: {}", driftscope::quantize::method_names()))
      ->capture_default_str();
  app.add_option("--percentile", options->percentile,
                 "Share of the elements that percentile keeps, in percent")
      ->check(CLI::Range(50.0, 100.0))
      ->capture_default_str();
  app.add_flag("--per-channel", options->per_channel,
               "A scale for each output channel of a weight instead of one (int8 modes; opset 13)");
  app.add_option("--keep", options->keep,
                 "A node that stays in float, by its name; may be given several times")
      ->type_name("LAYER");
  app.add_option(
         "--dataset", options->dataset,
         "Labelled data to measure the accuracy before and after, as for run --dataset; without it that of "
         "--calibrate, which flatters what was calibrated on it")
      ->type_name("DATA");
  app.add_option("--samples", options->samples, "Measure on so many, from the first on; 0: on all")
      ->check(CLI::Range(0, 100000000));
  app.add_option("--layer-samples", options->layer_samples,
                 "Run each layer's part on so many of them (0: do not measure layers)")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option(
         "--restore", options->restore,
         "Keep layers in float until this accuracy is reached: 0.98, 98%, or 1pt, one point below what it "
         "was")
      ->type_name("ACCURACY");
  app.add_option("--json", options->json, "Write everything as JSON ('-': standard output)");
  app.add_flag("--quiet", options->quiet, "No progress line");
  app.footer(fmt::format(
      "Modes:{}\n\n"
      "Every layer is also quantized alone: the table has the signal-to-quantization-noise ratio of its "
      "result and "
      "its\nshare in the drift of the output. Everything runs on the strict engine: the same file and "
      "figures on "
      "every machine.\n\n"
      "  driftscope quantize model.onnx --mode int8-static --calibrate images:train -o model-int8.onnx\n"
      "  driftscope quantize model.onnx --mode int4 --dataset images:test --restore 1pt -o model-int4.onnx",
      mode_help()));
  return [options] {
    const Status status = run_quantize(*options);
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 77,
             .name = "quantize",
             .summary = "Make a quantized model, and show what that does to accuracy, size and layers.",
             .declare = declare});
}

}  // namespace commands::quantize

}  // namespace driftscope
