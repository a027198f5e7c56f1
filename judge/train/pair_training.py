"""Train the judge of pairs: captions first, then statements; then calibrate the written file."""

import hashlib
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from judge.train.data import DATA
from judge.train.pair_calibration import calibrated
from judge.train.pair_data import Group, apart, learned_round, read_captions, statements
from judge.train.pair_model import MODEL
from judge.train.pair_network import RATE, PairNetwork, PairTrainer, write_tokenizer
from judge.train.pair_real import learned_real
from judge.train.pairs import OUTPUTS

CAPTION_ROUNDS = 2
CAPTION_RATE = 1.5e-4


def prepare(groups: Sequence[Group], seed: int, folder: Path, device: str) -> tuple[PairTrainer, PairNetwork]:
    """Write the tokenizer. Returns a trainer with this tokenizer, and a network trained on captions."""
    written = [json.loads(line)["text"] for line in (DATA / "statements.jsonl").read_text("utf-8").splitlines()]
    folder.mkdir(parents=True, exist_ok=True)
    kept = write_tokenizer([*written, *(text for group in groups for text in statements(group))], folder)
    trainer = PairTrainer(seed, folder, kept, device)
    captions = read_captions()
    network = trainer.new(len(captions[0].target) if captions else len(OUTPUTS))
    if captions:
        trainer.train(network, [captions] * CAPTION_ROUNDS, CAPTION_RATE, both_orders=False)
    network.renew(len(OUTPUTS))
    return trainer, network


def train(groups: Sequence[Group], seed: int, share: float, folder: Path, rounds: int) -> dict[str, Any]:
    """Train on a share of the groups, on an accelerator if available, and write the model. Returns its card."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    began = time.monotonic()
    learned, held_out = apart(groups)
    learned = random.Random(seed).sample(learned, int(len(learned) * share))
    trainer, network = prepare(learned, seed, folder, device)
    seeds = range(seed * 100, seed * 100 + rounds)
    shown = [learned_round(learned, one, learned_real(one)) for one in seeds]
    trainer.train(network, shown)
    trainer.export(network, folder / MODEL)
    digest = hashlib.sha256((folder / MODEL).read_bytes()).hexdigest()
    card = {
        "name": f"pairs {digest[:8]}",
        "sha256": digest,
        "seed": seed,
        "rounds": rounds,
        "caption rounds": CAPTION_ROUNDS,
        "device": device,
        "rate": RATE,
        "minutes": round((time.monotonic() - began) / 60),
        "groups": len(learned),
        "pairs of the first round": dict(sorted(Counter(one.part for one in shown[0]).items())),
        "held out": {"domains": sorted({group["domain"] for group in held_out}), "groups": len(held_out)},
    }
    return card | calibrated(folder)
