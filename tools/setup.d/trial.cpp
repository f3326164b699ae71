// Built and run once by tools/setup with each compiler: uses the parts of a tool chain that are
// most likely to be missing. Prints "answer 42".
#include <cstdio>
#include <span>
#include <stdexcept>
#include <thread>

using Four = int __attribute__((vector_size(16)));

int main() {
  int answer = 0;
  std::thread worker([&] {
    try {
      throw std::runtime_error("caught in a thread");
    } catch (const std::exception&) {
      Four lanes = {10, 11, 12, 9};
      lanes += Four{0, 0, 0, 0} + answer;
      int out[4] = {lanes[0], lanes[1], lanes[2], lanes[3]};
      for (int lane : std::span<int>(out)) answer += lane;
    }
  });
  worker.join();
  std::printf("answer %d\n", answer);
  return answer == 42 ? 0 : 1;
}
