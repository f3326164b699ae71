"""The genetic attack on texts beside TextAttack's search, which gets the same neighbours, from the model's own embedding, and
the same limit of changed words.

Its search differs in what it may try: a word is replaced only where that makes a wrong answer likelier, parents are drawn by
exp(−score / 0.3), so that weak ones are drawn more often, and it ends after 20 generations. Its transformations,
constraints and goals, and with them the package's own import, need flair, NLTK's data and files that are downloaded: the
modules of the search are loaded without them."""
import importlib.util
import sys
import types
from dataclasses import dataclass, field

import attack_cases
import cases
import numpy as np
import test_genetic

SEED = 7


def _package(name, folder, **names):
    """A package whose modules can be imported, without what its own __init__ imports."""
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    vars(package).update(names)
    sys.modules[name] = package
    return package


def _search_of_textattack():
    root = next(iter(importlib.util.find_spec("textattack").submodule_search_locations))
    _package("textattack", root)
    # They print a search and check that its transformation swaps words.
    utils = _package("textattack.shared.utils", f"{root}/shared/utils", ReprMixin=type("ReprMixin", (), {}))
    _package("textattack.shared", f"{root}/shared", utils=utils)
    _package("textattack.shared.validators", f"{root}/shared", transformation_consists_of_word_swaps=lambda _: True)
    results = _package("textattack.goal_function_results", f"{root}/goal_function_results")
    methods = _package("textattack.search_methods", f"{root}/search_methods")
    for package, module, names in ((results, "goal_function_result", ["GoalFunctionResultStatus"]),
                                   (methods, "search_method", ["SearchMethod"]),
                                   (methods, "population_based_search", ["PopulationBasedSearch", "PopulationMember"]),
                                   (methods, "genetic_algorithm", ["GeneticAlgorithm"]),
                                   (methods, "alzantot_genetic_algorithm", ["AlzantotGeneticAlgorithm"])):
        loaded = importlib.import_module(f"{package.__name__}.{module}")
        for name in names:
            setattr(package, name, getattr(loaded, name))
    return methods.AlzantotGeneticAlgorithm, results.GoalFunctionResultStatus


@dataclass
class Text:
    """What the search asks of TextAttack's AttackedText; a word is its number in the vocabulary."""
    words: list
    attack_attrs: dict = field(default_factory=lambda: {"modified_indices": set(), "newly_modified_indices": set()})

    @property
    def num_words(self):
        return len(self.words)

    def replace_words_at_indices(self, indices, words):
        changed = list(self.words)
        for index, word in zip(indices, words):
            changed[index] = word
        new = {index for index in indices if changed[index] != self.words[index]}
        return Text(changed, {"modified_indices": self.attack_attrs["modified_indices"] | new,
                              "newly_modified_indices": new, "last_transformation": "word swap"})


@dataclass
class Answer:
    """What it asks of a GoalFunctionResult. The score is the probability of a wrong class."""
    attacked_text: Text
    score: float
    goal_status: int
    num_queries: int = 0


class Attacked:
    """A text under TextAttack's search, with our neighbours."""

    def __init__(self, notebook, original, label, search_class, status):
        self.notebook, self.label, self.status = notebook, label, status
        self.padded = original
        words = [int(word) for word in original if word != notebook.pad]
        self.allowed = int(test_genetic.CHANGED * len(words))
        self.original = Text(words)
        self.neighbours = [notebook.neighbours(word) for word in words]
        self.queries = 0
        self.search = search_class()
        self.search.get_transformations = self.transformations
        self.search.get_goal_results = self.results
        self.search.filter_transformations = lambda texts, _, original_text: [t for t in texts if self.fits(t)]
        self.search.goal_function = types.SimpleNamespace(num_queries=0)

    def changed(self, text):
        return sum(a != b for a, b in zip(text.words, self.original.words))

    def fits(self, text):
        return self.changed(text) <= self.allowed

    def transformations(self, text, original_text=None, indices_to_modify=None):
        indices = range(text.num_words) if indices_to_modify is None else indices_to_modify
        made = [text.replace_words_at_indices([index], [word]) for index in indices for word in self.neighbours[index]]
        return [changed for changed in made if self.fits(changed)]

    def results(self, texts):
        rows = np.repeat(self.padded[None], len(texts), 0)
        rows[:, self.padded != self.notebook.pad] = [text.words for text in texts]
        self.queries += len(rows)
        answers = []
        for text, scores in zip(texts, self.notebook.predict(rows)):
            fooled = scores.argmax() != self.label
            answers.append(Answer(text, float(1 - scores[self.label]),
                                  self.status.SUCCEEDED if fooled else self.status.SEARCHING))
        return answers, False

    def run(self):
        if self.allowed == 0:
            return False
        start = self.results([self.original])[0][0]
        found = self.search(start)
        if found.goal_status != self.status.SUCCEEDED:
            return False
        assert self.fits(found.attacked_text)
        return True


class TextAttackTest(cases.FrameworkTest):
    def test_success(self):
        """Both are random: they may part on few texts."""
        document, originals, ours = attack_cases.attacked(self.folder, "textcnn", test_genetic.REVIEWS, "genetic",
                                                          "--samples", "12")
        texts, kept = originals.astype(np.int64), ours.astype(np.int64)
        notebook = test_genetic.Notebook("textcnn", SEED)
        labels = notebook.predict(texts).argmax(1)
        here = notebook.predict(kept).argmax(1) != labels
        np.random.seed(SEED)  # TextAttack draws from NumPy's global generator
        search, status = _search_of_textattack()
        attacks = [Attacked(notebook, text, label, search, status) for text, label in zip(texts, labels)]
        there = np.array([attack.run() for attack in attacks])
        queries = sum(attack.queries for attack in attacks)
        print(f"textcnn genetic: of {len(texts)} texts {int(here.sum())} fooled here with "
              f"{document['results'][0]['queries']} queries, {int(there.sum())} by TextAttack's search with {queries}, "
              f"{int((here != there).sum())} differ (seed {SEED})", flush=True)
        self.assertLessEqual(int((here != there).sum()), 2)


if __name__ == "__main__":
    cases.main()
