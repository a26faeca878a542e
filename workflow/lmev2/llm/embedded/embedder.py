"""Embeddings without network or key: static word vectors from the package `wordllama`.

A text's vector is the mean of its tokens' vectors, so there is no length limit, word order does not
count, and the cost is that of tokenizing.
"""

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np

# Texts tokenized at a time; results do not depend on it.
_BATCH = 256


class StaticEmbedder:
    """Static word vectors whose weights ship inside the PyPI package `wordllama` (MIT licence).

    The weights are read at the first use. Safe to share between threads and to fork.
    """

    dimension = 256

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Embed each text on its own: its vector never depends on the other texts of the call.

        Memory: 1 KB per token of the longest text.

        Returns:
            float32 [len(texts), 256], L2-normalised. A text without any token (the empty one) has no
            direction and gets the zero vector, which the caller must not store.
        """
        tokenizer, embedding = self._model
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = tokenizer.encode_batch_fast(list(texts[start : start + _BATCH]), add_special_tokens=False)
            for row, tokens in enumerate(batch, start):
                if tokens.ids:
                    # Exact: the weights are 16-bit floats, whose sums fit into 64 bits without rounding.
                    total = embedding[tokens.ids].sum(axis=0, dtype=np.float64)
                    vectors[row] = total / np.linalg.norm(total)
        return vectors

    @cached_property
    def _model(self):
        # The package's files are read without importing it: the import takes longer than the reading,
        # sets up the root logger, and its loader asks the network. Its own `embed` also pads a batch to
        # the longest text, so that a vector's last bits depend on the other texts.
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        folder = Path(find_spec("wordllama").submodule_search_locations[0])
        tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        weights = load_file(folder / "weights" / f"l2_supercat_{self.dimension}.safetensors")
        return tokenizer, weights["embedding.weight"].astype(np.float32)
