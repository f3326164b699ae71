#include "native/host/mutants_run.hpp"

#include <fmt/format.h>

#include <chrono>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/dataset/cifar10.hpp"
#include "core/dataset/dataset.hpp"
#include "core/dataset/idx.hpp"
#include "core/dataset/stored_pictures.hpp"
#include "core/mutants/activation_runner.hpp"
#include "native/host/sample_files.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

constexpr std::string_view cifar10_set = "generated.bin";
constexpr std::string_view idx_images = "images.idx3-ubyte";
constexpr std::string_view idx_labels = "labels.idx1-ubyte";

struct Originals {
  DatasetSpec spec;
  Preprocess how;
  std::vector<StoredPicture> pictures;
  std::vector<std::int64_t> labels;
};

/// The pixels as stored; Dataset has checked their size and labels.
Result<std::vector<StoredPicture>> stored_pictures(const DatasetSpec& spec, const Preprocess& how,
                                                   const ReadFile& read) {
  Tensor images;
  if (spec.format == "cifar10") {
    DRIFTSCOPE_TRY(Cifar10 set, parsed_file(spec.images, read, &read_cifar10));
    images = std::move(set.images);
  } else {
    DRIFTSCOPE_TRY(images, parsed_file(spec.images, read, &read_idx));
  }
  StoredPicture one{.channels = how.channels, .height = how.height, .width = how.width, .pixels = {}};
  const std::size_t size = static_cast<std::size_t>(how.channels) * one.plane();
  const auto pixels = images.values<std::uint8_t>();
  std::vector<StoredPicture> pictures;
  for (std::size_t begin = 0; begin + size <= pixels.size(); begin += size) {
    const auto own = pixels.subspan(begin, size);
    one.pixels.assign(own.begin(), own.end());
    pictures.push_back(one);
  }
  return pictures;
}

Result<Originals> read_originals(const std::string& dataset, const ModelFile& model) {
  Originals originals;
  DRIFTSCOPE_TRY(originals.spec, parse_dataset_spec(dataset));
  if (originals.spec.sample)
    return bad_input(
        fmt::format("--dataset {}: a single sample is named; remove '#{}'", dataset, *originals.spec.sample));
  if (originals.spec.format != "idx" && originals.spec.format != "cifar10")
    return unsupported(fmt::format(
        "--dataset {}: mutants are made of stored pictures; expected idx:IMAGES,LABELS or cifar10:FILE",
        dataset));
  DRIFTSCOPE_TRY(const InputSite::Samples samples, input_site(model).samples());
  const auto* const how = std::get_if<Preprocess>(&samples.how);
  if (how == nullptr)
    return bad_input(fmt::format("{} describes {}; expected pictures", samples.described_by,
                                 described_samples(samples.how)));
  originals.how = *how;
  DRIFTSCOPE_TRY(const Dataset set, Dataset::open(originals.spec, samples.how, samples.files));
  originals.labels = set.labels();
  DRIFTSCOPE_TRY(originals.pictures, stored_pictures(originals.spec, originals.how, samples.files.read));
  if (originals.pictures.empty() || originals.pictures.size() != originals.labels.size())
    return bad_input(fmt::format("--dataset {}: {} pictures and {} labels; expected one label a picture",
                                 dataset, originals.pictures.size(), originals.labels.size()));
  return originals;
}

void append_size(Bytes& bytes, std::size_t size) {
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::byte>(size >> shift & 0xff));
}

void append_pixels(Bytes& bytes, const StoredPicture& picture) {
  const auto pixels = std::as_bytes(std::span(picture.pixels));
  bytes.insert(bytes.end(), pixels.begin(), pixels.end());
}

struct SetFile {
  std::string name;
  Bytes bytes;
};

