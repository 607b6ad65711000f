#!/usr/bin/env python3
"""Learns `policies/injection.weights` from the sessions of `tests/session/data`: what makes a call look led by text that the agent read.

It needs `numpy` and `scikit-learn` (PyPI), and a program whose facts are learnt with: --ahp. `--check` judges each set by weights
that were learnt from all other sets, and writes nothing. What is computed here is computed in `src/provenance/score`, too; a test there
holds the scores of passages equal by `tests/session/data/passages.tsv`, which is written with the weights.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import re
import unicodedata

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from judge import feed

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
# What nothing is learnt from, so that it can tell how well the rest was learnt.
UNSEEN = {"as-researchers-publish", "companies-and-offices"}
OPEN = {"UserPromptSubmit", "beforeSubmitPrompt", "BeforeAgent"}
AFTER = {"PostToolUse", "postToolUse", "AfterTool"}
FROM = ["prompt", "project", "untrusted-record", "untrusted-text", "untrusted-instruction", "lookalike", "unknown"]
FACTS = [f"from:{value}" for value in FROM] + ["outward:true", "outward:false", "asked:true", "asked:false"]
CROSSED = {"outward:true", "asked:true", "asked:false", "from:prompt", "from:untrusted-record", "from:untrusted-text",
           "used:tool=0", "used:server=0", "used:verb=0"}
EDGES = [-400, -300, -200, -100, 0, 100]
AMOUNTS = [3, 8, 16, 30]
MOST_UNITS = 400
PAIRED = 2


# What stands in a text.

def plain(text):
    return re.sub("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]", "", unicodedata.normalize("NFKC", text))


def tokens(text):
    return [word.lower() for word in re.findall(r"[^\W_]+", text)]


def stem(word):
    return re.sub(r"\d", "0", word)[:7]


def units(words):
    return set(words) | {f"{a} {b}" for a, b in zip(words, words[1:])}


def passages(text):
    for line in text.split("\n"):
        for part in re.split(r"(?<=[.!?:;])\s+", line):
            words = tokens(part)
            if len(words) > 2:
                yield part, words


def leaves(value, key=""):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, key)
    elif isinstance(value, str):
        if value[:1] in ("{", "["):
            try:
                inner = json.loads(value)
            except ValueError:
                inner = None
            if isinstance(inner, (dict, list)):
                yield from leaves(inner, key)
                return
        yield key, value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield key, str(value)


def name_words(name):
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall("[a-z0-9]+", parted.lower())


def is_unparted(word):
    return re.search("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]", word) is not None


SIGNS = [("at", "@"), ("address", "://"), ("code", "`"), ("bracket", r"[<\[{(]"), ("comment", "--|#"), ("call", "!"), ("question", r"\?"),
         ("quote", "[\"»«“”]"), ("capitals", "[A-Z]{4}")]


def passage_features(text, words):
    found = set()
    for word in words:
        if is_unparted(word):
            found |= {word[at:at + 2] for at in range(len(word) - 1)}
        else:
            found.add(stem(word))
    found = {f"p {word}" for word in found}
    found.add(f"first {stem(words[0])}")
    found.add(f"length {min(7, len(words) // 4)}")
    found |= {f"sign {name}" for name, sign in SIGNS if re.search(sign, text)}
    return found


# What is known of a call.

def rarity(unit, rare):
    words = unit.split(" ")
    return sum(rare.get(word, 8) for word in words) // len(words)


def quarter(part, whole):
    return 4 * part // max(1, whole)


def steps(amount, edges):
    return sum(amount > edge for edge in edges)


class Session:
    """A session as its events are read one after the other."""

    def __init__(self):
        self.prompt, self.prompt_words = set(), set()
        self.passages, self.texts = [], []
        self.used = collections.Counter()

    def typed(self, text):
        words = tokens(plain(text))
        self.prompt |= units(words)
        self.prompt_words |= set(words)

    def given(self, result):
        for _, text in leaves(result):
            for part, words in passages(plain(text)):
                self.passages.append((passage_features(part, words), words, units(words)))
                self.texts.append(part)

    def call(self, name, given, facts):
        """Returns what is known of a call without what is looked up in passages, and the units of its input."""
        server, tool = ([name] + name.split("__")[1:])[1:3] if name.startswith("mcp__") and name.count("__") >= 2 else (name, name)
        named = name_words(tool)
        found, words, wanted = set(facts), [], set()
        found |= {f"{a} & {b}" for a in facts for b in facts if a < b}
        for key, text in leaves(given):
            if key.startswith("old"):
                continue
            found.add(f"key {key.lower()}")
            in_text = tokens(plain(text))
            words += in_text
            wanted |= units(in_text)
        wanted = sorted((wanted | set(named)) - self.prompt)[:MOST_UNITS]
        found |= {f"name {word}" for word in named}
        if not name.startswith("mcp__"):
            found.add(f"tool {name}")
        verb = named[0] if named else name
        given = given if isinstance(given, dict) else {}
        command = given.get("command")
        if isinstance(command, str) and command:
            verb = " ".join(command.split()[:2])
            for part in re.split(r"[|;&\n]+", command):
                found |= {f"shell {word[:12]}" for word in part.split()[:3] if "/" not in word}
        path = given.get("file_path")
        if isinstance(path, str):
            found.add(f"file {path.rsplit('/', 1)[-1].rsplit('.', 1)[-1][:8]}")
        for kind, what in (("tool", name), ("server", server), ("verb", verb)):
            found.add(f"used:{kind}={min(2, self.used[kind, what])}")
            self.used[kind, what] += 1
        if not self.used["any", ""]:
            found.add("used:nothing")
        self.used["any", ""] += 1
        words = set(words)
        typed = len(words & self.prompt_words)
        found.add(f"typed {quarter(typed, len(words))}")
        found.add(f"length {len(words).bit_length()}")
        found.add(f"named {quarter(len(set(named) & self.prompt_words), len(set(named)))}")
        return found, wanted, words

    def look_up(self, found, wanted, words, buckets, rare):
        """Adds what the passages that were read so far have in common with a call."""
        wanted = set(wanted)
        in_bucket = [set() for _ in range(len(EDGES) + 1)]
        read, highest = set(), -1
        for bucket, (_, in_passage, all_units) in zip(buckets, self.passages):
            in_bucket[bucket] |= (all_units if bucket >= PAIRED else set(in_passage)) & wanted
            read.update(in_passage)
            highest = max(highest, bucket)
        amounts = [sum(rarity(unit, rare) for unit in one) for one in in_bucket]
        whole = 1 + sum(rarity(unit, rare) for unit in wanted)
        found = set(found)
        for bucket, amount in enumerate(amounts):
            found.add(f"in {bucket} {steps(amount, [0, 3, 6, 12, 20, 40])}")
            found.add(f"share {bucket} {quarter(amount, whole)}")
        for least in AMOUNTS:
            top = max((bucket for bucket, amount in enumerate(amounts) if amount > least), default=-1)
            found.add(f"top {least} {top}")
            found |= {f"top {least} {top} & {fact}" for fact in CROSSED & found}
        found.add(f"highest {highest}")
        theirs = {word for word in words if word in read and word not in self.prompt_words}
        found.add(f"theirs {quarter(len(theirs), len(words))}")
        found.add(f"rare {steps(sum(rarity(word, rare) for word in theirs), [0, 5, 10, 20, 40])}")
        return found


# What the program tells of each call.

def policy():
    text = (ROOT / "policies/provenance.yaml").read_text()
    settings = text[text.index("settings:"):text.index("hooks:")]
    hooks = "".join(
        f"    - id: {name.replace(':', '.')}\n      oracle: Say\n      when: {{{when}}}\n"
        f"      config: {{intensity: aid, text: 'told {name}', type: x}}\n"
        for name, when in [(f"from:{v}", f"tool.arguments_from: {v}") for v in FROM]
        + [(f"{fact}:{v}", f"tool.{fact}: {v}") for fact in ("outward", "asked") for v in ("true", "false")]
    )
    return f"{settings}hooks:\n  pre-tool-use:\n{hooks}"


def facts_of(session, ahp):
    told, read = [], 0
    for _, _, home in feed(session, ahp, policy()):
        log = "".join(path.read_text() for path in (home / ".ahp").rglob("signals.jsonl"))
        told.append([fact for fact in FACTS if f'told {fact}"' in log[read:]])
        read = len(log)
    return told


def read_sets(ahp, kept):
    known = json.loads(kept.read_text()) if kept and kept.exists() else {}
    sets = {}
    files = (HERE / "data").glob("*.jsonl")
    for file in sorted(file for file in files if file.stem not in UNSEEN):
        sessions = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
        if file.stem not in known:
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                known[file.stem] = list(pool.map(lambda one: facts_of(one, ahp), sessions))
            if kept:
                kept.write_text(json.dumps(known))
        sets[file.stem] = [follow(one, facts) for one, facts in zip(sessions, known[file.stem])]
    return sets


def follow(session, facts):
    """Returns a session's kind, passages and calls: each call with how many passages were read before it."""
    state, calls = Session(), []
    for place, event in enumerate(session["events"]):
        kind = event.get("hook_event_name")
        if kind in OPEN:
            state.typed(event.get("prompt", ""))
        elif kind in AFTER:
            state.given(event.get("tool_response", event.get("tool_output")))
        else:
            given = event.get("tool_input", {})
            if isinstance(given, str):
                given = dict(leaves(given)) or {"": given}
            found, wanted, words = state.call(event.get("tool_name", ""), given, facts[place])
            is_led = session["kind"] == "injected" and session.get("the_call") == place
            calls.append((place, is_led, len(state.passages), set(state.prompt_words), found, wanted, words))
    return {"id": session["id"], "kind": session["kind"], "state": state, "calls": calls}


