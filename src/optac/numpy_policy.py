"""A trained policy as plain arrays in one .npz file, and how to act with it: numpy is all it needs.

    policy = optac.numpy_policy.load("cheetah.npz")
    action = policy(observation)            # in the environment's units; a batch of rows works too

A policy is a = (low + high)/2 + (high − low)/2 · tanh(mean(s)), with mean(s) the first half of what a multi-layer
perceptron gives, on (s − μ) / σ where the file holds μ and σ. Where it holds embeddings, perceptrons too, the first
sees their outputs side by side instead, each divided by its mean absolute value. The other half is the spread of the
random policy around it, which `sample` plays; a file may leave it out. The file holds numbers and two words, never
Python objects, and is checked in full before it is used. An agent acts by this code, so its export acts as it does.
"""

import itertools
import math
import os
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optac.errors import InvalidInput

Array = NDArray[np.float32]
Layers = tuple[tuple[Array, Array], ...]

FORMAT = "optac-policy-1"
_LARGEST_ARRAY_BYTES = 2**30
_LARGEST_COUNT = 256
LOG_STD_LOWEST, LOG_STD_HIGHEST = -5.0, 2.0
OBSERVATION_BOUND = 10.0
"""how far from its mean a standardised observation may be; what is beyond is clipped"""
LEAST_SIZE = 1e-8
"""the least mean absolute value that an embedding is divided by"""

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "elu": lambda x: np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1),
    "relu": lambda x: np.maximum(x, 0),
}


