#include "native/host/generation_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/decode/step_verdicts.hpp"
#include "core/decode/token_choice.hpp"
#include "core/platform/platform.hpp"
#include "core/results/comparison_view.hpp"
#include "core/results/run_times.hpp"
#include "core/trace/trace_file.hpp"
#include "core/verify/verify.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

using documents::GenerateSequence;
using documents::GenerateStep;
using documents::GenerateTarget;

/// What the reference did in a step.
struct ReferenceStep {
  TokenChoice choice;
  Tensor logits;                      ///< of the last position
  Verdict worst = Verdict::unjudged;  ///< as of FlipJudge
};
using ReferenceSequence = std::vector<ReferenceStep>;

Status check_prompts(const GenerationPlan& plan, const Decoder& decoder) {
  for (std::size_t p = 0; p < plan.prompts.size(); ++p) {
    if (plan.prompts[p].empty()) return bad_input(fmt::format("prompt {}: it has no tokens", p));
    for (const std::int64_t token : plan.prompts[p])
      if (token < 0 || (decoder.vocabulary && token >= *decoder.vocabulary))
        return bad_input(fmt::format("prompt {}: token {}; expected {}", p, token,
                                     decoder.vocabulary
                                         ? fmt::format("0 to {}, the vocabulary", *decoder.vocabulary - 1)
                                         : std::string("0 or more")));
  }
  for (const std::string& name : decoder.others)
    if (std::ranges::find(plan.others, name, &NamedTensor::name) == plan.others.end())
      return bad_input(
          fmt::format("input {}: decoding makes tokens, attention_mask, position_ids and past…, and not this "
                      "one; give it with --input {}=FILE.npy",
                      in_quotes(name), name));
  return {};
}

/// One target, over all prompts.
class TargetGeneration {
 public:
  TargetGeneration(const GenerationPlan& plan, const Decoder& decoder, const Target& target,
                   TargetRunner& runner, const TargetProgress& progress, ThreadPool& threads)
      : plan_(plan),
        decoder_(decoder),
        target_(target),
        runner_(runner),
        progress_(progress),
        threads_(threads) {
    result_.target = target.text();
  }

  /// With the tokens of `reference`, or where it is empty, of the target itself, which fills it.
  Status forced(std::vector<ReferenceSequence>& reference) {
    const bool first = reference.empty();
    if (first) reference.resize(plan_.prompts.size());
    for (std::size_t p = 0; p < plan_.prompts.size(); ++p) {
      result_.sequences.emplace_back();
      result_.sequences.back().prompt = plan_.prompts[p];
      DRIFTSCOPE_CHECK(sequence(p, reference[p], first));
    }
    return {};
  }

  /// With its own tokens.
  Status free() {
    for (std::size_t p = 0; p < plan_.prompts.size(); ++p) {
      DecoderState state{.tokens = plan_.prompts[p]};
      auto& tokens = result_.sequences[p].free;
      const auto steps = static_cast<std::int64_t>(result_.sequences[p].steps.size());
      while (std::ssize(tokens) < steps) {
        DRIFTSCOPE_TRY(const Trace trace,
                       run(state, messages::Capture::outputs, p, std::ssize(tokens), false));
        DRIFTSCOPE_TRY(const auto choice, chosen(trace));
        tokens.push_back(choice ? choice->token : -1);
        if (!choice || ends(choice->token)) break;
        DRIFTSCOPE_CHECK(take_caches(decoder_, trace.tensors, state));
        state.tokens.push_back(choice->token);
      }
    }
    return {};
  }

  GenerateTarget& result() { return result_; }

