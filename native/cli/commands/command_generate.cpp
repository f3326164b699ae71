// driftscope generate MODEL --dataset D --count N -o DIR
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/dataset/cifar10.hpp"
#include "core/dataset/dataset.hpp"
#include "core/dataset/idx.hpp"
#include "core/dataset/stored_pictures.hpp"
#include "core/generate/activation_runner.hpp"
#include "core/generate/generator.hpp"
#include "generated/documents/generated.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/host/model_file.hpp"
#include "native/host/sample_files.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

struct GenerateCommand {
  std::string model;
  std::string dataset;
  std::string out;
  std::string method = "deephunter";
  std::string criterion;
  std::string engine = "strict";
  GenerateOptions options{.count = 1000};
  bool quiet = false;
};

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
    return {{"generated.bin", std::move(images)}};
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
  return {{"images.idx3-ubyte", std::move(images)}, {"labels.idx1-ubyte", std::move(labels)}};
}

Result<std::vector<Activations>> run_on(ActivationRunner& runner, std::span<const StoredPicture> pictures) {
  std::vector<const StoredPicture*> pointers;
  for (const StoredPicture& picture : pictures) pointers.push_back(&picture);
  return runner.run(pointers);
}

/// Runs the model on what the generator offers until it has enough.
Status generate_all(Generator& generator, ActivationRunner& runner, const GenerateCommand& command) {
  ProgressLine line(command.quiet);
  for (;;) {
    const auto offered = generator.next();
    if (offered.empty()) break;
    std::vector<const StoredPicture*> pictures;
    for (const Generated& one : offered) pictures.push_back(&one.picture);
    DRIFTSCOPE_TRY(const std::vector<Activations> runs, runner.run(pictures));
    generator.judge(runs);
    line.update("generating", std::ssize(generator.kept()), command.options.count);
  }
  line.clear();
  if (!generator.stuck()) return {};
  return bad_input(fmt::format("generate: after {} mutants none covers anything new, {} of {} are made; {}",
                               generator.counts().tried, generator.kept().size(), command.options.count,
                               generator.counts().tried == 0
                                   ? "the model answers no sample of the data set rightly"
                                   : "use a smaller --count, more originals, or --criterion kmnc"));
}

documents::Generated manifest(const GenerateCommand& command, const ModelFile& model,
                              const Originals& originals, const Generator& generator, double seconds) {
  documents::Generated document;
  document.model = model.name;
  document.model_sha256 = model.sha256;
  document.dataset = command.dataset;
  document.generated = originals.spec.format == "cifar10" ? "cifar10:generated.bin"
                                                          : "idx:images.idx3-ubyte,labels.idx1-ubyte";
  document.method = command.method;
  document.criterion = command.criterion;
  document.engine = command.engine;
  document.seed = static_cast<std::int64_t>(command.options.seed);
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
Status write_set(const std::string& out, const std::vector<SetFile>& files,
                 const documents::Generated& document) {
  const std::filesystem::path folder(out);
  DRIFTSCOPE_CHECK(make_folders(folder));
  const auto manifest_path = folder / "manifest.json";
  std::error_code error;
  std::filesystem::remove(manifest_path, error);
  for (const SetFile& file : files) DRIFTSCOPE_CHECK(write_file(folder / file.name, file.bytes));
  return write_json(manifest_path.string(), json_text(encode(document), 1) + "\n");
}

Status check_options(GenerateCommand& command) {
  const bool tensorfuzz = command.method == "tensorfuzz";
  if (command.criterion.empty()) command.criterion = tensorfuzz ? "neighbour" : "kmnc";
  if ((command.criterion == "neighbour") != tensorfuzz)
    return bad_input(fmt::format("generate: --criterion {} does not go with --method {}; expected {}",
                                 command.criterion, command.method,
                                 tensorfuzz ? "neighbour" : "kmnc or nbc"));
  command.options.method = tensorfuzz ? GenerateMethod::tensorfuzz : GenerateMethod::deephunter;
  command.options.criterion = tensorfuzz                   ? Criterion::neighbour
                              : command.criterion == "nbc" ? Criterion::nbc
                                                           : Criterion::kmnc;
  std::error_code error;
  if (std::filesystem::exists(command.out, error) && !std::filesystem::is_directory(command.out, error))
    return bad_input(fmt::format("-o {}: a file is there; expected a folder", command.out));
  return {};
}

/// A mutant is kept with the picture that it may become the parent of, and that one's reference.
Status check_memory(std::int64_t count, std::size_t picture_bytes) {
  constexpr double most = 2.0 * (std::int64_t{1} << 30);
  const double needed = 3.0 * static_cast<double>(count) * static_cast<double>(picture_bytes);
  if (needed <= most) return {};
  return limit_error(
      fmt::format("generate: {} pictures of {} bytes would take {:.0f} MB; use --count {} or less, and "
                  "several seeds for more",
                  count, picture_bytes, needed / 1e6,
                  static_cast<std::int64_t>(most / 3 / static_cast<double>(picture_bytes))));
}

Status run_generate(GenerateCommand& command) {
  DRIFTSCOPE_CHECK(check_options(command));
  const auto begin = std::chrono::steady_clock::now();
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(command.model));
  DRIFTSCOPE_TRY(Originals originals, read_originals(command.dataset, model));
  DRIFTSCOPE_CHECK(check_memory(command.options.count, originals.pictures[0].pixels.size()));
  auto made = ActivationRunner::make(model.graph, originals.how, command.engine, Generator::batch_size);
  if (!made.ok()) return in_context(std::move(made).error(), command.model);
  ActivationRunner runner = *std::move(made);
  DRIFTSCOPE_TRY(const std::vector<Activations> runs, run_on(runner, originals.pictures));
  Generator generator(std::move(originals.pictures), originals.labels, runs, command.options);
  DRIFTSCOPE_CHECK(generate_all(generator, runner, command));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const documents::Generated document = manifest(command, model, originals, generator, seconds.count());
  DRIFTSCOPE_CHECK(write_set(command.out, set_files(originals, generator.kept()), document));
  const std::string share =
      generator.covered() < 0 ? ""
                              : fmt::format(", {:.1f} % of all sections covered", 100 * generator.covered());
  print_out("{}: {} mutants of {} originals in {:.1f} s, of {} that were tried{}\n", command.out,
            generator.kept().size(), originals.labels.size(), seconds.count(), generator.counts().tried,
            share);
  print_out("{} answers {} of them rightly ({:.2f} %) on pc/{}\n", model.name, document.correct,
            100.0 * static_cast<double>(document.correct) / static_cast<double>(document.samples.size()),
            command.engine);
  const std::filesystem::path folder(command.out);
  if (originals.spec.format == "cifar10")
    print_out("driftscope run {} --dataset cifar10:{}\n", command.model, (folder / "generated.bin").string());
  else
    print_out("driftscope run {} --dataset idx:{},{}\n", command.model,
              (folder / "images.idx3-ubyte").string(), (folder / "labels.idx1-ubyte").string());
  return {};
}

}  // namespace