@dataclass(frozen=True)
class Policy:
    """Observation ↦ action, from layers (weight with inputs as rows, bias), all float32."""

    layers: Layers
    activation: str
    action_low: NDArray[Any]
    action_high: NDArray[Any]
    observation_mean: Array | None = None
    observation_deviation: Array | None = None
    embeddings: tuple[Layers, ...] = ()

    def __post_init__(self) -> None:
        _check(self)

    @property
    def observation_size(self) -> int:
        """How many numbers an observation has."""
        return int((*self.embeddings, self.layers)[0][0][0].shape[0])

    def __call__(self, observation: ArrayLike) -> NDArray[Any]:
        """The action for one observation, or one action per row for a batch of them, in the environment's unit."""
        x = np.asarray(observation, np.float32)
        if x.ndim not in (1, 2) or x.shape[-1] != self.observation_size:
            raise InvalidInput(
                f"an observation of shape {x.shape} was given; this policy takes ({self.observation_size},) "
                f"or (batch, {self.observation_size})."
            )
        return self.to_env(self.mode(x))

    def mode(self, observation: Array) -> Array:
        """tanh(mean), the deterministic action in [−1, 1]."""
        return np.asarray(np.tanh(self._forward(observation)[..., : self.action_low.size]))

    def sample(self, observation: Array, *, generator: np.random.Generator) -> Array:
        """tanh(u) with u ~ N(mean, std²), a random action in [−1, 1]; log std is bounded smoothly in [−5, 2]."""
        both = self._forward(observation)
        act = self.action_low.size
        if both.shape[-1] != 2 * act:
            raise InvalidInput("this policy was written without its spread; call it for its one action")
        mean, raw = both[..., :act], both[..., act:]
        log_std = LOG_STD_LOWEST + 0.5 * (LOG_STD_HIGHEST - LOG_STD_LOWEST) * (np.tanh(raw) + 1)
        noise = generator.standard_normal(mean.shape, dtype=np.float32)
        return np.asarray(np.tanh(mean + np.exp(log_std) * noise))

    def to_env(self, action: NDArray[Any]) -> NDArray[Any]:
        """An action in [−1, 1] mapped affinely to the bounds, in their type and never outside by a rounding."""
        low, high = self.action_low, self.action_high
        middle, reach = low / 2 + high / 2, high / 2 - low / 2
        return np.asarray(np.clip(middle + reach * action, low, high), low.dtype)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the policy to `file`, an .npz that `load` reads."""
        save(file, **vars(self))

    def _forward(self, observation: Array) -> Array:
        x = np.asarray(observation, np.float32)
        if self.observation_mean is not None and self.observation_deviation is not None:
            x = (x - self.observation_mean) / self.observation_deviation
            x = np.clip(x, -OBSERVATION_BOUND, OBSERVATION_BOUND)
        if self.embeddings:
            outputs = [self._perceptron(layers, x) for layers in self.embeddings]
            sizes = [np.abs(z).mean(axis=-1, keepdims=True) for z in outputs]
            scaled = [z / np.maximum(size, LEAST_SIZE) for z, size in zip(outputs, sizes, strict=True)]
            x = np.concatenate(scaled, axis=-1)
        return self._perceptron(self.layers, x)

    def _perceptron(self, layers: Layers, x: Array) -> Array:
        for weight, bias in layers[:-1]:
            x = ACTIVATIONS[self.activation](x @ weight + bias)
        weight, bias = layers[-1]
        return np.asarray(x @ weight + bias, np.float32)


def save(
    file: str | os.PathLike[str],
    *,
    layers: Sequence[tuple[ArrayLike, ArrayLike]],
    activation: str,
    action_low: ArrayLike,
    action_high: ArrayLike,
    observation_mean: ArrayLike | None = None,
    observation_deviation: ArrayLike | None = None,
    embeddings: Sequence[Sequence[tuple[ArrayLike, ArrayLike]]] = (),
) -> None:
    """Write a policy: the layers from observation to the mean (and the spread) before tanh, and the actions' bounds.

    The file appears whole or not at all; one that can't be written is refused before anything else.
    """
    check_file(Path(file))
    arrays: dict[str, Any] = {"action_low": action_low, "action_high": action_high}
    for prefix, some in [("", layers), *[(f"{k}_", inner) for k, inner in enumerate(embeddings)]]:
        for i, (weight, bias) in enumerate(some):
            arrays |= {f"weight_{prefix}{i}": weight, f"bias_{prefix}{i}": bias}
    normaliser = {"observation_mean": observation_mean, "observation_deviation": observation_deviation}
    arrays |= {name: value for name, value in normaliser.items() if value is not None}
    numbers = {name: np.asarray(value, _kept_type(name, value)) for name, value in arrays.items()}
    words = {"format": np.array(FORMAT), "activation": np.array(activation)}
    _policy(numbers | words)
    _write(Path(file), numbers | words)


def load(file: str | os.PathLike[str]) -> Policy:
    """The policy in a file written by `save` or by `optac export`; `InvalidInput` where it is not one."""
    try:
        if os.path.exists(file) and not os.path.isfile(file):  # a pipe would be waited for
            raise ValueError("it is no plain file")
        with zipfile.ZipFile(file) as archive:
            arrays = {member.filename: _read(archive, member) for member in _members(archive)}
    except FileNotFoundError:
        raise InvalidInput(
            f"there is no file {os.fspath(file)!r}; `optac export DIR FILE.npz` writes one."
        ) from None
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError, RuntimeError) as error:
        raise InvalidInput(
            f"{os.fspath(file)!r} is not a policy: {error}. `optac export DIR FILE.npz` writes one."
        ) from error
    return _policy({name.removesuffix(".npy"): array for name, array in arrays.items()})


def check_file(file: Path) -> None:
    """Refuse a name that no policy can be written to."""
    if file.suffix != ".npz":
        raise InvalidInput(f"a policy is exported to a file that ends in .npz, not {str(file)!r}.")
    if not file.parent.is_dir():
        raise InvalidInput(f"the folder {str(file.parent)!r} for the policy does not exist; make it first.")


def _write(file: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    aside = file.with_name(f".{file.name}.{os.getpid()}.part")
    aside.unlink(missing_ok=True)
    try:
        with aside.open("xb") as stream:  # which follows no link
            np.savez(stream, allow_pickle=False, **arrays)
            stream.flush()
            os.fsync(stream.fileno())
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    members = archive.infolist()
    names = [member.filename for member in members]
    if len(members) > _LARGEST_COUNT or len(set(names)) != len(names):
        raise ValueError(f"it holds {len(members)} arrays under {len(set(names))} names")
    return members


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """One array; its size is known from its header before anything of that size is asked for."""
    if member.compress_type != zipfile.ZIP_STORED or member.file_size > _LARGEST_ARRAY_BYTES:
        raise ValueError(f"{member.filename} is compressed, or too large: {member.file_size} bytes")
    with archive.open(member) as stream:
        major, _ = np.lib.format.read_magic(stream)
        if major != 1:
            raise ValueError(f"{member.filename} has array format {major}; allowed is 1")
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(stream)
        size = dtype.itemsize * math.prod(shape)
        if dtype.kind not in "fU" or fortran_order or min(shape, default=0) < 0 or size > member.file_size:
            raise ValueError(
                f"{member.filename} is an array of {dtype} of shape {shape} in {member.file_size} bytes"
            )
        content = stream.read()
    return np.frombuffer(content, dtype, count=math.prod(shape)).reshape(shape)


def _policy(arrays: Mapping[str, NDArray[Any]]) -> Policy:
    perceptrons = [[(f"weight_{place}", f"bias_{place}") for place in places] for places in _places(arrays)]
    required = {"format", "activation", "action_low", "action_high"}.union(*itertools.chain(*perceptrons))
    optional = {"observation_mean", "observation_deviation"}
    if not perceptrons[0] or not required <= arrays.keys() <= required | optional:
        raise InvalidInput(
            "a policy holds format, activation, action_low, action_high, weight_0, bias_0, …; "
            f"this holds {', '.join(sorted(arrays)[:12]) or 'nothing'}."
        )
    if str(arrays["format"]) != FORMAT:
        raise InvalidInput(
            f"the policy's format is {str(arrays['format'])[:40]!r}; this optac reads {FORMAT!r}."
        )
    numbers = {name: _number(name, arrays[name]) for name in arrays if name not in ("format", "activation")}
    layers, *embeddings = (tuple((numbers[w], numbers[b]) for w, b in names) for names in perceptrons)
    return Policy(
        layers=layers,
        activation=str(arrays["activation"]),
        action_low=numbers["action_low"],
        action_high=numbers["action_high"],
        observation_mean=numbers.get("observation_mean"),
        observation_deviation=numbers.get("observation_deviation"),
        embeddings=tuple(embeddings),
    )


def _places(arrays: Iterable[str]) -> list[list[str]]:
    """The ends of the names of a policy's layers, "0", "1", …, then of each embedding's: "0_0", "0_1", …, "1_0", …."""
    parts = [name.split("_")[1:] for name in arrays if name.startswith("weight_")]
    depths = Counter(part[0] if len(part) == 2 else "" for part in parts)
    own = [f"{i}" for i in range(depths.pop("", 0))]
    return [own, *[[f"{k}_{i}" for i in range(depths[f"{k}"])] for k in range(len(depths))]]


def _kept_type(name: str, value: ArrayLike) -> type[np.floating[Any]]:
    """float32, but for the bounds of an environment whose actions are float64."""
    double = name.startswith("action_") and getattr(value, "dtype", None) == np.float64
    return np.float64 if double else np.float32


def _number(name: str, array: NDArray[Any]) -> Array:
    rank = 2 if name.startswith("weight_") else 1
    wanted = array.dtype == _kept_type(name, array) and array.ndim == rank
    sized = 0 < array.nbytes <= _LARGEST_ARRAY_BYTES - 1024  # a file's header beside it
    if not wanted or not sized or not np.all(np.isfinite(array)):
        raise InvalidInput(
            f"{name} is a {array.dtype} array of shape {array.shape}; it must be float32 with {rank} axes, "
            "not empty, below 1 GiB, every number finite."
        )
    return array


def _check(policy: Policy) -> None:
    if policy.activation not in ACTIVATIONS:
        raise InvalidInput(
            f"the activation is {policy.activation[:40]!r}; allowed are {', '.join(ACTIVATIONS)}."
        )
    size = policy.observation_size
    embedded = [_check_layers(layers, size, f"{k}_") for k, layers in enumerate(policy.embeddings)]
    outputs = _check_layers(policy.layers, sum(embedded) if embedded else size)
    act = policy.action_low.size
    if policy.action_low.shape != policy.action_high.shape or outputs not in (act, 2 * act):
        raise InvalidInput(
            f"the last layer gives {outputs} numbers; the action bounds must have as many, or half where the spread "
            "is among them."
        )
    if np.any(policy.action_low >= policy.action_high):
        raise InvalidInput("action_low must be below action_high in every entry.")
    mean, deviation = policy.observation_mean, policy.observation_deviation
    if (mean is None) != (deviation is None):
        raise InvalidInput("observation_mean and observation_deviation go together; give both or none.")
    if mean is None or deviation is None:
        return
    if mean.shape != (size,) or deviation.shape != (size,):
        raise InvalidInput(f"observation_mean and observation_deviation must have {size} entries each.")
    if np.any(deviation <= 0):
        raise InvalidInput("observation_deviation must be positive in every entry.")


def _check_layers(layers: Layers, size: int, prefix: str = "") -> int:
    """How many numbers these layers give for `size` of them; InvalidInput where one does not follow the one before."""
    for index, (weight, bias) in enumerate(layers):
        if weight.shape != (size, bias.size):
            raise InvalidInput(
                f"weight_{prefix}{index} has shape {weight.shape}; it must be ({size}, {bias.size})."
            )
        size = bias.size
    return size