 private:
  Status sequence(std::size_t p, ReferenceSequence& reference, bool first) {
    DecoderState state{.tokens = plan_.prompts[p]};
    FlipJudge judge(!decoder_.caches.empty());
    for (std::int64_t s = 0; s < plan_.steps; ++s) {
      if (!first && s >= std::ssize(reference)) break;
      const bool measured = plan_.measured_ms > 0 && p == 0 && s < 2;
      const auto capture = plan_.verify ? messages::Capture::all : messages::Capture::outputs;
      DRIFTSCOPE_TRY(const Trace trace, run(state, capture, p, s, measured));
      DRIFTSCOPE_TRY(const auto choice, chosen(trace));
      if (first) {
        if (!choice)
          return bad_input(fmt::format(
              "{}, step {}: a logit is NaN, so it chooses no token; take another target as the reference",
              target_.text(), s));
        DRIFTSCOPE_TRY(Tensor last, last_position(*trace.find(decoder_.logits)));
        reference.push_back({*choice, std::move(last)});
      }
      ReferenceStep& expected = reference[static_cast<std::size_t>(s)];
      DRIFTSCOPE_TRY(GenerateStep step, judged(trace, choice, expected, first, judge, p, s));
      result_.sequences.back().steps.push_back(std::move(step));
      if (measured) note_time(trace, s);
      DRIFTSCOPE_CHECK(keep(trace, p, s));
      DRIFTSCOPE_CHECK(take_caches(decoder_, trace.tensors, state));
      state.tokens.push_back(expected.choice.token);
      if (ends(expected.choice.token)) break;
    }
    return {};
  }

  Result<Trace> run(const DecoderState& state, messages::Capture capture, std::size_t prompt,
                    std::int64_t step, bool measured) {
    RunRequest request;
    request.model = plan_.model;
    DRIFTSCOPE_TRY(request.inputs, step_inputs(decoder_, plan_.model->graph, state, plan_.others));
    request.plan.capture = capture;
    if (measured) request.plan.unwatched_ms = plan_.measured_ms;
    progress_(plan_.prompts.size() == 1 ? fmt::format("{}: decoding", target_.text())
                                        : fmt::format("{}: decoding prompt {}", target_.text(), prompt),
              step, plan_.steps);
    return runner_.run(target_, request, [](std::string_view, std::int64_t, std::int64_t) {});
  }

  Result<std::optional<TokenChoice>> chosen(const Trace& trace) const {
    const Tensor* const logits = trace.find(decoder_.logits);
    if (logits == nullptr)
      return bad_input(fmt::format("{}: the run did not give {}", target_.text(), decoder_.logits));
    auto choice = choose_token(*logits);
    if (!choice.ok()) return in_context(std::move(choice).error(), decoder_.logits);
    return choice;
  }

  Result<GenerateStep> judged(const Trace& trace, const std::optional<TokenChoice>& choice,
                              ReferenceStep& expected, bool first, FlipJudge& judge, std::size_t p,
                              std::int64_t s) {
    GenerateStep step;
    step.token = choice ? choice->token : -1;
    step.reference_token = expected.choice.token;
    const bool same = step.token == step.reference_token;
    const std::int64_t other = same || !choice ? expected.choice.runner_up : choice->token;
    const Tensor& logits = *trace.find(decoder_.logits);
    if (logits.shape().back() != expected.logits.shape().back())
      return bad_input(fmt::format("{} is {}, of {} tokens; the reference's has {}", decoder_.logits,
                                   shape_text(logits.shape()), logits.shape().back(),
                                   expected.logits.shape().back()));
    step.margin = logit_lead(expected.logits, expected.choice.token, other);
    if (!first && choice) step.moved = step.margin - logit_lead(logits, expected.choice.token, other);
    step.verdict = verdict_name(Verdict::missing);
    if (plan_.verify) {
      DRIFTSCOPE_TRY(const Verification verification,
                     verify(plan_.model->graph, plan_.model->sha256, trace, threads_));
      judge.add(verification);
      if (first) expected.worst = judge.worst();
      step.verdict = verdict_name(verification.verdict);
      step.layers = layer_marks(verification, result_.layers);
      step.first_fault = verification.first_fault.value_or("");
      note_cache_fault(verification, p, s);
    }
    if (!same && !first) {
      step.flip = flip_cause(expected.worst, plan_.verify ? judge.worst() : Verdict::unjudged);
      auto& parts_at = result_.sequences[p].parts_at;
      if (!parts_at) parts_at = s;
    }
    const std::int64_t bytes = peak_memory(trace).bytes;
    if (bytes > 0) step.peak_bytes = bytes;
    if (bytes > 0) result_.peak_bytes = std::max(result_.peak_bytes.value_or(0), bytes);
    return step;
  }

