"""Tries the mutants of a seed until as many as wanted change the behaviour, several at a time. Client: command.py.

Mutants are started in the order of their ranks, and never more than could still be needed; which ones a seed has does
therefore not depend on how many run at a time.
"""
import hashlib
import queue
import threading

from .trial import EQUIVALENT, NOT_COMPILED, SURVIVED, Trial, Verdict


class Campaign:
    """`again`: what survived in an earlier run has no verdict yet."""

    def __init__(self, mutants, count, source, results, equivalents, again=False):
        self.count, self.source = count, source
        self.results, self.equivalents = results, equivalents
        self.again = again
        self.mutants, self.waiting = mutants, iter(mutants)
        self.settled = []  # (mutant, result, by what), in any order
        self.digests = {}

    def known(self, mutant):
        """The verdict that is there already, of the list of equivalents or of an earlier run on the same text."""
        reason = self.equivalents.reason(mutant)
        if reason:
            return Verdict(EQUIVALENT, reason)
        stored = self.results.by_key.get(mutant.key)
        if stored is None or stored["source"] != self._digest(mutant.file) or (self.again and stored["result"] == SURVIVED):
            return None
        return Verdict(stored["result"], stored["by"], stored["seconds"])

    def survivors(self):
        """Those mutants that survived in an earlier run."""
        return [mutant for mutant in self.mutants
                if self.results.by_key.get(mutant.key, {}).get("result") == SURVIVED and not self.equivalents.reason(mutant)]

    def _digest(self, file):
        if file not in self.digests:
            self.digests[file] = hashlib.sha256((self.source / file).read_bytes()).hexdigest()
        return self.digests[file]

    def effective(self):
        return sum(result not in (NOT_COMPILED, EQUIVALENT) for _, result, _ in self.settled)

    def collect(self):
        """Settles what is known already. Returns how many are yet to be tried, if all of them compile."""
        untried = 0
        for mutant in self.waiting:
            verdict = self.known(mutant)
            if verdict is None:
                untried += 1
            else:
                self.settled.append((mutant, verdict.result, verdict.by))
            if self.effective() + untried >= self.count:
                break
        return untried

    def next_untried(self, running):
        """The next mutant without a verdict; None when enough are settled or running."""
        while self.effective() + running < self.count:
            mutant = next(self.waiting, None)
            if mutant is None:
                return None
            verdict = self.known(mutant)
            if verdict is None:
                return mutant
            self.settled.append((mutant, verdict.result, verdict.by))
        return None

    def settle(self, mutant, verdict):
        self.settled.append((mutant, verdict.result, verdict.by))
        self.results.add({"key": mutant.key, "result": verdict.result, "by": verdict.by, "seconds": verdict.seconds,
                          "file": mutant.file, "line": mutant.line, "before": mutant.line_before,
                          "after": mutant.line_after, "source": self._digest(mutant.file)})

    def run(self, build, baselines, work, jobs, tell):
        """Tries all that are left. Ctrl-C ends what runs, and what was not settled is tried the next time."""
        stop, done = threading.Event(), queue.Queue()
        free = [Trial(build, baselines, work / str(number), stop) for number in range(jobs)]
        running = 0
        try:
            while True:
                while free and (mutant := self.next_untried(running)) is not None:
                    threading.Thread(target=_try, args=(free.pop(), mutant, done)).start()
                    running += 1
                if not running:
                    return
                trial, mutant, verdict = done.get()
                running -= 1
                if isinstance(verdict, BaseException):
                    raise verdict
                free.append(trial)
                self.settle(mutant, verdict)
                tell(mutant, verdict)
        finally:
            stop.set()
            while running:
                done.get()
                running -= 1


def _try(trial, mutant, done):
    try:
        verdict = trial.run(mutant)
    except BaseException as error:
        verdict = error
    done.put((trial, mutant, verdict))
