"""The memory of keys and values: `slots` is the book-keeping in plain integers, `memory` the tensors behind it."""
