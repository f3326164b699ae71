"""Generated film reviews: in place of IMDb's, in the same folder layout.

No person wrote them and no film exists: they are put together from the phrases below by a seeded
generator. A review speaks of several aspects, some against its own verdict; it negates ("not
bad"), doubts ("I expected a dull film"), and may end without saying plainly what it thinks, so that
a good classifier makes a few mistakes and one with a wrong kernel makes many.
"""
import random
from pathlib import Path

LABELS = ["neg", "pos"]
PAD, UNKNOWN = "<pad>", "<unk>"

GOOD = ["wonderful", "excellent", "moving", "brilliant", "charming", "funny", "clever", "gripping",
        "beautiful", "superb", "touching", "fresh", "warm", "thrilling", "honest", "delightful"]
BAD = ["dull", "boring", "terrible", "awful", "weak", "predictable", "clumsy", "flat", "tedious",
       "silly", "lifeless", "confusing", "cheap", "shallow", "annoying", "dreadful"]
ASPECTS = ["the acting", "the plot", "the script", "the music", "the camera work", "the dialogue",
           "the ending", "the opening", "the pacing", "the cast", "the humour", "the direction",
           "the story", "the editing", "the lead", "the villain", "the second half", "the score"]
KINDS = ["film", "movie", "picture", "comedy", "drama", "thriller", "western", "sequel", "remake",
         "documentary", "musical", "mystery"]
STRENGTH = ["", "", "", "really ", "quite ", "very ", "rather ", "truly ", "simply ", "often "]
FIRST = ["Anna", "Marta", "Victor", "Paul", "Irene", "Tom", "Clara", "Henry", "Lena", "Oscar",
         "Ruth", "Samuel", "Nadia", "Felix", "Greta", "Hugo", "Ada", "Leo", "Mina", "Jonas"]
LAST = ["Albrecht", "Borodin", "Carver", "Dunmore", "Ellery", "Farrow", "Granger", "Holloway",
        "Ivers", "Jessop", "Kestrel", "Lorimer", "Marlowe", "Norwood", "Okafor", "Pellegrini",
        "Quimby", "Rothwell", "Sandoval", "Thackeray", "Underhill", "Valdez", "Winslow", "Yardley",
        "Zeller", "Ashdown", "Birkett", "Coldwell", "Drexler", "Everly"]
TITLES = ["The Last Ferry", "A House of Salt", "Night Orchard", "Seven Bridges", "The Glass Tide",
          "Winter Letters", "Paper Kings", "The Quiet Harbour", "Copper Moon", "Under the Lindens",
          "The Cartographer", "Red Lantern Road", "Small Mercies", "The Ninth Witness"]
OPENERS = ["I saw this {kind} with my {company}.", "{title} is a {kind} about a family and a lie.",
           "{name} plays the lead in {title}.", "I watched {title} on a rainy evening.",
           "A friend told me to see this {kind}.", "This {kind} runs for {minutes} minutes.",
           "{name} wrote and directed this {kind}.", "I had read the book before.",
           "My {company} chose this {kind}, not me.", "It is set in a small town in {year}."]
FILLERS = ["The whole thing takes place in one night.", "{name} has a small part as the neighbour.",
           "There is a long scene on a train.", "It was shot in {year}, and you can tell.",
           "The story follows two brothers and their father.", "Most of it happens in a kitchen.",
           "We paid {minutes} crowns for the tickets.", "The cinema was half empty."]
ENDS = {True: ["I would see it again.", "Go and see it.", "I loved every minute.", "Ten out of ten!",
               "I left the cinema smiling.", "It stayed with me for days.", "Highly recommended.",
               "Do not miss it.", "I could not stop watching."],
        False: ["I want my money back.", "Stay away from it.", "I nearly fell asleep.",
                "Two out of ten.", "I left before the end.", "What a waste of time.",
                "I cannot recommend it.", "Do not bother.", "I could not wait for it to end."]}


def _names(rng, text):
    return text.format(kind=rng.choice(KINDS), name=f"{rng.choice(FIRST)} {rng.choice(LAST)}",
                       title=rng.choice(TITLES), minutes=rng.randint(70, 190),
                       year=rng.randint(1930, 2020),
                       company=rng.choice(["sister", "wife", "brother", "parents", "neighbour",
                                           "husband", "children", "class"]))


def _claim(rng, good):
    """One aspect judged, plainly, by a negation, or against what was expected."""
    words, others = (GOOD, BAD) if good else (BAD, GOOD)
    aspect, strength = rng.choice(ASPECTS), rng.choice(STRENGTH)
    word, other = rng.choice(words), rng.choice(others)
    return rng.choice([
        f"{aspect} was {strength}{word}", f"{aspect} is {strength}{word}",
        f"I found {aspect} {strength}{word}", f"{aspect} was {word} and {rng.choice(words)}",
        f"{aspect} was not {other} at all", f"{aspect} is never {other}",
        f"I would not call {aspect} {other}", f"nobody could say {aspect} was {other}",
        f"I expected {aspect} to be {other}, but it was {word}",
        f"{aspect} was anything but {other}"])


def _sentence(text):
    return text[0].upper() + text[1:] + "."


def review(rng, good):
    """One review; GOOD is its verdict."""
    parts = [_names(rng, rng.choice(OPENERS))]
    for _ in range(rng.randint(2, 5)):
        if rng.random() < 0.35:
            parts.append(_names(rng, rng.choice(FILLERS)))
        claim = _claim(rng, good)
        if rng.random() < 0.35:  # the other side comes first
            claim = f"{_claim(rng, not good)}, but {claim}"
        parts.append(_sentence(claim))
    if rng.random() < 0.3:  # a concession, which the verdict outweighs
        parts.insert(rng.randint(1, len(parts)),
                     _sentence(f"{rng.choice(['true', 'granted', 'to be fair'])}, "
                               f"{_claim(rng, not good)}"))
    if rng.random() < 0.6:
        parts.append(rng.choice(ENDS[good]))
    return " ".join(parts)


def make(seed, count):
    """Returns (texts, labels), both verdicts in equal shares and mixed order."""
    rng = random.Random(seed)
    labels = [i % 2 for i in range(count)]
    rng.shuffle(labels)
    return [review(rng, bool(label)) for label in labels], labels


def vocabulary(texts, words_of, min_count=3):
    """Words that occur at least LEAST times, most frequent first, after padding and unknown."""
    counts = {}
    for text in texts:
        for word in words_of(text):
            counts[word] = counts.get(word, 0) + 1
    kept = sorted((word for word, count in counts.items() if count >= min_count),
                  key=lambda word: (-counts[word], word))
    return [PAD, UNKNOWN, *kept]


def write_folder(folder, texts, labels):
    """pos/ and neg/ with one text per file, named NUMBER_RATING.txt as IMDb does.

    Returns the labels in the order of a reader that takes the files by folder and name.
    """
    order = []
    for label, name in enumerate(LABELS):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for old in (folder / name).glob("*.txt"):
            old.unlink()
        for number, text in enumerate(t for t, l in zip(texts, labels) if l == label):
            (folder / name / f"{number:03}_{2 + 6 * label}.txt").write_text(text + "\n")
            order.append(label)
    return order


def read_folder(folder):
    """Returns (texts, labels) of an IMDb folder: by class, then by file name."""
    texts, labels = [], []
    for label, name in enumerate(LABELS):
        for path in sorted((Path(folder) / name).glob("*.txt")):
            texts.append(path.read_text(encoding="utf-8"))
            labels.append(label)
    if not texts:
        raise FileNotFoundError(f"{folder}: no pos/*.txt and neg/*.txt")
    return texts, labels