  bool ends(std::int64_t token) const {
    return std::ranges::find(plan_.stop_at, token) != plan_.stop_at.end();
  }

  void note_cache_fault(const Verification& verification, std::size_t p, std::int64_t s) {
    if (!result_.sequences[p].cache_fault.empty()) return;
    for (const LayerVerdict& layer : verification.layers)
      if (is_bad(layer.verdict) &&
          std::ranges::find(decoder_.caches, layer.output, &DecoderCache::present) != decoder_.caches.end()) {
        // [batch, heads, sequence, size]: the head whose element is furthest beyond its budget.
        const bool has_head = layer.worst && layer.worst->index.size() == 4;
        result_.sequences[p].cache_fault =
            has_head ? fmt::format("{}, at step {}, worst in head {}", layer.output, s, layer.worst->index[1])
                     : fmt::format("{}, at step {}", layer.output, s);
        return;
      }
  }

  void note_time(const Trace& trace, std::int64_t step) {
    const RunTime time = run_time(trace);
    if (time.kind != TimeKind::unwatched) return;
    (step == 0 ? result_.first_token_ns : result_.token_ns) = time.ns;
  }

  Status keep(const Trace& trace, std::size_t p, std::int64_t s) const {
    if (plan_.keep.empty()) return {};
    DRIFTSCOPE_TRY(const auto bytes, write_trace(trace));
    std::string name = target_.text();
    std::ranges::replace_if(name, [](char c) { return c == '/' || c == ':' || c == '='; }, '-');
    return write_file(plan_.keep / fmt::format("{}-prompt-{}-step-{}.safetensors", name, p, s), bytes);
  }

  const GenerationPlan& plan_;
  const Decoder& decoder_;
  const Target& target_;
  TargetRunner& runner_;
  const TargetProgress& progress_;
  ThreadPool& threads_;
  GenerateTarget result_;
};

}  // namespace

Result<documents::Generate> run_generation(const GenerationPlan& plan, TargetRunner& runner,
                                           const TargetProgress& progress) {
  const auto recognised = recognise_decoder(plan.model->graph);
  if (!recognised.ok()) return in_context(Error(recognised.error()), plan.model->name);
  const Decoder& decoder = *recognised;
  DRIFTSCOPE_CHECK(check_prompts(plan, decoder));
  std::error_code error;
  if (!plan.keep.empty() && !std::filesystem::create_directories(plan.keep, error) && error)
    return io_error(fmt::format("{}: cannot be made: {}", plan.keep.string(), error.message()));
  documents::Generate results;
  results.model = plan.model->name;
  results.model_sha256 = plan.model->sha256;
  results.reference = plan.targets.front().text();
  results.steps = plan.steps;
  results.vocabulary = decoder.vocabulary;
  std::vector<ReferenceSequence> reference;
  ThreadPool threads(usable_processors());
  for (const Target& target : plan.targets) {
    TargetGeneration generation(plan, decoder, target, runner, progress, threads);
    const bool first = reference.empty();
    Status status = generation.forced(reference);
    if (status.ok() && plan.free) status = generation.free();
    if (!status.ok() && first) return in_context(std::move(status).error(), target.text());
    if (!status.ok()) generation.result().error = status.error().message;
    if (!status.ok() && status.error().kind == ErrorKind::cancelled) return std::move(status).error();
    results.targets.push_back(std::move(generation.result()));
  }
  runner.rest();
  return results;
}

}  // namespace driftscope