# What is learnt.

def learn_rarity(sets):
    count, number = collections.Counter(), 0
    for session in (one for sessions in sets.values() for one in sessions):
        for _, words, _ in session["state"].passages:
            count.update(set(words))
            number += 1
    rare = {word: min(8, round(math.log((number + 1) / (1 + seen)))) for word, seen in count.items()}
    return {word: value for word, value in rare.items() if value < 8}


def fit(features, answers, weight, least, strength, scale):
    """Learns integer weights: hundredths, with the bias under an empty name."""
    count = collections.Counter(name for one in features for name in one if not re.search(r"[\t\r\n]", name))
    vectors = DictVectorizer(dtype=np.float32)
    matrix = vectors.fit_transform([{name: 1 for name in one if count[name] >= least} for one in features])
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    if scale:
        lengths = np.sqrt(np.array([max(1, len(one)) for one in features], dtype=np.float32))
        matrix.data /= np.repeat(lengths, np.diff(matrix.indptr))
    model = LogisticRegression(C=strength, max_iter=300, class_weight={1: weight, 0: 1}, solver="liblinear")
    model.fit(matrix, answers)
    weights = {name: round(100 * value) for name, value in zip(vectors.feature_names_, model.coef_[0])}
    weights = {name: value for name, value in weights.items() if value}
    weights[""] = round(100 * float(model.intercept_[0]))
    return weights