/// In the format of the originals.
std::vector<SetFile> set_files(const Originals& originals, const std::vector<Generated>& kept) {
  const auto label = [&](const Generated& one) {
    return static_cast<std::byte>(originals.labels[static_cast<std::size_t>(one.original)]);
  };
  Bytes images;
  Bytes labels;
  if (originals.spec.format == "cifar10") {
    for (const Generated& one : kept) {
      images.push_back(label(one));
      append_pixels(images, one.picture);
    }
    return {{std::string(cifar10_set), std::move(images)}};
  }
  const bool planes = originals.how.channels > 1;
  for (const int byte : {0, 0, 8, planes ? 4 : 3}) images.push_back(static_cast<std::byte>(byte));
  append_size(images, kept.size());
  if (planes) append_size(images, static_cast<std::size_t>(originals.how.channels));
  append_size(images, static_cast<std::size_t>(originals.how.height));
  append_size(images, static_cast<std::size_t>(originals.how.width));
  for (const int byte : {0, 0, 8, 1}) labels.push_back(static_cast<std::byte>(byte));
  append_size(labels, kept.size());
  for (const Generated& one : kept) {
    append_pixels(images, one.picture);
    labels.push_back(label(one));
  }
  return {{std::string(idx_images), std::move(images)}, {std::string(idx_labels), std::move(labels)}};
}

Result<std::vector<Activations>> run_on(ActivationRunner& runner, std::span<const StoredPicture> pictures) {
  std::vector<const StoredPicture*> pointers;
  for (const StoredPicture& picture : pictures) pointers.push_back(&picture);
  return runner.run(pointers);
}

/// Runs the model on what the generator offers until it has enough.
Status generate_all(Generator& generator, ActivationRunner& runner, const MutantsPlan& plan) {
  for (;;) {
    const auto offered = generator.next();
    if (offered.empty()) break;
    std::vector<const StoredPicture*> pictures;
    for (const Generated& one : offered) pictures.push_back(&one.picture);
    DRIFTSCOPE_TRY(const std::vector<Activations> runs, runner.run(pictures));
    generator.judge(runs);
    if (plan.progress) plan.progress(std::ssize(generator.kept()));
    if (plan.stopped && plan.stopped()) return Error{ErrorKind::cancelled, "the set was not made to its end"};
  }
  if (!generator.stuck()) return {};
  return bad_input(fmt::format("mutants: after {} mutants none covers anything new, {} of {} are made; {}",
                               generator.counts().tried, generator.kept().size(), plan.count,
                               generator.counts().tried == 0
                                   ? "the model answers no sample of the data set rightly"
                                   : "use a smaller --count, more originals, or --criterion kmnc"));
}

documents::Generated manifest(const MutantsPlan& plan, const Originals& originals, const Generator& generator,
                              double seconds) {
  documents::Generated document;
  document.model = plan.model->name;
  document.model_sha256 = plan.model->sha256;
  document.dataset = plan.dataset;
  document.generated = originals.spec.format == "cifar10" ? fmt::format("cifar10:{}", cifar10_set)
                                                          : fmt::format("idx:{},{}", idx_images, idx_labels);
  document.method = plan.method;
  document.criterion = plan.criterion;
  document.engine = plan.engine;
  document.seed = static_cast<std::int64_t>(plan.seed);
  document.tried = generator.counts().tried;
  document.rounds = generator.counts().rounds;
  document.seconds = seconds;
  for (const Generated& one : generator.kept()) {
    documents::GeneratedSample sample;
    sample.original = one.original;
    sample.label = originals.labels[static_cast<std::size_t>(one.original)];
    sample.answer = one.answer;
    sample.mutations = one.chain;
    document.correct += sample.answer == sample.label ? 1 : 0;
    document.samples.push_back(std::move(sample));
  }
  return document;
}

