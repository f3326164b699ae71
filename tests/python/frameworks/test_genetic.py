"""The genetic attack on texts beside another writing of the published notebook's algorithm (Alzantot et al. 2018, nesl), with
the same neighbours, from the model's own embedding, and no language model."""
import json

import attack_cases
import cases
import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

REVIEWS = f"imdb:{attack_cases.ASSETS}/data/generated-reviews"
POPULATION, GENERATIONS, NEIGHBOURS, FREQUENT, TEMPERATURE, CHANGED = 60, 30, 8, 27, 3.0, 0.25


class Notebook:
    def __init__(self, name, seed):
        path = attack_cases.ASSETS / f"models/{name}.onnx"
        self.session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        graph = onnx.load(path).graph
        tables = {value.name: value for value in graph.initializer}
        gather = next(node for node in graph.node if node.op_type == "Gather")
        self.table = numpy_helper.to_array(tables[gather.input[0]]).astype(np.float64)
        how = json.loads((attack_cases.ASSETS / f"models/{name}.preprocess.json").read_text())
        self.pad = how["pad"]
        self.first = how.get("first_index", 0)
        while self.first in (how["pad"], how["unknown"]):
            self.first += 1
        self.random = np.random.default_rng(seed)

    def predict(self, texts):
        return self.session.run(None, {self.session.get_inputs()[0].name: np.array(texts, np.int64)})[0]

    def neighbours(self, word):
        if word == self.pad or word < self.first + FREQUENT:
            return []
        distance = np.linalg.norm(self.table - self.table[word], axis=1)
        return [other for other in np.argsort(distance, kind="stable")
                if other >= self.first and other not in (word, self.pad)][:NEIGHBOURS]

    def perturb(self, text, original, lists, chances, target, allowed):
        """One word becomes the neighbour that makes the target likeliest, if that is likelier than it is."""
        changed = np.flatnonzero(text != original)
        if len(changed) >= allowed:
            places = [place for place in changed if chances[place] > 0]
        else:
            places = [place for place in np.flatnonzero(chances) if text[place] == original[place]]
        weights = chances[places]
        place = places[self.random.choice(len(places), p=weights / weights.sum())]
        candidates = [text]
        for word in lists[place]:
            candidates.append(text.copy())
            candidates[-1][place] = word
        return candidates[int(np.argmax(self.predict(candidates)[:, target]))]

    def attack(self, original, target):
        lists = [self.neighbours(word) for word in original]
        chances = np.array([float(min(len(words), 10)) for words in lists])
        allowed = int(CHANGED * np.count_nonzero(original != self.pad))
        if allowed == 0 or not chances.any():
            return False
        population = [self.perturb(original, original, lists, chances, target, allowed) for _ in range(POPULATION)]
        for _ in range(GENERATIONS):
            scores = self.predict(population)
            top = int(np.argmax(scores[:, target]))
            if scores[top].argmax() == target:
                return True
            select = np.exp(scores[:, target] / TEMPERATURE)
            parents = self.random.choice(POPULATION, (POPULATION - 1, 2), p=select / select.sum())
            children = []
            for a, b in parents:
                child = np.where(self.random.random(len(original)) < 0.5, population[a], population[b])
                spare = self.random.permutation(np.flatnonzero(child != original))[allowed:]
                child[spare] = original[spare]
                children.append(self.perturb(child, original, lists, chances, target, allowed))
            population = [population[top], *children]
        return False


class GeneticTest(cases.FrameworkTest):
    def test_success(self):
        """Both are random: they may part on few texts."""
        document, originals, ours = attack_cases.attacked(self.folder, "textcnn", REVIEWS, "genetic", "--samples", "12")
        texts, kept = originals.astype(np.int64), ours.astype(np.int64)
        notebook = Notebook("textcnn", 1)
        labels = notebook.predict(texts).argmax(1)
        here = notebook.predict(kept).argmax(1) != labels
        self.assertEqual(int(here.sum()), document["results"][0]["successes"])
        words = np.count_nonzero(texts != notebook.pad, axis=1)
        self.assertTrue((np.count_nonzero(kept != texts, axis=1) <= CHANGED * words).all())
        there = np.array([notebook.attack(text, 1 - label) for text, label in zip(texts, labels)])
        print(f"textcnn genetic: of {len(texts)} texts {int(here.sum())} fooled here, {int(there.sum())} by the notebook's "
              f"algorithm, {int((here != there).sum())} differ", flush=True)
        self.assertLessEqual(int((here != there).sum()), 2)


if __name__ == "__main__":
    cases.main()
