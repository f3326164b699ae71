// cifar10:FILE: CIFAR-10's binary version, each picture behind its label.
#include "core/dataset/cifar10.hpp"

#include "core/dataset/dataset_format.hpp"
#include "core/dataset/stored_pictures.hpp"

namespace driftscope::dataset_formats::cifar10 {
namespace {

Result<Source> open(const DatasetSpec& spec, const SampleDescription& how, const FileAccess& files,
                    std::vector<std::string>& /*class_names*/) {
  DRIFTSCOPE_TRY(Cifar10 set, parsed_file(spec.images, files.read, &read_cifar10));
  return open_stored_pictures(spec, std::move(set.images), std::move(set.labels), std::get<Preprocess>(how));
}

}  // namespace

void add_to(DatasetFormatTable& table) {
  table.add({.order = 20, .name = "cifar10", .what = "FILE", .what_one = "FILE", .open = open});
}

}  // namespace driftscope::dataset_formats::cifar10