/// The manifest last: where it is, the set is complete.
Status write_set(const std::filesystem::path& folder, const std::vector<SetFile>& files,
                 const documents::Generated& document) {
  DRIFTSCOPE_CHECK(make_folders(folder));
  const auto manifest_path = folder / "manifest.json";
  std::error_code error;
  std::filesystem::remove(manifest_path, error);
  for (const SetFile& file : files) DRIFTSCOPE_CHECK(write_file(folder / file.name, file.bytes));
  return write_json(manifest_path.string(), json_text(encode(document), 1) + "\n");
}

/// A mutant is kept with the picture that it may become the parent of, and that one's reference.
Status check_memory(std::int64_t count, std::size_t picture_bytes) {
  constexpr double most = 2.0 * (std::int64_t{1} << 30);
  const double needed = 3.0 * static_cast<double>(count) * static_cast<double>(picture_bytes);
  if (needed <= most) return {};
  return limit_error(
      fmt::format("mutants: {} pictures of {} bytes would take {:.0f} MB; use --count {} or less, and "
                  "several seeds for more",
                  count, picture_bytes, needed / 1e6,
                  static_cast<std::int64_t>(most / 3 / static_cast<double>(picture_bytes))));
}

}  // namespace

Status check_mutants_plan(MutantsPlan& plan) {
  if (plan.method != "deephunter" && plan.method != "tensorfuzz")
    return bad_input(
        fmt::format("mutants: --method {}: expected deephunter or tensorfuzz", in_quotes(plan.method)));
  const bool tensorfuzz = plan.method == "tensorfuzz";
  if (plan.criterion.empty()) plan.criterion = tensorfuzz ? "neighbour" : "kmnc";
  const bool known =
      tensorfuzz ? plan.criterion == "neighbour" : plan.criterion == "kmnc" || plan.criterion == "nbc";
  if (known) return {};
  return bad_input(fmt::format("mutants: --criterion {} does not go with --method {}; expected {}",
                               plan.criterion, plan.method, tensorfuzz ? "neighbour" : "kmnc or nbc"));
}

Result<GeneratedSet> generate_set(MutantsPlan plan, const std::filesystem::path& folder) {
  DRIFTSCOPE_CHECK(check_mutants_plan(plan));
  const auto begin = std::chrono::steady_clock::now();
  DRIFTSCOPE_TRY(Originals originals, read_originals(plan.dataset, *plan.model));
  DRIFTSCOPE_CHECK(check_memory(plan.count, originals.pictures[0].pixels.size()));
  auto made = ActivationRunner::make(plan.model->graph, originals.how, plan.engine, Generator::batch_size);
  if (!made.ok()) return in_context(std::move(made).error(), plan.model->path.string());
  ActivationRunner runner = *std::move(made);
  DRIFTSCOPE_TRY(const std::vector<Activations> runs, run_on(runner, originals.pictures));
  const MutantsOptions options{
      .method = plan.method == "tensorfuzz" ? GenerateMethod::tensorfuzz : GenerateMethod::deephunter,
      .criterion = plan.method == "tensorfuzz" ? Criterion::neighbour
                   : plan.criterion == "nbc"   ? Criterion::nbc
                                               : Criterion::kmnc,
      .count = plan.count,
      .seed = plan.seed};
  Generator generator(std::move(originals.pictures), originals.labels, runs, options);
  DRIFTSCOPE_CHECK(generate_all(generator, runner, plan));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  GeneratedSet set{.manifest = manifest(plan, originals, generator, seconds.count()),
                   .covered = generator.covered(),
                   .originals = std::ssize(originals.labels)};
  DRIFTSCOPE_CHECK(write_set(folder, set_files(originals, generator.kept()), set.manifest));
  return set;
}

std::string generated_dataset(const documents::Generated& manifest, const std::filesystem::path& folder) {
  if (manifest.generated.starts_with("cifar10:")) return "cifar10:" + (folder / cifar10_set).string();
  return fmt::format("idx:{},{}", (folder / idx_images).string(), (folder / idx_labels).string());
}

}  // namespace driftscope
