// Times of whole runs in a trace's facts and in stored comparisons.
#include "core/results/run_times.hpp"

#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/results/comparison_view.hpp"

namespace driftscope::test::run_times_test {
namespace {

Trace with_layers(std::vector<std::int64_t> first, std::vector<std::int64_t> second) {
  Trace trace;
  trace.nodes = {{"a", "Conv", {"x"}, std::move(first)}, {"b", "Relu", {"y"}, std::move(second)}};
  return trace;
}

}  // namespace

TEST_CASE("RunTime_UnwatchedRuns_CountBeforeWatchedOnesAndLayers") {
  Trace trace = with_layers({5, 5}, {7, 7});
  CHECK(run_time(trace).kind == TimeKind::layers);
  CHECK(run_time(trace).ns == 12.0);
  set_run_times(trace, {{90, 20}, std::nullopt});
  CHECK(run_time(trace).kind == TimeKind::watched);
  CHECK(run_time(trace).ns == 20.0);
  set_run_times(trace, {{90, 20}, UnwatchedTimes{30.0, 12, {9.0, 8.0, 10.0}, ""}});
  const RunTime time = run_time(trace);
  CHECK(time.kind == TimeKind::unwatched);
  CHECK(time.ns == 9.0);
  CHECK(time.first_ns == 30.0);
  CHECK(time.runs == 12);
}

TEST_CASE("RunTime_UnwatchedRunsThatFailed_LeaveTheWatchedTimeAndTheReason") {
  Trace trace = with_layers({5}, {7});
  set_run_times(trace, {{20}, UnwatchedTimes{0.0, 0, {}, "out of memory"}});
  CHECK(run_time(trace).kind == TimeKind::watched);
  CHECK(run_time(trace).error == "out of memory");
}

TEST_CASE("RunTime_LayersWithoutTimes_AreUnknown") {
  CHECK(run_time(with_layers({}, {})).kind == TimeKind::unknown);
  CHECK(run_time(with_layers({}, {})).layers == "unknown");
  Trace trace = with_layers({3}, {});
  CHECK(run_time(trace).layers == "watched");
  trace.run = R"({"options":{"node_times":"timestamps of the GPU"}})";
  CHECK(run_time(trace).layers == "timestamps of the GPU");
}

TEST_CASE("RunTimes_TakenFromAnotherTrace_ReplaceTheOnesThatAreThere") {
  Trace trace = with_layers({5}, {});
  trace.nodes.push_back({"c", "Relu", {"z"}, {3}});
  trace.run = R"({"engine":"fast","options":{"threads":2,"node_times":"watched"}})";
  Trace measured = with_layers({8, 6}, {4, 2});
  measured.run = R"({"options":{"node_times":"timestamps of the GPU"}})";
  set_run_times(measured, {{90, 20}, UnwatchedTimes{30.0, 12, {9.0}, ""}});
  take_times(trace, measured);
  CHECK(trace.nodes[0].time_ns == std::vector<std::int64_t>{8, 6});
  CHECK(trace.nodes[1].time_ns == std::vector<std::int64_t>{4, 2});
  CHECK(trace.nodes[2].time_ns == std::vector<std::int64_t>{3});
  CHECK(run_time(trace).ns == 9.0);
  CHECK(run_time(trace).layers == "timestamps of the GPU");
  const auto run = parse_ordered_json(trace.run);
  CHECK(run["engine"] == "fast");
  CHECK(run["options"]["threads"] == 2);
}

TEST_CASE("RunTimes_MalformedFacts_AreLeftAlone") {
  Trace trace;
  for (const char* run : {"", "[]", R"({"times":3})", R"({"times":{"watched_ns":["a"]}})",
                          R"({"times":{"watched_ns":[-1]}})", R"({"times":{"watched_ns":[1e999]}})"}) {
    trace.run = run;
    CHECK_FALSE(run_times_of(trace));
  }
  for (const char* unwatched :
       {"3", "{}", R"({"first_ns":1,"runs":2,"readings_ns":[]})",
        R"({"first_ns":-1,"runs":2,"readings_ns":[1]})", R"({"first_ns":1,"runs":1e300,"readings_ns":[1]})",
        R"({"first_ns":1,"runs":2,"readings_ns":[null]})", R"({"readings_ns":[1]})",
        R"({"first_ns":1,"readings_ns":[1]})", R"({"runs":2,"readings_ns":[1]})",
        R"({"first_ns":1,"runs":0,"readings_ns":[1]})"}) {
    trace.run = std::string(R"({"times":{"unwatched":)") + unwatched + "}}";
    const auto times = run_times_of(trace);
    REQUIRE(times);
    CHECK_FALSE(times->unwatched);
  }
}

TEST_CASE("RunTimes_FractionsOfNanoseconds_AreCutOff") {
  Trace trace;
  trace.run = R"({"times":{"watched_ns":[2.5,7,1e300]}})";
  const auto times = run_times_of(trace);
  REQUIRE(times);
  CHECK(times->watched_ns == std::vector<std::int64_t>{2, 7, 1'000'000'000'000'000'000});
  trace.run = R"({"times":{"watched_ns":[-2.5]}})";
  CHECK_FALSE(run_times_of(trace));
}

TEST_CASE("RunTimes_OfARunWithMoreKeysThanAreRead_ReplaceIt") {
  Trace trace;
  trace.run = "{\"engine\":\"fast\"";
  for (int i = 0; i < 10'000; ++i) trace.run += ",\"" + std::to_string(i) + "\":0";
  trace.run += "}";
  set_run_times(trace, {{20}, std::nullopt});
  CHECK(trace.run == R"({"times":{"watched_ns":[20]}})");
}

TEST_CASE("RunTimes_OfComparedLayers_AddUpBeyond64Bits") {
  TargetResult result;
  result.comparison.emplace().layers.resize(3);
  for (LayerDifference& layer : result.comparison->layers) layer.right_ns = INT64_MAX;
  const RunTime time = run_time(result);
  CHECK(time.kind == TimeKind::layers);
  CHECK(time.ns == 3.0 * static_cast<double>(INT64_MAX));
}

TEST_CASE("RunTimes_OtherFactsOfTheRun_Stay") {
  Trace trace;
  trace.run = R"({"engine":"fast"})";
  set_run_times(trace, {{20}, std::nullopt});
  CHECK(parse_json(trace.run).value("engine", "") == "fast");
}

}  // namespace driftscope::test::run_times_test