def passage_score(features, weights):
    total = sum(weights.get(name, 0) for name in features)
    return weights[""] + int(total * 100 / math.isqrt(10_000 * len(features)))


def bucket(score):
    return sum(score >= edge for edge in EDGES)


def learn_passages(sessions, rare):
    features, answers = [], []
    for session in sessions:
        leading = set()
        led = next((call for call in session["calls"] if call[1]), None)
        if led:
            wanted = set(led[5])
            overlap = [(sum(rarity(unit, rare) for unit in one[2] & wanted), at) for at, one in enumerate(session["state"].passages[:led[2]])]
            best = max((amount for amount, _ in overlap), default=0)
            leading = {at for amount, at in overlap if best > 3 and 2 * amount >= best}
        for at, one in enumerate(session["state"].passages):
            if at in leading or session["kind"] == "ordinary":
                features.append(one[0])
                answers.append(int(at in leading))
    return fit(features, answers, 3, 5, 3.0, True)


def call_features(session, buckets, rare):
    for place, is_led, read, prompt_words, found, wanted, words in session["calls"]:
        state = session["state"]
        seen = Session()
        seen.passages, seen.prompt_words = state.passages[:read], prompt_words
        yield place, is_led, seen.look_up(found, wanted, words, buckets[:read], rare)


