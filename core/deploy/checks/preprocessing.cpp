// A description of how samples become inputs that does not fit the model, or lacks what decides the answer:
// size, channels, layout, type, range of values, order of colours, how pictures are resized.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/dataset/dataset.hpp"
#include "core/deploy/deploy_check.hpp"
#include "core/inputs/input_sizes.hpp"

namespace driftscope::deploy_checks::preprocessing {

namespace {

constexpr std::size_t picture_rank = 4;
constexpr double largest_pixel = 255.0;
/// A float input beyond this was hardly meant: trained networks take [0, 1], [−1, 1] or a few deviations.
constexpr double usual_range = 16.0;

const Value* find_input(const Graph& graph, const std::string& name) {
  for (const ValueId id : graph.inputs)
    if (graph.values[id].name == name) return &graph.values[id];
  return nullptr;
}

bool fits(const Dimension& dimension, std::int64_t size) {
  return !dimension.known() || dimension.size == size;
}

/// Whether the sizes from axis 1 on can be these; the first axis is samples.
bool fits(const SymbolicShape& shape, const std::array<std::int64_t, 3>& sizes) {
  return shape.size() == picture_rank && fits(shape[1], sizes[0]) && fits(shape[2], sizes[1]) &&
         fits(shape[3], sizes[2]);
}

class Fit {
 public:
  Fit(const DeployContext& context, std::vector<DeployFinding>& findings)
      : model_(*context.model), browsers_(context.in_browsers()), findings_(findings) {}

  void add(DeploySeverity severity, std::string shows, std::string why, std::string fix) {
    findings_.push_back({.severity = severity,
                         .where = model_.preprocess_name,
                         .shows = std::move(shows),
                         .why = std::move(why),
                         .fix = std::move(fix)});
  }

  /// The input that is described, or a finding.
  const Value* input(const std::string& name) {
    const Value* const found = find_input(model_.graph, name);
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const ValueId id : model_.graph.inputs) names.push_back(typed_input_text(model_.graph.values[id]));
      add(DeploySeverity::error,
          fmt::format("it describes an input {}, which the model does not have", in_quotes(name)),
          fmt::format("the model's inputs are {}", fmt::join(names, ", ")),
          "write the input's name as the model has it into \"input\"");
    }
    return found;
  }

  void type(const Value& value, DType described) {
    if (value.dtype == DType::undefined || value.dtype == described) return;
    add(DeploySeverity::error,
        fmt::format("it makes {}, the input {} takes {}", dtype_name(described), in_quotes(value.name),
                    dtype_name(value.dtype)),
        "runtimes refuse a tensor of another type",
        fmt::format("set \"dtype\" to \"{}\"", dtype_name(value.dtype)));
  }

  void picture(const Preprocess& how) {
    const Value* const value = input(how.input);
    if (value == nullptr) return;
    type(*value, how.dtype);
    if (value->shape) picture_shape(*value, how);
    range(how);
    if (browsers_ && how.resize != ResizeRule::none)
      add(DeploySeverity::note, "a page that resizes with a canvas gets other pixels than the training did",
          fmt::format("drawImage uses the browser's own filter; the description resizes bilinearly{}",
                      how.antialias ? " with antialiasing" : " without antialiasing"),
          "resize with the arithmetic of the description (core/dataset/resize.hpp says which) and compare "
          "one "
          "picture's tensor with driftscope run --input PICTURE");
  }

  void text(const TextPreprocess& how) {
    const Value* const value = input(how.input);
    if (value == nullptr) return;
    type(*value, how.dtype);
    if (!value->shape) return;
    if (value->shape->size() != 2 || !fits((*value->shape)[1], how.length))
      add(DeploySeverity::error,
          fmt::format("texts become 1x{}, the input {} takes {}", how.length, in_quotes(value->name),
                      shape_text(*value->shape)),
          "runtimes refuse a tensor of another shape", "set \"length\" to the words that the model takes");
  }

  void sound(const AudioPreprocess& how) {
    const Value* const value = input(how.input);
    if (value == nullptr || !value->shape || how.rank == 0) return;
    if (std::int64_t(value->shape->size()) != how.rank)
      add(DeploySeverity::error,
          fmt::format("sounds become a tensor of rank {}, the input {} takes {}", how.rank,
                      in_quotes(value->name), shape_text(*value->shape)),
          "runtimes refuse a tensor of another rank",
          fmt::format("set \"rank\" to {}", value->shape->size()));
  }