namespace commands::generate {

static Command declare(CLI::App& app) {
  auto command = std::make_shared<GenerateCommand>();
  app.add_option("MODEL", command->model,
                 "The model that guides: an .onnx file, its preprocess.json beside it")
      ->required();
  app.add_option("--dataset", command->dataset, "The originals: idx:IMAGES,LABELS or cifar10:FILE")
      ->type_name("SET")
      ->required();
  app.add_option("-o,--out", command->out, "The folder of the new set")->type_name("DIR")->required();
  app.add_option("--count", command->options.count, "How many pictures")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--method", command->method,
                 "deephunter: affine changes once, then small ones of values; "
                 "tensorfuzz: white noise")
      ->check(CLI::IsMember({"deephunter", "tensorfuzz"}))
      ->capture_default_str();
  app.add_option(
         "--criterion", command->criterion,
         "What counts as new. deephunter: kmnc (1000 sections of each neuron's range), nbc (beyond it); "
         "tensorfuzz: neighbour (outputs unlike all before)")
      ->check(CLI::IsMember({"kmnc", "nbc", "neighbour"}));
  app.add_option("--seed", command->options.seed, "The same seed, the same set")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53))
      ->capture_default_str();
  app.add_option("--engine", command->engine,
                 "What runs the model: strict makes the same set on every machine, fast is faster")
      ->check(CLI::IsMember({"strict", "fast"}))
      ->capture_default_str();
  app.add_flag("--quiet", command->quiet, "No progress");
  std::string mutations;
  for (const Mutation& mutation : mutation_table().all())
    mutations += fmt::format("  {:<12} {}\n", mutation.name, mutation.range);
  app.footer(fmt::format(
      "Makes mutants of a data set that still show the same, so that the labels stay, and keeps those with "
      "which "
      "the\nmodel does something new. The set is in the format of the originals; manifest.json says for each "
      "picture which\noriginal it comes from and by which mutations. Nothing is written before all are "
      "made.\n\n"
      "Mutations and their parameters:\n{}\n"
      "  driftscope generate lenet5.onnx --dataset idx:images,labels --count 20000 -o mutants",
      mutations));
  return [command] {
    const Status status = run_generate(*command);
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 66,
             .name = "generate",
             .summary = "Generate a data set of mutants, guided by what they make a model do.",
             .declare = declare});
}

}  // namespace commands::generate

}  // namespace driftscope
