"""Any text: parts of what may be written, in any order, or an example with a few changes."""

import random
import re

PARTS = [
    *("d_rpd", "d_a", "d_mix", "d_emp", "d_rpb", "N2DCG_cat", "NDCG", "DCG", "Precision", "Coverage", "recgaze", "tv:"),
    *("mu=", "lambda=", "lam=", "gain=", "gain=linear", "alpha=4", "0.5*", "1*", "page_size", "shown", "grid", "none"),
    *("(", ")", "((", "))", "[", "]", "{", "}", "@", "@@", "x", "/", ":", ",", ",,", "+", " + ", "*", "**", "=", "=="),
    *("<", "<=", ">", ">=", " and ", " or ", ".", "..", "-", "--", "~", "'", '"', "'''", "#", "\\", ";", "lambda: 0"),
    *("0", "1", "5", "3x5", "0x10", "007", "1e999", "-1", "nan", "inf", "1_000", "1j", "0x", "9" * 40, "9" * 5_000),
    *(" ", "\t", "\n", "\r", "\x00", "\x1b[31m", "\ud800", "\u202e", "\u0663", "²", "é", "😀"),
    *("f'{1}'", "b'a'", "None"),
]
METRICS = [
    *("N2DCG_cat(d_rpd(mu=0.5))@3x5", "NDCG@10", "2DCG(d_mix(0.7*d_rpb + 0.3*d_rcb), gain=linear)", "N2DCG(d_a)@10x15"),
    *("Precision@2x3", "RR(d_t)", "DCG(gain=linear)", "N2DCG_cat(d_mix(0.5*d_a + 0.5*d_t))@3x5", "Coverage", "Hit"),
]
DISCOUNTS = [
    *("d_rpd(alpha=4, beta=9, mu=0.65, nu=0.95)", "d_mix(0.5*d_rpd(mu=0.5) + 0.5*d_mix(1*d_t))", "d_scan"),
    *("d_emp(lab)", "d_a(alpha=2, beta=1, gamma=9, lam=1)", "d_mul", "d_rcb", "d_rpb", "@fitted.json", "d_t(7, 6)"),
]
NUMBERS = ["0", "2", "0.25", "3.5", "1e-3", "-1", "1e999", "9" * 40, "9" * 5_000, "0x" + "f" * 5_000, "nan", "\u0663"]


def hostile_text(rng: random.Random, examples: list[str]) -> str:
    """Parts of what may be written, in any order; or an example, with a few changes."""
    if rng.random() < 0.3:
        return "".join(rng.choices(PARTS, k=rng.randint(0, 12))) * rng.choice([1, 1, 1, 2, 50])
    text = rng.choice(examples)
    for _ in range(rng.randint(1, 3)):
        begin, end = sorted(rng.choices(range(len(text) + 1), k=2))
        change = rng.choice([_insert, _repeat, _nest, _number, _number])
        text = (text[:begin] + change(rng, text[begin:end]) + text[end:])[:20_000]
    return text


def _insert(rng: random.Random, part: str) -> str:
    return rng.choice([rng.choice(PARTS) + part, rng.choice(PARTS)])


def _repeat(rng: random.Random, part: str) -> str:
    return part * rng.choice([2, 30, 1_000])


def _nest(rng: random.Random, part: str) -> str:
    depth = rng.choice([2, 30, 1_000])
    return rng.choice(["(", "[", "d_mix(1*", "d_rpd("]) * depth + part + ")" * depth


def _number(rng: random.Random, text: str) -> str:
    """The text with another number in place of one of its own."""
    found = list(re.finditer("[0-9.]+", text))
    if not found:
        return text
    number = rng.choice(found)
    return text[: number.start()] + rng.choice(NUMBERS) + text[number.end() :]
