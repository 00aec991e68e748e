"""Tiny random decoders with tokenizers trained on the spot, and a server on this machine that speaks the protocol."""

import json
import threading
import time
from collections import Counter
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
)

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
    "{% if not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
)
TURNS = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "<start>{{ m.role }}\n{{ m.content }}<end>\n{% endfor %}<start>model\n"
)
SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
GROUPED = SIZES | {"num_key_value_heads": 2, "head_dim": 8, "initializer_range": 0.5}
FAMILIES = {
    "qwen3": (Qwen3ForCausalLM, Qwen3Config, GROUPED, CHATML),
    "llama": (LlamaForCausalLM, LlamaConfig, GROUPED, None),
    "gpt2": (
        GPT2LMHeadModel,
        GPT2Config,
        {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 1024},
        None,
    ),
    "gemma3": (Gemma3ForCausalLM, Gemma3TextConfig, GROUPED | {"sliding_window": 24}, TURNS),
}
"""Class, configuration, sizes and chat template; gemma3 has layers that see the last 24 tokens only."""


def train_tokenizer(texts, family: str) -> PreTrainedTokenizerFast:
    """Byte-level BPE, or for llama and gemma BPE over words that begin with a visible space."""
    special = ["<bos>", "<eos>", "<pad>", "<|im_start|>", "<|im_end|>", "<start>", "<end>"]
    backend = Tokenizer(models.BPE(byte_fallback=False, unk_token=None))
    if family in ("llama", "gemma3"):
        backend.normalizer = normalizers.Replace(" ", "\u2581")
        backend.pre_tokenizer = pre_tokenizers.Split("\u2581", "merged_with_next")
        backend.decoder = decoders.Replace("\u2581", " ")
        alphabet = [chr(code) for code in range(10, 127)] + ["\u2581"]
    else:
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(texts, trainer)
    tokens = {"bos_token": "<bos>", "eos_token": "<eos>", "pad_token": "<pad>"}
    return PreTrainedTokenizerFast(tokenizer_object=backend, **tokens)


def build_language_model(folder: Path, family: str, texts, seed: int = 0) -> Path:
    """Write a decoder of random weights and its tokenizer."""
    kind, config, sizes, template = FAMILIES[family]
    tokenizer = train_tokenizer(texts, family)
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        kind(config(vocab_size=len(tokenizer), **sizes)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def decoder_folder(tmp_path_factory, sample):
    """A function that returns the folder of a tiny decoder by its family."""
    home = tmp_path_factory.mktemp("decoders")

    def folder(family: str = "qwen3") -> Path:
        place = home / family
        return place if place.exists() else build_language_model(place, family, sample.texts[:100])

    return folder


@pytest.fixture(scope="session")
def tiny_decoder_folder(decoder_folder) -> Path:
    """Folder of the tiny Qwen3."""
    return decoder_folder("qwen3")


class ModelServerDouble(ThreadingHTTPServer):
    """Speaks the protocol on this machine, misbehaves as it is told, and counts what it was asked.

    A reply depends on the prompt alone, so that equal requests have equal replies.
    """

    daemon_threads = True

    def __init__(self, *, kind: str = "vllm", faults=(), delay: float = 0.0, port: int = 0):
        super().__init__(("127.0.0.1", port), _Handler)
        self.kind, self.delay = kind, delay
        self.faults = list(faults)
        self.answered: Counter[str] = Counter()
        self.bodies: list[dict] = []
        self.headers: list[dict] = []
        self.lock = threading.Lock()
        self.active = self.most_active = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1#tiny"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """Clients that hang up or are killed are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    server: ModelServerDouble
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.bodies.append(body)
            server.headers.append(dict(self.headers))
            server.active += 1
            server.most_active = max(server.active, server.most_active)
            fault = server.faults.pop(0) if server.faults else None
        try:
            time.sleep(server.delay)
            self._answer(body, fault)
        finally:
            with server.lock:
                server.active -= 1

    def _answer(self, body, fault):
        server = self.server
        if fault == "disconnect":
            self.connection.close()
        elif fault == "stall":
            time.sleep(2)
            self.connection.close()
        elif fault == "nonsense":
            self._send(200, b"<html>bad gateway</html>")
        elif fault == "half":
            self._send(200, b'{"choices": [{"message": {"content": "A"')
        elif fault == "busy":
            self._send(429, b'{"error": {"message": "slow down"}}', {"Retry-After": "0.3"})
        elif fault == "broken":
            self._send(503, b"overloaded")
        elif fault == "key":
            self._send(401, f"wrong key {self.headers['Authorization']}".encode())
        elif server.kind == "hosted" and body.keys() & {
            "structured_outputs",
            "grammar",
            "chat_template_kwargs",
        }:
            self._send(400, b'{"error": {"message": "Unrecognized request argument"}}')
        elif server.kind == "hosted" and body.get("top_logprobs", 0) > 5:
            self._send(400, b'{"error": {"message": "top_logprobs must be at most 5"}}')
        else:
            response = json.dumps(completion(body, server.kind)).encode()
            with server.lock:
                server.answered[json.dumps([body["messages"], body.get("seed")])] += 1
            self._send(200, response)

    def _send(self, status, blob, headers=None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(blob)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(blob)


def completion(body: dict, kind: str) -> dict:
    """A response as servers of this kind give it: the answer is drawn by a hash of the prompt."""
    import math

    prompt = body["messages"][-1]["content"]
    draw = sha256(prompt.encode()).digest()
    weights = [1 + draw[0], 1 + draw[1], 1 + draw[2] / 4]
    log_p = {letter: math.log(w / sum(weights) * 0.97) for letter, w in zip("ABC", weights, strict=True)}
    usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": 1}
    if kind == "refusing":
        message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
        return {"choices": [{"message": message, "finish_reason": "stop"}] * body.get("n", 1), "usage": usage}
    best = max(log_p, key=log_p.get)
    content = "".join(" ,;"[draw[3] % 3] for _ in range(3)) if kind == "babbling" else best
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop", "index": 0}
    if kind in (
        "ollama",
        "babbling",
    ):  # an old one: no log-probabilities, one sample however many are asked for
        sample = "ABC"[(draw[4] + body.get("seed", 0)) % 3] if kind == "ollama" else content
        return {
            "choices": [choice | {"message": {"content": f"<think>hm</think> {sample}."}}],
            "usage": usage,
        }
    if body.get("logprobs"):
        listed = [{"token": token, "logprob": value, "bytes": None} for token, value in log_p.items()]
        listed = sorted(listed, key=lambda one: -one["logprob"])[: body["top_logprobs"]]
        listed.append({"token": "The", "logprob": math.log(0.03)})
        choice["logprobs"] = {"content": [{"token": best, "logprob": log_p[best], "top_logprobs": listed}]}
    return {"choices": [choice] * body.get("n", 1), "usage": usage}
