// The one request service: bytes in, bytes out. The command line, the HTTP server and the browser's
// worker are thin transports over it. A message is 4 bytes little-endian length of a JSON object,
// the JSON, then a binary payload (possibly empty).
//
//   {"do":"capabilities"}                            → {"engines":[{"name","summary","kind":"reference"|
//                                                       "own"|"peer","device":"cpu"|"gpu","on_pc",
//                                                       "in_browsers","same_bits_everywhere",
//                                                       "options":[{"name","help","default","values"}
//                                                       or {…,"min","max"}],"dotted_options",
//                                                       "browser_files","available","reason"}],
//                                                       "platform","threads","threads_available",
//                                                       "instruction_set"}
//   {"do":"load","target":"chrome/ort"?,"attachments":[{"name","bytes"}]?,"once":true?,"outside":N?,
//    "unhashed":true?}
//       + .onnx bytes, then those of each attachment (the files of external data that the model names).
//       An engine that reads the model itself (ort) can only be started when "target" has named it
//       here: else nobody keeps the bytes. With "once" a single "start" or "prepare" may follow: the
//       weights go to its session, which keeps of them what it runs on. With "outside" these N bytes
//       do not come with the message, they are read where they lie (load_from); with both, until the
//       session is prepared. "unhashed" is for who knows the hash already or needs none: "model_sha256"
//       is then empty, there and in the trace.
//                                                    → {"model_sha256","inputs":[{"name","dtype",
//                                                       "shape"}],"outputs":[…],"nodes":N,
//                                                       "graph":"…"}
//   {"do":"start","target":"chrome/strict","repeat":1,"capture":"all"|"fused"|"outputs",
//    "seed":42?,"environment":{…}?,"samples":N?,"values":["name"]?,"stream":true?}
//       + inputs as safetensors (empty with "seed")
//                                                    → {"nodes":N}
//   {"do":"poll","budget_ms":20}                     → {"done","total","sample","samples",
//                                                       "finished","waiting","preparing",
//                                                       "values":[…]?} + the bytes of the values
//       "waiting": let the event loop run before the next poll; "preparing": the engine is not ready
//   {"do":"finish"}                                  → {"layers":[{"node","op","output","shape",
//                                                       "time_ns"}],"outputs":[{"name","dtype",
//                                                       "shape","values"}],"memory":[…],
//                                                       "run":{…}} + trace bytes
//   {"do":"prepare","target":…,"capture":"none"|"all"|…} as "start", without "repeat" and
//       "samples"; nothing runs yet                    → {"nodes","clock_ns","ran":{…}}
//   {"do":"measure","slice_us":30000,"inner":1,"max_runs":0,"budget_ms":1000}
//       runs again and again until the slice is over, at least once; a reading of the clock takes
//       `inner` runs. Not finished: ask again, what was asked first goes on
//                                                    → {"finished":false,"waiting"?} |
//                                                       {"finished":true,"times_ns":[per reading,
//                                                       ÷ inner],"preparing_ns","alive_tensors",
//                                                       "alive_bytes","heap_bytes","memory_bytes",
//                                                       "memory_kind","engine_memory_bytes"}
//   {"do":"describe"}                                → as "prepare": some engines know what runs only
//                                                       after the first run
//   {"do":"topology"}                                → {"nodes":[{"node","op","inputs","outputs"}]}
//   {"do":"judge","left_bytes":N?,"threads":1} + [the N bytes of a trace to compare with] + a trace
//                                                    → as `compare --json` (judge.hpp)
//   {"do":"cancel"}                                  → {}
// "environment" (text, numbers, booleans: what only the host knows, such as the browser's version)
// is merged into the trace's `run`, never over what the engine says of itself. "values" are the
// first 1000 of an output. With "samples", each input tensor has one more, leading axis of N
// samples; the model runs once per sample, and the trace holds each output with that leading axis
// (and no other tensor). "values" keeps only these values beside the graph's inputs and outputs. With
// "stream" captured values come with the answers to "poll", in pieces (value_stream.hpp), and the trace
// holds the outputs alone: the run's memory need not hold a trace. With "capture" none a measured run
// is not traced at all; otherwise each run ends when its trace is written (in memory, or by
// measure_into). A failure is {"error":{"kind","message"}}. One service holds one model and one run or
// measurement at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/record.hpp"

namespace driftscope {

class RunRecorder;

/// Fills `target` with the bytes from `offset` on.
using ReadOutside = std::function<void(std::uint64_t offset, std::span<std::byte> target)>;

class Service {
 public:
  Service();
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Where the payload of a "load" with "outside" lies: outside of this program's memory.
  void load_from(ReadOutside read);

  /// Captured values of the next run go to `sink`; the trace of its "finish" holds the outputs alone.
  /// For a host in the same process that writes them to a file: tensors may be deferred, to be copied
  /// piece by piece, on any one thread.
  void record_to(TensorSink sink);

  /// Takes what measured runs record, when they are traced, as the sink of record_to; null: memory. It
  /// must outlive the service.
  void measure_into(RunRecorder* recorder);

  /// Never throws; a malformed request is answered with an error.
  [[nodiscard]] std::vector<std::byte> request(std::span<const std::byte> message);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Puts a message together, and takes it apart (empty json on a malformed one).
[[nodiscard]] std::vector<std::byte> pack_message(std::string_view json, std::span<const std::byte> payload);
struct Message {
  std::string json;
  std::span<const std::byte> payload;
};
[[nodiscard]] Message unpack_message(std::span<const std::byte> bytes);

}  // namespace driftscope
