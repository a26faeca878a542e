"""Token counts without a model's tokenizer."""

# Accessibility trees are dense in punctuation and digits; three characters a token is near what the
# Qwen and GPT tokenizers need for them, and never far below.
CHARS_PER_TOKEN = 3


def approximate_tokens(n_chars: int) -> int:
    """Approximate tokens of `n_chars` characters of text: ceil(n_chars / CHARS_PER_TOKEN)."""
    return -(-n_chars // CHARS_PER_TOKEN)
