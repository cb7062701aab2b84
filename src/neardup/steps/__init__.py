"""The seven steps, in the order the data flows. Arrays in, arrays out; none imports another.

1. `clean` (with `markup`): UTF-8 texts -> clean code points
2. `words`, `shingle`: code points -> units -> shingle hashes
3. `sketch`: shingle hashes -> signatures
4. `candidates`: signatures -> band keys -> buckets -> candidate pairs
5. `verify`: candidate pairs -> pairs with their similarity
6. `cluster`: pairs -> which document is kept in whose stead
7. `keep`: the policy -> the order in which documents are preferred
"""