def learn(sets, rare, strength=0.1):
    """Learns both tables: a passage is scored for the second by weights that were learnt from other sets."""
    names = sorted(sets)
    features, answers = [], []
    for part in (names[at::4] for at in range(4)):
        others = [one for name in names if name not in part for one in sets[name]]
        weights = learn_passages(others, rare)
        for session in (one for name in part for one in sets[name]):
            buckets = [bucket(passage_score(one[0], weights)) for one in session["state"].passages]
            for _, is_led, found in call_features(session, buckets, rare):
                features.append(found)
                answers.append(int(is_led))
    calls = fit(features, answers, 3, 5, strength, False)
    return learn_passages([one for name in names for one in sets[name]], rare), calls


def scores(sessions, passage_weights, call_weights, rare):
    for session in sessions:
        buckets = [bucket(passage_score(one[0], passage_weights)) for one in session["state"].passages]
        found = call_features(session, buckets, rare)
        yield session, [(place, is_led, sum(call_weights.get(name, 0) for name in one) + call_weights[""]) for place, is_led, one in found]


def check(sets, rare, only):
    injected, ordinary = [], []
    for name in only or sorted(sets):
        tables = learn({other: sessions for other, sessions in sets.items() if other != name}, rare)
        theirs, ours = [], []
        for session, told in scores(sets[name], *tables, rare):
            if session["kind"] == "injected":
                theirs += [score for _, is_led, score in told if is_led]
            else:
                ours.append(max((score for _, _, score in told), default=-999))
        injected += theirs
        ordinary += ours
        print(f"{name}: {np.mean(np.array(theirs) > 0):.1%} of injected and {np.mean(np.array(ours) > 0):.1%} of ordinary sessions above 0; "
              f"{np.mean(np.array(theirs) > np.quantile(ours, 0.9)):.1%} where a tenth is touched", flush=True)
    print(f"all: {np.mean(np.array(injected) > 0):.1%} and {np.mean(np.array(ordinary) > 0):.1%}; "
          + ", ".join(f"{np.mean(np.array(injected) > np.quantile(ordinary, 1 - share)):.1%} at {share:.0%}" for share in (0.05, 0.1, 0.15)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--ahp", default="target/debug/ahp")
    parser.add_argument("--kept", type=pathlib.Path, help="where the facts of all sets are kept from one run to the next")
    parser.add_argument("--check", nargs="*", metavar="SET", help="judge these sets, or all, by what the others teach")
    given = parser.parse_args()
    sets = read_sets(os.path.abspath(given.ahp), given.kept)
    rare = learn_rarity(sets)
    if given.check is not None:
        check(sets, rare, given.check)
        return
    passage_weights, call_weights = learn(sets, rare)
    lines = [f"rare {word}\t{value}" for word, value in rare.items()]
    lines += [f"passage {name}\t{value}" for name, value in passage_weights.items()]
    lines += [f"call {name}\t{value}" for name, value in call_weights.items()]
    (ROOT / "policies/injection.weights").write_text("".join(f"{line}\n" for line in sorted(lines, key=str.encode)))
    texts = sorted({text for sessions in sets.values() for one in sessions for text in one["state"].texts if "\t" not in text})
    some = texts[:: max(1, len(texts) // 80)]
    told = [f"{passage_score(passage_features(text, tokens(text)), passage_weights)}\t{text}\n" for text in some]
    (HERE / "data/passages.tsv").write_text("".join(told))


if __name__ == "__main__":
    main()