 private:
  void picture_shape(const Value& value, const Preprocess& how) {
    const std::array nchw{how.channels, how.height, how.width};
    const std::array nhwc{how.height, how.width, how.channels};
    const bool is_nchw = how.layout == Layout::nchw;
    if (fits(*value.shape, is_nchw ? nchw : nhwc)) return;
    const std::string shows = fmt::format(
        "pictures become 1x{}, the input {} takes {}",
        is_nchw ? fmt::format("{}", fmt::join(nchw, "x")) : fmt::format("{}", fmt::join(nhwc, "x")),
        in_quotes(value.name), shape_text(*value.shape));
    if (fits(*value.shape, is_nchw ? nhwc : nchw))
      return add(DeploySeverity::error, shows,
                 fmt::format("channels are {} in the description and {} in the model",
                             is_nchw ? "first" : "last", is_nchw ? "last" : "first"),
                 fmt::format("set \"layout\" to \"{}\"", is_nchw ? "NHWC" : "NCHW"));
    const std::size_t channel_axis = is_nchw ? 1 : 3;
    if (value.shape->size() != picture_rank)
      return add(DeploySeverity::error, shows, "a picture has four axes: samples, channels, height and width",
                 "export the model with an input of pictures, or describe another input");
    if (!fits((*value.shape)[channel_axis], how.channels))
      return add(
          DeploySeverity::error, shows,
          fmt::format("the model takes {} channels, the description makes {}",
                      (*value.shape)[channel_axis].size, how.channels),
          "set \"channels\" and \"channel_order\" (gray has 1, RGB and BGR 3) as the model was trained");
    add(DeploySeverity::error, shows, "the model takes pictures of another size",
        "set \"height\" and \"width\" to the model's, with \"resize\" as in training");
  }

  /// Values that pixels from 0 to 255 become.
  void range(const Preprocess& how) {
    if (!is_floating(how.dtype)) return;
    double low = 0;
    double high = 0;
    for (std::size_t c = 0; c < how.mean.size() && c < how.std.size(); ++c) {
      const double ends[] = {(0.0 - how.mean[c]) / how.std[c],
                             (largest_pixel * how.scale - how.mean[c]) / how.std[c]};
      low = c == 0 ? std::min(ends[0], ends[1]) : std::min({low, ends[0], ends[1]});
      high = c == 0 ? std::max(ends[0], ends[1]) : std::max({high, ends[0], ends[1]});
    }
    if (std::max(-low, high) <= usual_range) return;
    add(DeploySeverity::warning, fmt::format("pixels become values from {:.4g} to {:.4g}", low, high),
        "networks are usually trained on [0, 1], [-1, 1] or normalised values; with others the answers are "
        "wrong and no error says so",
        "compare with the training code: a scale of 1/255 is missing, or mean and std are those of pixels in "
        "[0, 1]; nothing to do where the model itself divides");
  }

  const DeployModel& model_;
  bool browsers_;
  std::vector<DeployFinding>& findings_;
};

/// A float or uint8 input of four axes with 1 or 3 channels.
const Value* picture_input(const Graph& graph) {
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    if (!value.shape || value.shape->size() != picture_rank) continue;
    const auto is_channels = [&](std::size_t axis) {
      const Dimension& dimension = (*value.shape)[axis];
      return dimension.size == 1 || dimension.size == 3;
    };
    if (is_channels(1) || is_channels(3)) return &value;
  }
  return nullptr;
}

std::vector<DeployFinding> find(const DeployContext& context) {
  std::vector<DeployFinding> findings;
  const DeployModel& model = *context.model;
  Fit fit(context, findings);
  if (!model.preprocess_json) {
    const Value* const value = picture_input(model.graph);
    if (value != nullptr)
      findings.push_back(
          {.severity = DeploySeverity::note,
           .where = typed_input_text(*value),
           .shows = "the input looks like a picture, and nothing says how one becomes this tensor",
           .why = fmt::format(
               "there is no {}; order of colours (RGB or BGR), range, mean and resizing are not in "
               "the model, and wrong ones give wrong answers without an error",
               model.preprocess_name),
           .fix = "write the description (assets/README.md has the format), and deploy it with the model"});
    return findings;
  }
  const auto how = parse_sample_description(*model.preprocess_json);
  if (!how.ok()) {
    fit.add(DeploySeverity::error, "the description cannot be read", how.error().message,
            "correct it (assets/README.md has the format)");
    return findings;
  }
  if (const auto* picture = std::get_if<Preprocess>(&*how)) fit.picture(*picture);
  if (const auto* text = std::get_if<TextPreprocess>(&*how)) fit.text(*text);
  if (const auto* sound = std::get_if<AudioPreprocess>(&*how)) fit.sound(*sound);
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "preprocessing",
             .about = "a description of inputs that does not fit the model",
             .find = find});
}

}  // namespace driftscope::deploy_checks::preprocessing
