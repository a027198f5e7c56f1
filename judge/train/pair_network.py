"""The network of pairs: MiniLM that reads two statements at once, and its training for their relation.

It keeps the word pieces that are frequent or that occur in the data of this project; a rarer word is split into
several. Their embeddings stay frozen, so that words outside the training pairs keep their positions relative to the
others.
"""

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import AutoModel

from judge.train.network import WEIGHTS, batches, learn, write_int8
from judge.train.pair_model import VOCABULARY, PairTokenizer
from judge.train.pairs import Pair
from slowwave_judge.runtime import MAX_TOKENS

RATE = 1e-4
FREQUENT = 8000
"""The number of first word pieces of MiniLM's vocabulary to keep anyway: characters and frequent words."""
ENOUGH = 5
"""The number of occurrences from which another word piece is kept."""
WIDTH = 384
SIZE = 64
"""The number of pairs in a batch."""
EXACT = r"layer\.\d+/output/dense/MatMul$|/head/"
"""Matrix products that lose most by int8: the product after the activation of each layer, and the head."""
SMOOTH = 0.02
"""Label smoothing: the share of each target that is spread over all relations."""


def write_tokenizer(texts: Sequence[str], folder: Path) -> list[int]:
    """Write a tokenizer with fewer word pieces. Returns the old ids of the kept pieces, in their new order."""
    whole = Tokenizer.from_file(f"{WEIGHTS}/tokenizer.json")
    whole.no_padding()
    whole.no_truncation()
    seen = Counter(piece for text in texts for piece in whole.encode(text).ids)
    told = json.loads(whole.to_str())
    vocabulary: dict[str, int] = told["model"]["vocab"]
    pieces = sorted(vocabulary.items(), key=lambda item: item[1])
    kept = [
        (piece, number)
        for piece, number in pieces
        if number < FREQUENT or seen[number] >= ENOUGH or len(piece.removeprefix("##")) == 1
    ]
    kept = [item for item in kept if not item[0].startswith("[unused")]
    told["model"]["vocab"] = {piece: place for place, (piece, _) in enumerate(kept)}
    for special in told["added_tokens"]:
        special["id"] = told["model"]["vocab"][special["content"]]
    for name, special in told["post_processor"].get("special_tokens", {}).items():
        special["ids"] = [told["model"]["vocab"][name]]
    (folder / VOCABULARY).write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    return [number for _, number in kept]


class PairNetwork(nn.Module):
    """The encoder over both statements; the head reads its first token and the difference of the two means."""

    def __init__(self, kept: Sequence[int], outputs: int) -> None:
        super().__init__()
        self.encoder: Any = AutoModel.from_pretrained(WEIGHTS, add_pooling_layer=False)
        table = self.encoder.embeddings.word_embeddings.weight.detach()[list(kept)].clone()
        self.encoder.embeddings.word_embeddings = _frozen(table)
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(3 * WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, outputs))

    def drop_places(self) -> None:
        """Keep only as many position embeddings as a pair may have tokens."""
        embeddings = self.encoder.embeddings
        embeddings.position_embeddings = _frozen(embeddings.position_embeddings.weight.detach()[:MAX_TOKENS].clone())
        embeddings.position_ids = embeddings.position_ids[:, :MAX_TOKENS]
        self.encoder.config.max_position_embeddings = MAX_TOKENS

    def renew(self, outputs: int) -> None:
        """Reset the head, with a new number of outputs."""
        self.head[-1] = nn.Linear(WIDTH, outputs).to(self.head[1].weight.device)

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        """Return the logits of each row."""
        told = self.encoder(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        hidden = told.last_hidden_state.float()
        second = token_type_ids.float()
        first = attention_mask.float() - second
        a, b = (
            (hidden * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True).clamp(min=1) for mask in (first, second)
        )
        return self.head(torch.cat([hidden[:, 0], (a - b).abs(), a * b], 1))


def _frozen(table: Any) -> Any:
    embedding = nn.Embedding(*table.shape)
    embedding.weight = nn.Parameter(table, requires_grad=False)
    return embedding


class PairTrainer:
    """Trains networks of pairs, on "cpu" or "cuda". The same seed gives the same batches."""

    def __init__(self, seed: int, folder: Path, kept: Sequence[int], device: str = "cpu") -> None:
        self._seed = seed
        self._device = device
        self._tokenizer = PairTokenizer(folder)
        self._kept = kept

    def new(self, outputs: int) -> PairNetwork:
        """Return a network with only the weights of MiniLM."""
        torch.manual_seed(self._seed)
        return PairNetwork(self._kept, outputs).to(self._device)

    def train(
        self, network: PairNetwork, rounds: Sequence[Sequence[Pair]], rate: float = RATE, *, both_orders: bool = True
    ) -> None:
        """Train a network on the relations of pairs. Each round shows each pair once, in a random order."""
        random_ = random.Random(self._seed)
        plan = [
            [one.swapped() if both_orders and random_.random() < 0.5 else one for one in batch]
            for pairs in rounds
            for batch in batches(pairs, random_, lambda one: one.length, SIZE)
        ]

        def loss(batch: Sequence[Pair]) -> Any:
            target = torch.tensor([one.target for one in batch], device=self._device)
            target = target * (1 - SMOOTH) + SMOOTH / target.shape[1]
            weight = torch.tensor([one.weight for one in batch], device=self._device)
            logits = network(**self.encode(batch)).float()
            missed: Any = nn.functional.cross_entropy(logits, target, reduction="none")
            return (missed * weight).mean()

        learn(network, plan, loss, rate)
        network.eval()

    def encode(self, batch: Sequence[Pair]) -> dict[str, Any]:
        """Return the batch in the network's input form."""
        return {name: torch.from_numpy(rows).to(self._device) for name, rows in self._tokenizer(batch).items()}

    def export(self, network: PairNetwork, target: Path) -> None:
        """Write the network with int8 weights."""
        self._device = "cpu"
        network.to("cpu").drop_places()
        example = self.encode([Pair("Maya lives in Porto.", "Maya lives in the city of Oslo.", ()), _SHORT])
        write_int8(network, example, "relations", target, EXACT)


_SHORT = Pair("Maya left.", "She left.", ())
