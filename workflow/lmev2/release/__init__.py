"""The released dataset: fetched from the hub or accepted where it lies, verified, and unpacked."""
