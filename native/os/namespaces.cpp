#include "native/os/namespaces.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace driftscope {

bool may_make_namespaces() {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0)  // only system calls: this process has threads
    _exit(unshare(CLONE_NEWUSER) == 0 && unshare(CLONE_NEWPID | CLONE_NEWNET) == 0 ? 0 : 1);
  int status = 1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool may_gain_rights() {
  constexpr int may_administrate = 21;  // CAP_SYS_ADMIN
  return prctl(PR_CAPBSET_READ, may_administrate) == 1 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
}

}  // namespace driftscope
